package shop

import (
	"context"
	"database/sql"

	"portico/store"
	"portico/store/db"
)

var pricebookKind = kind{
	name: "pricebook", create: func() source { return &pricebookSource{} },
	write: pricebookTable.writeInOrder, export: bodies("pricebook", "sequence", "id"),
	published: true, referred: true,
}

var priceKind = kind{
	name: "product-price", create: func() source { return &priceSource{} },
	write: (*importWriter).prices, export: bodies("price", "id"),
	published: true, whole: &priceTable,
}

var modifierKind = kind{
	name: "price_modifier", create: func() source { return &modifierSource{} },
	write: modifierTable.writeInOrder, export: bodies("price_modifier", "sequence", "id"),
	published: true,
}

var pricebookTable = sourceTable{name: "pricebook", columns: []string{"id", "sequence", "body"}, row: rowInOrder}

var modifierTable = sourceTable{name: "price_modifier", columns: pricebookTable.columns, row: rowInOrder}

var priceTable = sourceTable{name: "price", columns: []string{"id", "pricebook_id", "sku", "body"}, row: func(r source, _ *db.Tx) []any {
	p := r.(*priceSource)
	return []any{p.ID, p.Relationships.Pricebook.id(), p.Attributes.SKU, store.Encode(p)}
}}

// prices writes prices. One that is given another SKU was the old one's too.
func (w *importWriter) prices(ctx context.Context, sources []source) (int, error) {
	skus := make(map[string][]string, len(sources)) // by id of the price
	ids := make([]string, len(sources))
	rows := make([][]any, len(sources))
	for i, resource := range sources {
		ids[i], rows[i] = resource.key(), priceTable.row(resource, w.Tx)
		skus[ids[i]] = []string{resource.(*priceSource).Attributes.SKU}
	}
	if err := store.Chunked(ids, 512, func(ids []string) error {
		list, args := db.In(nil, ids)
		_, err := db.Collect(ctx, w.Session, func(rows *sql.Rows) (none struct{}, err error) {
			var id, sku string
			err = rows.Scan(&id, &sku)
			skus[id] = append(skus[id], sku)
			return none, err
		}, `SELECT id, sku FROM price WHERE id IN (`+list+`)`, args...)
		return err
	}); err != nil {
		return 0, err
	}
	changed, err := upsertRows(w.Tx, ctx, priceTable, rows)
	for _, id := range changed {
		w.touch(priceTable.name, skus[id]...)
	}
	return len(changed), err
}
