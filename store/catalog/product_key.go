package catalog

import (
	"context"

	"portico/store"
	"portico/store/db"
)

// StoreProductKeys fills in the SKUs and slugs of products that a binary from before
// these columns wrote. It does nothing if there are none.
func StoreProductKeys(ctx context.Context, d *db.DB, actor store.Actor) error {
	for {
		_, found, err := db.One(ctx, d.Reader, db.Scalar[int], `SELECT 1 FROM product WHERE sku = '' LIMIT 1`)
		if err != nil || !found {
			return err
		}
		if err := d.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
			bodies, err := db.Collect(ctx, t.Session, db.Scalar[[]byte], `SELECT body FROM product WHERE sku = '' ORDER BY id LIMIT 500`)
			if err != nil {
				return err
			}
			for _, body := range bodies {
				p := &ProductSource{}
				if err := store.Decode(body, p); err != nil {
					return err
				}
				if _, err := t.Exec(ctx, `UPDATE product SET sku = $1, slug = $2 WHERE id = $3`, p.Attributes.SKU, p.Attributes.Slug, p.ID); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
}
