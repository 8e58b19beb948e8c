package catalog

import (
	"context"
	"slices"
	"strings"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/index"
)

// ProductKind is the kind of products.
var ProductKind = authoring.Kind{
	Name: "product", Create: func() authoring.Source { return &ProductSource{} },
	Write: writeProducts, Export: authoring.ExportBodies("product", "id"),
	Delete: deleteProducts, Published: true, Whole: &productTable, Inputs: slices.Concat(contentInputs, productInputs),
}

// contentInputs are the members of products, nodes and hierarchies that inputs name otherwise.
var contentInputs = store.PathRenames{
	{"attributes.locales", "translations"},
	{"attributes.custom_attributes.*.key", "attributes.*.key"}, {"attributes.custom_attributes.*", "attributes.*.value"}, {"attributes.custom_attributes", "attributes"},
}

// productInputs are those of products alone. prices are what a release shows of them.
var productInputs = store.PathRenames{
	{"attributes.options", "option_ids"}, {"attributes.components.*.options.*.id", "components.*.options.*.product_id"},
	{"relationships.files.data.*.created_at", "files.*.attached_at"}, {"relationships.files.data", "files"}, {"relationships.files", "files"},
	{"relationships.component_products.data.*.*", "component_product_ids.*"}, {"relationships.component_products.data", "component_product_ids"}, {"relationships.component_products", "component_product_ids"},
	{"relationships.related.*.*", "related.*.product_ids.*"}, {"relationships.related", "related"}, {"relationships.children.data", "children"},
	{"prices.*.tiers.*.amount", "prices.*.tiers.*.money.amount"}, {"prices.*.amount", "prices.*.money.amount"},
	{"prices.*.sales.*.tiers.*.amount", "prices.*.sales.*.tiers.*.money.amount"}, {"prices.*.sales.*.amount", "prices.*.sales.*.money.amount"},
}

// deleteProducts deletes products. Their stock and its ledger stay, and so do their attachments to
// nodes and their prices, which count again if the product comes back.
func deleteProducts(ctx context.Context, w *authoring.Writer, ids []string) ([]string, error) {
	gone, err := w.RemoveAll(ctx, "product", ids)
	if err != nil {
		return nil, err
	}
	return gone, db.ExecIn(ctx, w.Session, gone, `DELETE FROM product_component WHERE product_id IN ($in)`)
}

// writeProducts writes products and the components of bundles.
func writeProducts(ctx context.Context, w *authoring.Writer, sources []authoring.Source) ([]string, error) {
	rows := make([][]any, len(sources))
	for i, resource := range sources {
		rows[i] = productTable.Row(resource, w.Tx)
	}
	ids, err := authoring.UpsertRows(ctx, w.Tx, productTable, rows)
	if err != nil {
		return nil, err
	}
	w.Touch(productTable.Name, ids...)
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
	if err := db.ExecIn(ctx, w.Session, ids, `DELETE FROM product_component WHERE product_id IN ($in)`); err != nil {
		return nil, err
	}
	return ids, w.InsertRows(ctx, "product_component", []string{"product_id", "component_id"}, parts)
}

var productTable = authoring.Table{
	Name:    "product",
	Columns: []string{"id", "live", "parent_id", "component_ids", "created_at", "updated_at", "sku", "slug", "external_ref", "text_folded", "body"},
	Row: func(r authoring.Source, _ *db.Tx) []any {
		p := r.(*ProductSource)
		return []any{p.ID, p.live(), p.parentID(), strings.Join(p.bundledIDs(), " "), store.Micros(p.createdAt()), store.Micros(p.updatedAt()), p.Attributes.SKU, p.Attributes.Slug, p.Attributes.ExternalRef,
			index.Fold(p.Attributes.Name + " " + p.Attributes.SKU), store.Encode(p)}
	},
}
