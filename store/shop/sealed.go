package shop

import (
	"context"
	"database/sql"

	"portico/store/db"
	"portico/store/seal"
)

// HasSecrets tells whether secrets are sealed in the SQLite database at a file:
// URL, without opening a store: who makes a key must know that none is needed
// for what is there. It is false where there is no file.
func HasSecrets(ctx context.Context, databaseURL string) (has bool, err error) {
	err = db.Peek(ctx, databaseURL, func(read db.Session) error {
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
	{"signing_key", "id", signingKeyField},
	{"gateway", "slug", func(slug string) string { return GatewaySlug(slug).passwordField() }},
}

// sealedRow is a secret, and what its row is known by.
type sealedRow struct {
	id     string
	sealed []byte
}

func sealedRows(ctx context.Context, s db.Session, table, id string) ([]sealedRow, error) {
	return db.Collect(ctx, s, func(rows *sql.Rows) (r sealedRow, err error) {
		return r, rows.Scan(&r.id, &r.sealed)
	}, `SELECT `+id+`, sealed FROM `+table+` WHERE sealed IS NOT NULL ORDER BY `+id)
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
		if _, err := namedKey(sealer, name); err != nil {
			return err
		}
	}
	for _, table := range sealedTables {
		rows, err := sealedRows(ctx, s.db.Reader, table.name, table.id)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if _, err := sealer.Open(table.field(r.id), r.sealed); err != nil {
				return err
			}
		}
	}
	return nil
}
