package shop

import (
	"context"

	"portico/store/access"
	"portico/store/db"
	"portico/store/gateway"
	"portico/store/seal"
)

// HasSecrets tells whether secrets are sealed in the SQLite database at a file:
// URL, without opening a store: who makes a key must know that none is needed
// for what is there. It is false where there is no file.
func HasSecrets(ctx context.Context, databaseURL string) (has bool, err error) {
	err = db.OpenReadOnly(ctx, databaseURL, func(read db.Session) error {
		tables, _, err := db.One(ctx, read, db.Scalar[int], `SELECT count(*) FROM sqlite_master WHERE name IN ('store_meta', 'signing_key')`)
		if err != nil || tables < 2 {
			return err
		}
		_, has, err = db.One(ctx, read, db.Scalar[int], `
			SELECT 1 FROM store_meta WHERE name = 'sealing_key'
			UNION ALL SELECT 1 FROM signing_key LIMIT 1`)
		return err
	})
	return has, err
}

// sealedTables are where secrets are, with the field of each row's.
var sealedTables = []struct {
	name, id string
	field    func(id string) string
}{
	{"signing_key", "id", access.SigningKeyField},
	{"gateway", "slug", func(slug string) string { return gateway.GatewaySlug(slug).PasswordField() }},
}

// CheckKeys opens every secret, and changes nothing. The error is seal.ErrKey
// when the sealer lacks a key that something is sealed with, or that the
// database names for sealing.
func (s *Store) CheckKeys(ctx context.Context, sealer *seal.Sealer) error {
	name, found, err := db.One(ctx, s.db.Reader, db.Scalar[string], `SELECT value FROM store_meta WHERE name = 'sealing_key'`)
	if err != nil {
		return err
	}
	if found {
		if _, err := db.KeyByName(sealer, name); err != nil {
			return err
		}
	}
	for _, table := range sealedTables {
		rows, err := db.SealedRows(ctx, s.db.Reader, table.name, table.id)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if _, err := sealer.Open(table.field(r.ID), r.Sealed); err != nil {
				return err
			}
		}
	}
	return nil
}
