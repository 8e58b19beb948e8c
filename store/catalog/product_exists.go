package catalog

import (
	"context"

	"portico/store/db"
)

// ProductExists tells whether there is a product with this id, a draft too.
func (s *CatalogService) ProductExists(ctx context.Context, id string) (bool, error) {
	_, found, err := db.One(ctx, s.db.Reader, db.Scalar[string], `SELECT id FROM product WHERE id = $1`, id)
	return found, err
}
