package shop

import (
	"context"
	"slices"
	"strings"

	"portico/store"
	"portico/store/db"
)

var productKind = kind{
	name: "product", create: func() source { return &ProductSource{} },
	write: (*importWriter).products, export: bodies("product", "id"),
	published: true, whole: &productTable,
}

// products writes products, and which of them speak of which others.
func (w *importWriter) products(ctx context.Context, sources []source) (int, error) {
	rows := make([][]any, len(sources))
	for i, resource := range sources {
		rows[i] = productTable.row(resource, w.Tx)
	}
	ids, err := upsertRows(w.Tx, ctx, productTable, rows)
	if err != nil {
		return 0, err
	}
	w.touch(productTable.name, ids...)
	slices.Sort(ids)
	var parts [][]any
	for _, resource := range sources {
		p := resource.(*ProductSource)
		if _, written := slices.BinarySearch(ids, p.ID); written {
			for _, component := range p.bundledIDs() {
				parts = append(parts, []any{p.ID, component})
			}
		}
	}
	if err := store.Chunked(ids, 512, func(ids []string) error {
		list, args := db.In(nil, ids)
		_, err := w.Exec(ctx, `DELETE FROM product_component WHERE product_id IN (`+list+`)`, args...)
		return err
	}); err != nil {
		return 0, err
	}
	return len(ids), w.InsertRows(ctx, "product_component", []string{"product_id", "component_id"}, parts)
}

var productTable = sourceTable{
	name:    "product",
	columns: []string{"id", "live", "parent_id", "component_ids", "created_at", "updated_at", "body"},
	row: func(r source, _ *db.Tx) []any {
		p := r.(*ProductSource)
		return []any{p.ID, p.live(), p.parentID(), strings.Join(p.bundledIDs(), " "), store.Micros(p.createdAt()), store.Micros(p.updatedAt()), store.Encode(p)}
	},
}
