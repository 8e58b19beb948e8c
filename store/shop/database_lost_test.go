package shop_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/storetest"
	"portico/store/storetest/dbtest"
)

// databaseLost ends all sessions of the database during reads and writes.
func databaseLost(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		backend.PostgresOnly(t)
		s, name := storetest.OpenWithStock(t, backend, 0, "a"), backend.DatabaseName(t)
		made, tried := 0, 0
		for range 20 {
			dbtest.EndSessions(t, name)
			for done := 0; done < 5; {
				tried++
				if err := storetest.Increment(t.Context(), s, "a"); err != nil {
					storetest.RequireError(t, err, store.Unavailable, "")
					continue
				}
				made, done = made+1, done+1
				if _, err := s.Stock.List(t.Context(), store.ListQuery{}); err != nil {
					storetest.RequireError(t, err, store.Unavailable, "")
				}
			}
		}
		require.GreaterOrEqual(t, storetest.Available(t, s, "a"), made, "acknowledged writes are stored")
		require.LessOrEqual(t, storetest.Available(t, s, "a"), tried, "no write is stored twice")
		storetest.RequireLedger(t, backend.SQL(t))
	}
}

// databaseUnreachable makes the database refuse connections for a while.
func databaseUnreachable(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		backend.PostgresOnly(t)
		s, name := storetest.OpenWithStock(t, backend, 0, "a"), backend.DatabaseName(t)
		dbtest.AllowConnections(t, name, "FALSE")
		dbtest.EndSessions(t, name)
		for range 10 {
			storetest.RequireError(t, storetest.Increment(t.Context(), s, "a"), store.Unavailable, "", "Retry in a moment")
			_, err := s.Stock.List(t.Context(), store.ListQuery{})
			storetest.RequireError(t, err, store.Unavailable, "", "Retry in a moment")
			require.True(t, store.HasCode(s.Ping(t.Context()), store.Unavailable))
		}
		dbtest.AllowConnections(t, name, "TRUE")
		require.NoError(t, storetest.Increment(t.Context(), s, "a"))
		require.Equal(t, 1, storetest.Available(t, s, "a"))
	}
}
