package db

import (
	"context"
	"database/sql"
	"fmt"

	"portico/store/seal"
)

// CurrentKey returns the key that the database seals with, or the sealer's preferred
// key if the database names none yet. It locks the row, so that no write seals with a
// key that a rekey is removing.
func CurrentKey(ctx context.Context, t *Tx, sealer *seal.Sealer) (*seal.Key, error) {
	name, _, err := One(ctx, t.Session, Scalar[string], `
		INSERT INTO store_meta (name, value) VALUES ('sealing_key', $1)
		ON CONFLICT (name) DO UPDATE SET value = store_meta.value
		RETURNING value`, sealer.Preferred().ID.String())
	if err != nil {
		return nil, err
	}
	return KeyByName(sealer, name)
}

// KeyByName returns the sealer's key of a name.
func KeyByName(sealer *seal.Sealer, name string) (*seal.Key, error) {
	id, ok := seal.ParseKeyID(name)
	if !ok {
		return nil, fmt.Errorf("the database names an invalid sealing key: %q", name)
	}
	key := sealer.Key(id)
	if key == nil {
		return nil, fmt.Errorf("%w (the database is sealed with key %s, this process has %s)", seal.ErrKey, name, sealer)
	}
	return key, nil
}

// Reseal seals the secrets of a table with the preferred key and returns how many it
// changed. field names the sealed field of a row.
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

// SealedRow is the id and sealed secret of a row.
type SealedRow struct {
	ID     string
	Sealed []byte
}

// SealedRows reads the secrets of a table, by id.
func SealedRows(ctx context.Context, s Session, table, id string) ([]SealedRow, error) {
	return Collect(ctx, s, func(rows *sql.Rows) (r SealedRow, err error) {
		return r, rows.Scan(&r.ID, &r.Sealed)
	}, `SELECT `+id+`, sealed FROM `+table+` WHERE sealed IS NOT NULL ORDER BY `+id)
}
