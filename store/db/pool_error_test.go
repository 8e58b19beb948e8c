package db

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// A pool whose connections are all broken is an unavailable database. The text is that of pgxpool, which has no type for it.
func TestBrokenPoolIsUnavailable(t *testing.T) {
	t.Parallel()
	err := errors.New("pgxpool: too many failed attempts acquiring connection; likely bug in PrepareConn, BeforeAcquire, or ShouldPing hook")
	require.Equal(t, kindUnavailable, postgresDialect{}.classify(err))
	require.Equal(t, kindOther, postgresDialect{}.classify(errors.New("another")))
	require.Equal(t, kindOther, postgresDialect{}.classify(nil))
}
