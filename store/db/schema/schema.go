// Package schema owns the schema of the database: its migrations, which of them a database has, and whether this
// binary may open it. Check reads and decides, Migrate runs what is missing. It must not import store/db.
package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"portico/store/db/dialect"
)

// Mode is what Open may do to the schema of a database. Whatever the mode, Open changes nothing in a database
// with tables of another application.
type Mode int

const (
	CreateMode  Mode = iota // create the schema in an empty database, migrate an older one
	MigrateMode             // migrate an older one; a database without a schema is an error
	KeepMode                // change nothing; an older schema is an error too
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

// Read reads the schema of a database, and changes nothing. The error is a foreignError if the database has
// tables without the mark of Portico, which is the row min_binary of store_meta. A database without tables, or with those of
// a migrator that has applied nothing, has the zero state.
func Read(ctx context.Context, read dialect.Reader, engine dialect.Dialect) (state schemaState, err error) {
	migrator, tables, err := readTables(ctx, read, engine)
	if err != nil {
		return state, err
	}
	foreign := func(table string, cause error) (schemaState, error) {
		if kind := engine.Classify(cause); kind != dialect.Other && kind != dialect.Missing {
			return schemaState{}, fmt.Errorf("read the schema's version: %w", cause)
		}
		return schemaState{}, &foreignError{table, cause}
	}
	if migrator {
		applied, err := read(ctx, `SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version`)
		if err == nil {
			state.applied, err = strconv.Atoi(applied[0])
		}
		if err != nil {
			return foreign(migratorTables[0], err)
		}
		if state.applied > 0 && !slices.Contains(tables, "store_meta") { // another process may have migrated between both reads
			if _, tables, err = readTables(ctx, read, engine); err != nil {
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
	least, err := read(ctx, `SELECT value FROM store_meta WHERE name = 'min_binary'`)
	if err != nil || len(least) == 0 || !migrator {
		return foreign("store_meta", err)
	}
	state.minBinary = least[0]
	return state, nil
}

// readTables returns the tables but those of the migrator, which may be another application's.
func readTables(ctx context.Context, read dialect.Reader, engine dialect.Dialect) (migrator bool, tables []string, err error) {
	tables, err = read(ctx, engine.Tables())
	if err != nil {
		return false, nil, fmt.Errorf("look for the schema: %w", err)
	}
	migrator = slices.Contains(tables, migratorTables[0])
	return migrator, slices.DeleteFunc(tables, func(name string) bool { return slices.Contains(migratorTables, name) }), nil
}

// Check returns an error if a binary with so many migrations must not open a database with this schema: one without a schema,
// unless m creates it; one that needs a newer binary; and in KeepMode an older one.
func (m Mode) Check(state schemaState, migrations int) error {
	if state.minBinary == "" {
		if m == CreateMode {
			return nil
		}
		return errNoSchema
	}
	if least, err := strconv.Atoi(state.minBinary); err != nil || least > migrations {
		return fmt.Errorf("the database needs a newer portico: its schema requires version %s, this binary has %d; nothing was changed", state.minBinary, migrations)
	}
	if m == KeepMode && state.applied < migrations {
		return fmt.Errorf("%w: it has version %d of %d", errOlder, state.applied, migrations)
	}
	return nil
}

// Check reads the schema and returns the number of applied migrations, or an error if this binary must not
// open the database. read is nil if there is no file.
func Check(ctx context.Context, read dialect.Reader, engine dialect.Dialect, mode Mode) (applied int, err error) {
	if read == nil {
		if mode != CreateMode {
			err = errNoFile
		}
		return 0, err
	}
	files, err := Migrations()
	if err != nil {
		return 0, err
	}
	state, err := Read(ctx, read, engine)
	if err == nil {
		err = mode.Check(state, len(files))
	}
	return state.applied, err
}

// Explain says what is wrong with the database name, and how to fix it, by an error of Check; empty for any other
// error.
func Explain(err error, name string) string {
	var foreign *foreignError
	switch {
	case errors.As(err, &foreign):
		return fmt.Sprintf("%s has tables that Portico did not create, such as %s. Nothing was changed. Name an empty database, or one of Portico. If it is a restored copy, its restore is not complete", name, foreign.table)
	case errors.Is(err, errNoFile):
		return fmt.Sprintf("the database file %s does not exist. Correct --database-url, or create the database with portico migrate", name)
	case errors.Is(err, errNoSchema):
		return fmt.Sprintf("%s is empty: there is no shop in it. Name the database of a shop, or create one with portico migrate", name)
	case errors.Is(err, errOlder):
		return fmt.Sprintf("the schema of %s is older than this version of portico needs. Run portico migrate", name)
	}
	return ""
}
