package shop

import (
	"context"

	"portico/store"
	"portico/store/access"
	"portico/store/db"
	"portico/store/db/drivers"
	"portico/store/gateway"
	"portico/store/seal"
)

// RekeyResult counts what Rekey sealed again.
type RekeyResult struct {
	Key         string // id of the new sealing key
	SigningKeys int
	Passwords   int
}

// Rekey seals every secret with the sealer's preferred key, in one transaction, while servers
// run: from its commit on they seal with that key, which the database names. Servers must
// have both keys by then, or reload theirs (seal.NewReloading). Fingerprints of secrets change.
// Repeating it changes nothing.
//
// The error is seal.ErrKey, and nothing changes, if the sealer lacks a key in use.
func (s *Store) Rekey(ctx context.Context, actor store.Actor, sealer *seal.Sealer) (*RekeyResult, error) {
	var done *RekeyResult
	err := s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		key := sealer.Preferred()
		done = &RekeyResult{Key: key.ID.String()}
		if _, err := db.CurrentKey(ctx, t, sealer); err != nil {
			return err
		}
		if _, err := t.Exec(ctx, `UPDATE store_meta SET value = $1 WHERE name = 'sealing_key'`, key.ID.String()); err != nil {
			return err
		}
		for i, n := range []*int{&done.SigningKeys, &done.Passwords} { // in the order of sealedTables
			table, err := sealedTables[i], error(nil)
			if *n, err = db.Reseal(ctx, t, sealer, table.name, table.id, table.field); err != nil {
				return err
			}
		}
		t.Record(store.NewAuditEvent(store.AuditSealingKey, key.ID.String(), store.AuditUpdated))
		return s.db.BumpTopic(ctx, t, db.TopicKeys)
	})
	if err != nil {
		return nil, err
	}
	return done, nil
}

// HasSecrets reports whether the SQLite database at a file: URL contains sealed secrets,
// without opening a store; false if there is no file. Before a new key is created, callers
// check that none is in use.
func HasSecrets(ctx context.Context, databaseURL string) (has bool, err error) {
	engine, err := drivers.Of(databaseURL)
	if err != nil {
		return false, err
	}
	err = db.OpenReadOnly(ctx, engine, databaseURL, func(read db.Session) error {
		tables, _, err := db.One(ctx, read, db.Scalar[int], `SELECT count(*) FROM sqlite_master WHERE name IN ('store_meta', 'signing_key')`)
		if err != nil || tables < 2 { // a new database: no migration has created both
			return err
		}
		_, has, err = db.One(ctx, read, db.Scalar[int], `
			SELECT 1 FROM store_meta WHERE name = 'sealing_key'
			UNION ALL SELECT 1 FROM signing_key LIMIT 1`)
		return err
	})
	return has, err
}

// sealedTables are the tables with secrets, and how their fields are named for the sealer.
var sealedTables = []struct {
	name, id string
	field    func(id string) string
}{
	{"signing_key", "id", access.SigningKeyField},
	{"gateway", "slug", func(slug string) string { return gateway.Slug(slug).PasswordField() }},
}

// CheckKeys decrypts every secret. The error is seal.ErrKey if the sealer lacks a key that is
// in use, or that the database names for sealing.
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
