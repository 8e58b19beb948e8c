package shop

import (
	"context"
	"fmt"

	"portico/store"
	"portico/store/db"
	"portico/store/seal"
)

// Rekeyed tells what Rekey sealed anew.
type Rekeyed struct {
	Key         string // id of the key that seals from now on
	SigningKeys int
	Passwords   int
}

// Rekey seals every secret with the sealer's preferred key, all or none, while
// servers go on: from its commit on the database names that key, and whoever
// seals looks there. Servers must hold both keys by then, or find the new one
// where they read theirs (seal.NewOf). Done again it finds nothing to do.
// Fingerprints of secrets are others under the new key.
//
// The error is seal.ErrKey when the sealer lacks a key that something is
// sealed with; nothing is changed then.
func (s *Store) Rekey(ctx context.Context, actor store.Actor, sealer *seal.Sealer) (*Rekeyed, error) {
	var done *Rekeyed
	err := s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		key := sealer.Preferred()
		done = &Rekeyed{Key: key.ID.String()}
		if _, err := currentKey(ctx, t, sealer); err != nil {
			return err
		}
		if _, err := t.Exec(ctx, `UPDATE store_meta SET value = $1 WHERE name = 'sealing_key'`, key.ID.String()); err != nil {
			return err
		}
		for i, n := range []*int{&done.SigningKeys, &done.Passwords} {
			table, err := sealedTables[i], error(nil)
			if *n, err = reseal(t, ctx, sealer, table.name, table.id, table.field); err != nil {
				return err
			}
		}
		return s.db.Changed(ctx, t, db.TopicKeys)
	})
	if err != nil {
		return nil, err
	}
	return done, nil
}

// currentKey is the key that the database names for sealing; the sealer's
// preferred one where it names none yet. Its row stays locked, so that nobody
// seals with a key that Rekey is doing away with.
func currentKey(ctx context.Context, t *db.Tx, sealer *seal.Sealer) (*seal.Key, error) {
	name, _, err := db.One(ctx, t.Session, db.Scalar[string], `
		INSERT INTO store_meta (name, value) VALUES ('sealing_key', $1)
		ON CONFLICT (name) DO UPDATE SET value = store_meta.value
		RETURNING value`, sealer.Preferred().ID.String())
	if err != nil {
		return nil, err
	}
	return namedKey(sealer, name)
}

// namedKey is the sealer's key that the database names.
func namedKey(sealer *seal.Sealer, name string) (*seal.Key, error) {
	id, ok := seal.ParseKeyID(name)
	if !ok {
		return nil, fmt.Errorf("the database names a sealing key that cannot be: %q", name)
	}
	key := sealer.Key(id)
	if key == nil {
		return nil, fmt.Errorf("%w (the database is sealed with key %s, this process has %s)", seal.ErrKey, name, sealer)
	}
	return key, nil
}

// reseal seals a table's secrets with the preferred key, and tells how many
// were not.
func reseal(t *db.Tx, ctx context.Context, sealer *seal.Sealer, table, id string, field func(id string) string) (n int, err error) {
	rows, err := sealedRows(ctx, t.Session, table, id)
	if err != nil {
		return 0, err
	}
	for _, r := range rows {
		key, err := sealer.KeyOf(field(r.id), r.sealed)
		if err != nil {
			return n, err
		}
		if key.ID == sealer.Preferred().ID {
			continue
		}
		plain, err := sealer.Open(field(r.id), r.sealed)
		if err != nil {
			return n, err
		}
		if _, err := t.Exec(ctx, `UPDATE `+table+` SET sealed = $2 WHERE `+id+` = $1`, r.id, sealer.Seal(field(r.id), plain)); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
