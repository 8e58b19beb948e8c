package shop

import (
	"context"

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
		if _, err := db.CurrentKey(ctx, t, sealer); err != nil {
			return err
		}
		if _, err := t.Exec(ctx, `UPDATE store_meta SET value = $1 WHERE name = 'sealing_key'`, key.ID.String()); err != nil {
			return err
		}
		for i, n := range []*int{&done.SigningKeys, &done.Passwords} {
			table, err := sealedTables[i], error(nil)
			if *n, err = db.Reseal(ctx, t, sealer, table.name, table.id, table.field); err != nil {
				return err
			}
		}
		return s.db.BumpTopic(ctx, t, db.TopicKeys)
	})
	if err != nil {
		return nil, err
	}
	return done, nil
}
