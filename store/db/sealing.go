package db

import (
	"context"
	"database/sql"
	"fmt"

	"portico/store/seal"
)

// CurrentKey is the key that the database names for sealing; the sealer's
// preferred one where it names none yet. Its row stays locked, so that nobody
// seals with a key that Rekey is doing away with.
func CurrentKey(ctx context.Context, t *Tx, sealer *seal.Sealer) (*seal.Key, error) {
	name, _, err := One(ctx, t.Session, Scalar[string], `
		INSERT INTO store_meta (name, value) VALUES ('sealing_key', $1)
		ON CONFLICT (name) DO UPDATE SET value = store_meta.value
		RETURNING value`, sealer.Preferred().ID.String())
	if err != nil {
		return nil, err
	}
	return NamedKey(sealer, name)
}

// NamedKey is the sealer's key that the database names.
func NamedKey(sealer *seal.Sealer, name string) (*seal.Key, error) {
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

// Reseal seals a table's secrets with the preferred key, and tells how many
// were not.
func Reseal(ctx context.Context, t *Tx, sealer *seal.Sealer, table, id string, field func(id string) string) (n int, err error) {
	rows, err := SealedRows(ctx, t.Session, table, id)
	if err != nil {
		return 0, err
	}
	for _, r := range rows {
		key, err := sealer.KeyOf(field(r.ID), r.Sealed)
		if err != nil {
			return n, err
		}
		if key.ID == sealer.Preferred().ID {
			continue
		}
		plain, err := sealer.Open(field(r.ID), r.Sealed)
		if err != nil {
			return n, err
		}
		if _, err := t.Exec(ctx, `UPDATE `+table+` SET sealed = $2 WHERE `+id+` = $1`, r.ID, sealer.Seal(field(r.ID), plain)); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// SealedRow is a secret, and what its row is known by.
type SealedRow struct {
	ID     string
	Sealed []byte
}

// SealedRows are a table's secrets, by its key.
func SealedRows(ctx context.Context, s Session, table, id string) ([]SealedRow, error) {
	return Collect(ctx, s, func(rows *sql.Rows) (r SealedRow, err error) {
		return r, rows.Scan(&r.ID, &r.Sealed)
	}, `SELECT `+id+`, sealed FROM `+table+` WHERE sealed IS NOT NULL ORDER BY `+id)
}
