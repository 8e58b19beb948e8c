package dialect

import (
	"errors"
	"fmt"
	"strings"

	"portico/store"
)

// Of picks the dialect by the URL's scheme.
func Of(address string) (Dialect, error) {
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
