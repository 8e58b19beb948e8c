package catalog

import (
	"context"
	"slices"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// PricebookKind, PriceKind and ModifierKind are the kinds of price books, prices and price modifiers.
var PricebookKind = authoring.Kind{
	Name: "pricebook", Create: func() authoring.Source { return &pricebookSource{} },
	Write: pricebookTable.Write, Delete: authoring.RemoveRows("pricebook"), Export: authoring.ExportBodies("pricebook", "id", "sequence", "id"),
	Published: true, Referred: true,
}

var PriceKind = authoring.Kind{
	Name: "product-price", Create: func() authoring.Source { return &PriceSource{} },
	Write: writePrices, Delete: deletePrices, Export: authoring.ExportBodies("price", "id"),
	Published: true, Whole: &priceTable, Inputs: slices.Concat(amountInputs, saleInputs),
}

var ModifierKind = authoring.Kind{
	Name: "price_modifier", Create: func() authoring.Source { return &ModifierSource{} },
	Write: modifierTable.Write, Delete: authoring.RemoveRows("price_modifier"), Export: authoring.ExportBodies("price_modifier", "id", "sequence", "id"),
	Published: true, Inputs: amountInputs,
}

// amountInputs are the members of amounts that inputs name otherwise, and saleInputs those of sales.
var (
	amountInputs = store.PathRenames{
		{"attributes.currencies.*.tiers.*.amount", "amounts.*.tiers.*.money.amount"}, {"attributes.currencies.*.amount", "amounts.*.money.amount"},
		{"attributes.currencies", "amounts"},
	}
	saleInputs = store.PathRenames{
		{"attributes.sales.*.currencies.*.tiers.*.amount", "sales.*.amounts.*.tiers.*.money.amount"}, {"attributes.sales.*.currencies.*.amount", "sales.*.amounts.*.money.amount"},
		{"attributes.sales.*.currencies", "sales.*.amounts"}, {"attributes.sales.*.schedule.*", "sales.*.*"},
	}
)

var pricebookTable = authoring.Table{Name: "pricebook", Columns: []string{"id", "sequence", "body"}, Row: authoring.RowInOrder}

var modifierTable = authoring.Table{Name: "price_modifier", Columns: []string{"id", "sequence", "body"}, Row: authoring.RowInOrder}

var priceTable = authoring.Table{Name: "price", Columns: []string{"id", "pricebook_id", "sku", "body"}, Row: func(r authoring.Source, _ *db.Tx) []any {
	p := r.(*PriceSource)
	return []any{p.ID, p.Relationships.Pricebook.ID(), p.Attributes.SKU, store.Encode(p)}
}}

// writePrices writes prices. A price whose SKU changes affects the old SKU too.
func writePrices(ctx context.Context, w *authoring.Writer, sources []authoring.Source) ([]string, error) {
	skus := make(map[string][]string, len(sources)) // by id of the price
	ids := make([]string, len(sources))
	rows := make([][]any, len(sources))
	for i, resource := range sources {
		ids[i], rows[i] = resource.Key(), priceTable.Row(resource, w.Tx)
		skus[ids[i]] = []string{resource.(*PriceSource).Attributes.SKU}
	}
	before, err := db.CollectIn(ctx, w.Session, db.ScanPair[string, string], ids, `SELECT id, sku FROM price WHERE id IN ($in)`)
	if err != nil {
		return nil, err
	}
	for _, price := range before {
		skus[price.Key] = append(skus[price.Key], price.Value)
	}
	changed, err := authoring.UpsertRows(ctx, w.Tx, priceTable, rows)
	for _, id := range changed {
		w.Touch(priceTable.Name, skus[id]...)
	}
	return changed, err
}

// deletePrices deletes prices, which affects the products of their SKUs.
func deletePrices(ctx context.Context, w *authoring.Writer, ids []string) (deleted []string, err error) {
	gone, err := db.CollectIn(ctx, w.Session, db.ScanPair[string, string], slices.Sorted(slices.Values(ids)), `DELETE FROM price WHERE id IN ($in) RETURNING id, sku`)
	for _, price := range gone {
		deleted = append(deleted, price.Key)
		w.Touch(priceTable.Name, price.Value)
	}
	return deleted, err
}
