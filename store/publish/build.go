package publish

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/index"
	"portico/store/release/price"
	"portico/store/release/segment"
)

// links returns the live products that a product refers to, except its children.
func (p *publicationPlan) links(handle uint32) catalog.Links {
	l := catalog.Links{Components: map[string]bool{}}
	if parent := p.parents[handle]; parent >= 0 {
		l.Parent = p.ids.At(uint32(parent))
	}
	for _, component := range p.components.Of(handle) {
		l.Components[p.ids.At(component)] = true
	}
	return l
}

// componentOrdinals returns the ordinals of components; nil if one is not known.
func (p *publicationPlan) componentOrdinals(ids []string) []uint32 {
	ordinals := make([]uint32, len(ids))
	for i, id := range ids {
		handle, found := p.ids.Find(id)
		if !found || p.ordinals[handle] < 0 {
			return nil
		}
		ordinals[i] = uint32(p.ordinals[handle])
	}
	return ordinals
}

// builtProduct is a product ready to be written.
type builtProduct struct {
	ordinal  int
	source   *catalog.ProductSource
	stored   *segment.BlockProduct
	version  int64                   // by BlockProduct.Version
	offers   map[string]*price.Offer // by currency
	words    []index.ProductTokens
	nameKey  []byte   // collates the base name
	fileIDs  []string // of its files that exist
	missing  []string // and of those that do not
	node     int32    // by blockNode
	required []uint32 // as publicationPlan.required

	options    []string // by segment.NamedValue
	attributes builtAttributes
}

// build builds the products with the handles order, in that order, on all processors. It reads authored data only.
func (p *publicationPlan) build(ctx context.Context, made *segment.Release, order []uint32) ([]*builtProduct, error) {
	sources, err := p.sources(ctx, p.withRelatives(order))
	if err != nil {
		return nil, err
	}
	prices, err := p.prices(ctx, sources)
	if err != nil {
		return nil, err
	}
	texts, err := p.readFileTexts(ctx, order, sources)
	if err != nil {
		return nil, err
	}
	files := &p.files
	if p.delta != nil { // no others are referred to
		files = &index.StringList{}
		for _, id := range slices.Sorted(maps.Keys(texts)) {
			files.Add(id)
		}
	}
	built := make([]*builtProduct, len(order))
	err = parallel(len(built), func(i int) error {
		db.Throttle(ctx)
		handle := order[i]
		source := sources[handle]
		if source == nil {
			return fmt.Errorf("the product %s is gone from its snapshot", p.ids.At(handle))
		}
		l := p.links(handle)
		children := p.childrenInOrder(handle, sources)
		for _, child := range children {
			l.Children = append(l.Children, p.ids.At(child))
		}
		l.Files, l.Variants = files, p.variants(handle, children, sources)
		nodes, fileIDs := p.nodes(handle), source.FileIDs()
		offers := p.offers(handle, sources, prices)
		b := &builtProduct{ordinal: int(p.ordinals[handle]), source: source, required: p.required(source), offers: offers, node: p.blockNode(nodes), stored: &segment.BlockProduct{
			ID: source.ID, Components: p.componentOrdinals(source.LiveComponentIDs(l)), Crumbs: segment.Breadcrumbs(nodes), Files: packFiles(fileIDs, texts),
			Documents: map[string][]byte{"": source.Document("", made.Locale, l)}}}
		for _, id := range fileIDs {
			if l.HasFile(id) {
				b.fileIDs = append(b.fileIDs, id)
			} else {
				b.missing = append(b.missing, id)
			}
		}
		b.options, b.attributes = p.optionsOf(&l.Variants, children, sources), p.attributesOf(source)
		b.stored.Attributes = b.attributes.stored
		b.words, b.nameKey = source.Words(made.Locale, b.attributes.searchable), p.collation.Key(source.Attributes.Name)
		for _, language := range source.DocumentLanguages() {
			b.stored.Documents[language] = source.Document(language, made.Locale, l)
		}
		for language := range b.stored.Documents {
			if extras := source.Extras(language); extras != nil {
				if b.stored.Extras == nil {
					b.stored.Extras = map[string][]byte{}
				}
				b.stored.Extras[language] = extras
			}
		}
		b.stored.SetOffers(offers)
		b.version = b.stored.Version()
		built[i] = b
		return nil
	})
	return built, err
}

// withRelatives adds the parents and children, whose variations, options and
// prices are part of a product's document.
func (p *publicationPlan) withRelatives(handles []uint32) []uint32 {
	all := slices.Clone(handles)
	for _, handle := range handles {
		if parent := p.parents[handle]; parent >= 0 {
			all = append(all, uint32(parent))
		}
		all = append(all, p.children.Of(handle)...)
	}
	return store.Unique(all)
}

// sources reads the authored products, by handle.
func (p *publicationPlan) sources(ctx context.Context, handles []uint32) (map[uint32]*catalog.ProductSource, error) {
	byHandle := make(map[uint32]*catalog.ProductSource, len(handles))
	err := store.Chunked(handles, 2*publishBatch, func(handles []uint32) error {
		ids := make([]string, len(handles))
		for i, handle := range handles {
			ids[i] = p.ids.At(handle)
		}
		list, args := db.InList(nil, ids)
		bodies, err := db.Collect(ctx, p.in, db.Scalar[[]byte], `SELECT body FROM product WHERE id IN (`+list+`)`, args...)
		if err != nil {
			return err
		}
		parsed := make([]*catalog.ProductSource, len(bodies))
		if err := parallel(len(bodies), func(i int) error {
			parsed[i] = &catalog.ProductSource{}
			return store.Decode(bodies[i], parsed[i])
		}); err != nil {
			return err
		}
		for _, source := range parsed {
			if handle, live := p.ids.Find(source.ID); live {
				byHandle[handle] = source
			}
		}
		return nil
	})
	return byHandle, err
}

// childrenInOrder returns a product's live children by the position of their
// option in the first variation, then in the second, and so on, then by id. Those
// without an option come last.
func (p *publicationPlan) childrenInOrder(handle uint32, sources map[uint32]*catalog.ProductSource) []uint32 {
	variations := catalog.NewVariations(sources[handle].Attributes.Variations)
	children := slices.Clone(p.children.Of(handle)) // by id
	places := make(map[uint32][]int, len(children))
	for _, child := range children {
		places[child] = catalog.OptionPositions(variations, sources[child].Attributes.Options)
	}
	slices.SortStableFunc(children, func(a, b uint32) int { return slices.Compare(places[a], places[b]) })
	return children
}

// variants collects what a document says of the product's variations. children
// are its live ones, in order.
func (p *publicationPlan) variants(handle uint32, children []uint32, sources map[uint32]*catalog.ProductSource) (v catalog.Variants) {
	own := sources[handle].Attributes
	v.Variations = catalog.NewVariations(own.Variations)
	for _, child := range children {
		if known, ok := catalog.NewVariantChild(p.ids.At(child), v.Variations, sources[child].Attributes.Options); ok {
			v.Children = append(v.Children, known)
		}
	}
	if parent := p.parents[handle]; parent >= 0 {
		v.Chosen = catalog.ChooseOptions(catalog.NewVariations(sources[uint32(parent)].Attributes.Variations), own.Options)
		v.Modifiers = p.modifiersOf(own.PriceModifiers)
	}
	return v
}

// prices reads the prices of products by SKU, then price book. It takes the first
// by id of several in one price book.
func (p *publicationPlan) prices(ctx context.Context, sources map[uint32]*catalog.ProductSource) (map[string]map[string]*catalog.PriceSource, error) {
	var skus []string
	for _, source := range sources {
		skus = append(skus, source.Attributes.SKU)
	}
	slices.Sort(skus)
	bySKU := make(map[string]map[string]*catalog.PriceSource, len(skus))
	err := store.Chunked(slices.Compact(skus), 2*publishBatch, func(skus []string) error {
		list, args := db.InList(nil, skus)
		_, err := db.Collect(ctx, p.in, func(rows *sql.Rows) (none struct{}, err error) {
			var body sql.RawBytes
			if err := rows.Scan(&body); err != nil {
				return none, err
			}
			source, err := catalog.DecodePrice(body)
			if err != nil {
				return none, err
			}
			ofBook, book := bySKU[source.Attributes.SKU], source.Relationships.Pricebook.ID()
			if ofBook == nil {
				ofBook = map[string]*catalog.PriceSource{}
				bySKU[source.Attributes.SKU] = ofBook
			}
			if ofBook[book] == nil {
				ofBook[book] = source
			}
			return none, nil
		}, `SELECT body FROM price WHERE sku IN (`+list+`) ORDER BY sku, pricebook_id, id`, args...)
		return err
	})
	return bySKU, err
}

// offers returns a product's offers by currency. A child without an offer in a
// currency has its parent's, changed by the child's modifiers.
func (p *publicationPlan) offers(handle uint32, sources map[uint32]*catalog.ProductSource, prices map[string]map[string]*catalog.PriceSource) map[string]*price.Offer {
	own := sources[handle].Attributes
	found := price.Offers(p.ranked, prices[own.SKU])
	parent := p.parents[handle]
	if parent < 0 {
		return found
	}
	modifiers := p.modifiersOf(own.PriceModifiers)
	for code, o := range price.Offers(p.ranked, prices[sources[uint32(parent)].Attributes.SKU]) {
		if found[code] == nil {
			found[code] = o.WithModifiers(code, modifiers)
		}
	}
	return found
}

// modifiersOf returns the modifiers that exist of some names, in their order, each once.
func (p *publicationPlan) modifiersOf(names []string) (list []*catalog.ModifierSource) {
	for _, name := range store.Unique(names) {
		if m := p.modifiers[name]; m != nil {
			list = append(list, m)
		}
	}
	return list
}

// parallel runs do for each number below n on all processors. It returns the first error, once all have ended.
func parallel(n int, do func(int) error) error {
	workers := min(n, runtime.GOMAXPROCS(0))
	var group errgroup.Group
	for worker := range workers {
		group.Go(func() error {
			for i := worker; i < n; i += workers {
				if err := do(i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}
