// Package drivers implements dialect.Dialect for SQLite and PostgreSQL. Of returns one of the two by the URL of a database.
// It is the only package that imports the drivers, and must not import store/db.
package drivers

import (
	"errors"
	"fmt"
	"strings"

	"portico/store"
	"portico/store/db/dialect"
)

// Of picks the dialect by the URL's scheme.
func Of(address string) (dialect.Dialect, error) {
	switch {
	case strings.HasPrefix(address, "postgres://"), strings.HasPrefix(address, "postgresql://"):
		if err := store.CheckURL(address); err != nil {
			return nil, fmt.Errorf("the database URL %w", err)
		}
		return postgresDialect{}, nil
	case strings.HasPrefix(address, "file:"):
		return sqliteDialect{}, nil
	}
	return nil, errors.New("the database URL must start with file: or postgres://, for example file:portico.db")
}
