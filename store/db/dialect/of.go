package dialect

import (
	"errors"
	"strings"
)

// Of picks the dialect by the URL's scheme.
func Of(address string) (Dialect, error) {
	switch {
	case strings.HasPrefix(address, "postgres://"), strings.HasPrefix(address, "postgresql://"):
		return postgresDialect{}, nil
	case strings.HasPrefix(address, "file:"):
		return sqliteDialect{}, nil
	}
	return nil, errors.New("the database URL must start with file: or postgres://, for example file:portico.db")
}
