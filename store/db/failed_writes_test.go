package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/storetest/dbtest"
	"portico/store/storetest/testkit"
)

// TestFailedWrites counts the writes that the database does not take.
func TestFailedWrites(t *testing.T) {
	t.Parallel()
	dbtest.EachBackend(t, func(t *testing.T, backend dbtest.Backend) {
		s := follow(t, backend, nil, nil)
		require.NoError(t, s.TryWrite(t.Context()))
		require.NoError(t, s.WriteTrouble())
		require.Equal(t, map[string]int64{"full": 0, "read_only": 0, "connection": 0}, s.FailedWrites())
		backend.PostgresOnly(t)

		name := backend.DatabaseName(t)
		t.Cleanup(func() { dbtest.SetReadOnly(t, name, "off") })
		dbtest.SetReadOnly(t, name, "on")
		testkit.Eventually(t, true, func() bool { return s.TryWrite(t.Context()) != nil && s.FailedWrites()["read_only"] > 0 })
		require.ErrorIs(t, s.WriteTrouble(), store.ErrReadOnly)
		before := s.FailedWrites()
		require.ErrorIs(t, s.TryWrite(t.Context()), store.ErrReadOnly)
		before["read_only"]++
		require.Equal(t, before, s.FailedWrites())
	})
}
