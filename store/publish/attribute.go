package publish

import (
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/release/segment"
)

// readAttributes reads the declarations of attributes.
func (p *publicationPlan) readAttributes(ctx context.Context) (err error) {
	p.attributes, err = db.Collect(ctx, p.in, func(rows *sql.Rows) (a *catalog.AttributeSource, err error) {
		a = &catalog.AttributeSource{}
		return a, rows.Scan(db.JSON{Into: a})
	}, `SELECT body FROM attribute ORDER BY sequence, id`)
	return err
}

// builtAttributes are a product's values of its own attributes.
type builtAttributes struct {
	stored     []byte                 // for BlockProduct.Attributes
	filterable []string               // by segment.NamedValue
	orders     map[store.SortBy]int64 // of numbers and dates to filter or sort by
	searchable string                 // texts to search in
}

// attributesOf reads a product's values. It leaves out those that have no declaration or do not fit it.
func (p *publicationPlan) attributesOf(source *catalog.ProductSource) (b builtAttributes) {
	values := source.Attributes.CustomAttributes
	kept := map[string]json.RawMessage{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		declared := p.attributes.Get(key)
		if declared == nil {
			continue
		}
		value, ok := declared.Value(values[key])
		if !ok {
			continue
		}
		kept[key] = values[key]
		is := declared.Attributes
		for _, text := range value.Texts {
			if is.Filterable {
				b.filterable = append(b.filterable, segment.NamedValue(key, text))
			}
			if is.Searchable {
				b.searchable += "\n" + text
			}
		}
		if is.AttributeType.Ordered() && (is.Filterable || is.Sortable) {
			if b.orders == nil {
				b.orders = map[store.SortBy]int64{}
			}
			b.orders[segment.SortOfAttribute(key)] = value.Order
		}
	}
	if len(kept) > 0 {
		b.stored = store.Encode(kept)
	}
	return b
}

// optionsOf returns the options that a product is found by: its own as a child, and those of its live
// children. Names are in the base language.
func (p *publicationPlan) optionsOf(variants *catalog.Variants, children []uint32, sources map[uint32]*catalog.ProductSource) (values []string) {
	add := func(chosen []catalog.Variation) {
		for _, variation := range chosen {
			values = append(values, segment.NamedValue(variation.Name, variation.Option.Name))
		}
	}
	add(variants.Chosen)
	for _, child := range children {
		add(catalog.ChooseOptions(variants.Variations, sources[child].Attributes.Options))
	}
	return store.Unique(values)
}

// writeAttributes writes the declarations of attributes. A delta has those of its base.
func (w *releaseWriter) writeAttributes(ctx context.Context) error {
	if w.plan.delta != nil {
		return nil
	}
	attributes := w.plan.attributes
	if attributes == nil {
		attributes = segment.Attributes{}
	}
	return w.writeChunks(ctx, [][]any{{w.release.ID, segment.ListAttributes, "", 0, store.Encode(attributes)}})
}

// changedAttributes adds the declarations of attributes if one differs.
func (w *releaseWriter) changedAttributes(ctx context.Context) error {
	before, err := w.servedView().Attributes(ctx)
	if err != nil {
		return err
	}
	same := func(a, b *catalog.AttributeSource) bool { return string(store.Encode(a)) == string(store.Encode(b)) }
	if !slices.EqualFunc(before, w.plan.attributes, same) {
		w.changes.Add(segment.AnyAttribute)
	}
	return nil
}

// sparseKeys collects sort keys that not every product has. Products come in order.
type sparseKeys struct {
	absent   int64                        // the key of the others
	parts    map[store.SortBy]*sparsePart // the current one
	complete []sparsePart
}

// sparsePart is a chunk of sort keys.
type sparsePart struct {
	sort   store.SortBy
	number int
	keys   []int64
}

// add adds the key of a product; end is the ordinal after the last.
func (x *sparseKeys) add(sort store.SortBy, ordinal int, key int64, end int) {
	if x.parts == nil {
		x.parts = map[store.SortBy]*sparsePart{}
	}
	part := x.parts[sort]
	if part == nil || part.number != ordinal/segment.ChunkSize {
		x.finish(sort)
		part = &sparsePart{sort, ordinal / segment.ChunkSize, slices.Repeat([]int64{x.absent}, min(segment.ChunkSize, end-ordinal/segment.ChunkSize*segment.ChunkSize))}
		x.parts[sort] = part
	}
	part.keys[ordinal%segment.ChunkSize] = key
}

func (x *sparseKeys) finish(sort store.SortBy) {
	if part := x.parts[sort]; part != nil {
		x.complete = append(x.complete, *part)
		delete(x.parts, sort)
	}
}
