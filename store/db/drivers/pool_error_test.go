package drivers

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/db/dialect"
)

// A pool whose connections are all broken is an unavailable database. The text is that of pgxpool, which has no type for it.
func TestBrokenPoolIsUnavailable(t *testing.T) {
	t.Parallel()
	err := errors.New("pgxpool: too many failed attempts acquiring connection; likely bug in PrepareConn, BeforeAcquire, or ShouldPing hook")
	require.Equal(t, dialect.Unavailable, postgresDialect{}.Classify(err))
	require.Equal(t, dialect.Other, postgresDialect{}.Classify(errors.New("another")))
	require.Equal(t, dialect.Other, postgresDialect{}.Classify(nil))
}
