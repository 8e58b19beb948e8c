package catalog

import (
	"context"

	"portico/store/db"
	"portico/store/index"
)

// ProductExists reports whether there is a product, even a draft.
func (s *Service) ProductExists(ctx context.Context, id string) (bool, error) {
	_, found, err := db.One(ctx, s.db.Reader, db.Scalar[string], `SELECT id FROM product WHERE id = $1`, id)
	return found, err
}

// KnownSKUs returns those of SKUs that products have, drafts included. A SKU that only parents have is true in parents.
func (s *Service) KnownSKUs(ctx context.Context, skus []string) (known, parents map[string]bool, err error) {
	found, err := db.CollectIn(ctx, s.db.Reader, db.ScanPair[string, bool], skus,
		`SELECT sku, EXISTS (SELECT 1 FROM product child WHERE child.parent_id = product.id AND child.parent_id <> '') FROM product WHERE sku IN ($in)`)
	known, parents = map[string]bool{}, map[string]bool{}
	for _, product := range found {
		parents[product.Key] = product.Value && (parents[product.Key] || !known[product.Key])
		known[product.Key] = true
	}
	return known, parents, err
}

// Words returns the search words of the product by language, with those of further text in the base
// language, a locale.
func (p *ProductSource) Words(locale, further string) (list []index.ProductTokens) {
	a := &p.Attributes
	list = append(list, index.NewProductTokens("", locale, a.Name, a.Description+further, a.SKU))
	for _, language := range p.DocumentLanguages() {
		text := a.Locales[language]
		list = append(list, index.NewProductTokens(language, locale, text.Name, text.Description, ""))
	}
	return list
}
