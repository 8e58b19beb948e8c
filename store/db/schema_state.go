package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// Why Open refuses a database, which it leaves as it was.
var (
	// ErrNoShop means that there is no database, or an empty one.
	ErrNoShop = errors.New("there is no shop")

	errNoFile   = fmt.Errorf("%w: the file does not exist", ErrNoShop)
	errNoSchema = fmt.Errorf("%w: the database is empty", ErrNoShop)
	errOlder    = errors.New("the schema is older than this version of portico needs; run portico migrate")
)

// foreignError reports tables that Portico did not create.
type foreignError struct {
	table string // one of them
	cause error  // of the read that failed; may be nil
}

func (e *foreignError) Error() string {
	return "the database has tables but no mark of Portico, such as " + e.table
}

func (e *foreignError) Unwrap() error { return e.cause }

// schemaState is the schema that a database has.
type schemaState struct {
	applied   int    // migrations
	minBinary string // oldest version that may open it; empty without a schema
}

// migratorTables are created before the first migration runs.
var migratorTables = []string{"goose_db_version", "goose_db_version_id_seq", "goose_lock"}

// readSchema reads the schema of a database, and changes nothing. The error is a foreignError if the database has
// tables without the mark of Portico, which is the row min_binary of store_meta.
func readSchema(ctx context.Context, in Session, engine dialect) (state schemaState, err error) {
	migrator, tables, err := readTables(ctx, in, engine)
	if err != nil {
		return state, err
	}
	foreign := func(table string, cause error) (schemaState, error) {
		if kind := engine.classify(cause); kind != kindOther && kind != kindMissing {
			return schemaState{}, fmt.Errorf("read the schema's version: %w", cause)
		}
		return schemaState{}, &foreignError{table, cause}
	}
	if migrator {
		if state.applied, _, err = One(ctx, in, Scalar[int], `SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version`); err != nil {
			return foreign(migratorTables[0], err)
		}
		if state.applied > 0 && !slices.Contains(tables, "store_meta") { // another process may have migrated between both reads
			if _, tables, err = readTables(ctx, in, engine); err != nil {
				return state, err
			}
		}
	}
	if !slices.Contains(tables, "store_meta") {
		switch {
		case len(tables) > 0:
			return foreign(tables[0], nil)
		case state.applied > 0:
			return foreign(migratorTables[0], nil)
		}
		return state, nil
	}
	found := false
	state.minBinary, found, err = One(ctx, in, Scalar[string], `SELECT value FROM store_meta WHERE name = 'min_binary'`)
	if err != nil || !found || !migrator {
		return foreign("store_meta", err)
	}
	return state, nil
}

// readTables returns the tables but those of the migrator, which may be another application's.
func readTables(ctx context.Context, in Session, engine dialect) (migrator bool, tables []string, err error) {
	tables, err = Collect(ctx, in, Scalar[string], engine.tables())
	if err != nil {
		return false, nil, fmt.Errorf("look for the schema: %w", err)
	}
	migrator = slices.Contains(tables, migratorTables[0])
	return migrator, slices.DeleteFunc(tables, func(name string) bool { return slices.Contains(migratorTables, name) }), nil
}

// check returns an error if a binary with so many migrations must not open a database with this schema.
func (m SchemaMode) check(state schemaState, migrations int) error {
	if state.minBinary == "" {
		if m == CreateSchema {
			return nil
		}
		return errNoSchema
	}
	if least, err := strconv.Atoi(state.minBinary); err != nil || least > migrations {
		return fmt.Errorf("the database needs a newer portico: its schema requires version %s, this binary has %d; nothing was changed", state.minBinary, migrations)
	}
	if m == KeepSchema && state.applied < migrations {
		return fmt.Errorf("%w: it has version %d of %d", errOlder, state.applied, migrations)
	}
	return nil
}

// checkSchema reads the schema and returns the number of applied migrations, or an error if this process must not
// open the database.
func (s *DB) checkSchema(ctx context.Context, from *sql.DB, migrations int) (applied int, err error) {
	state, err := readSchema(ctx, Session{conn: from}, s.dialect)
	if err == nil {
		err = s.config.Schema.check(state, migrations)
	}
	return state.applied, err
}
