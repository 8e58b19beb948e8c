package drivers_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/db/dialect"
	"portico/store/db/drivers"
)

// A pool whose connections are all broken is an unavailable database. The text is that of pgxpool, which has no type for it.
func TestBrokenPoolIsUnavailable(t *testing.T) {
	t.Parallel()
	broken := errors.New("pgxpool: too many failed attempts acquiring connection; likely bug in PrepareConn, BeforeAcquire, or ShouldPing hook")
	postgres, err := drivers.Of("postgres://host/database")
	require.NoError(t, err)
	require.Equal(t, dialect.Unavailable, postgres.Classify(broken))
	require.Equal(t, dialect.Other, postgres.Classify(errors.New("another")))
	require.Equal(t, dialect.Other, postgres.Classify(nil))
}
