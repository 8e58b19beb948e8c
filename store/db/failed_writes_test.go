package db_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/db"
	"portico/store/storetest"
)

// TestFailedWrites: writes that the database does not take are counted by cause until one changes rows, which the server
// tries by itself. A write that changes nothing proves nothing.
func TestFailedWrites(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		storetest.PostgresOnly(t, backend)
		open := func(prepare func(*db.DB)) *db.DB { return follow(t, backend, nil, prepare) }
		s, name := open(func(d *db.DB) { d.TryWritesEvery(time.Hour) }), storetest.DatabaseName(t, backend)
		require.NoError(t, s.TryWrite(t.Context()))
		require.NoError(t, s.WriteTrouble())
		require.Equal(t, map[string]int64{"full": 0, "read_only": 0, "connection": 0}, s.FailedWrites())

		t.Cleanup(func() { storetest.SetReadOnly(t, name, "off") })
		storetest.SetReadOnly(t, name, "on")
		storetest.Eventually(t, true, func() bool { return s.TryWrite(t.Context()) != nil && s.FailedWrites()["read_only"] > 1 })
		require.ErrorIs(t, s.WriteTrouble(), store.ErrReadOnly)
		require.NoError(t, s.Update(t.Context(), "", func(context.Context, *db.Tx) error { return nil }))
		require.NotZero(t, s.FailedWrites()["read_only"], "nothing was written")

		other := open(func(d *db.DB) { d.TryWritesEvery(time.Millisecond) })
		storetest.Eventually(t, true, func() bool { return other.FailedWrites()["read_only"] > 1 }, "a server that starts tries by itself")
		storetest.SetReadOnly(t, name, "off")
		storetest.Eventually(t, int64(0), func() int64 { return other.FailedWrites()["read_only"] }, "by its own write")
		storetest.Eventually(t, true, func() bool { return s.TryWrite(t.Context()) == nil && s.FailedWrites()["read_only"] == 0 })
	})
}
