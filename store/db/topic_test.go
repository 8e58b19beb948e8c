package db_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/db"
	"portico/store/storetest/dbtest"
	"portico/store/storetest/testkit"
)

// TestRollbackOfDatabaseIsDetected: a server whose database goes back to an earlier state, as
// after a restore, logs it and reloads everything.
func TestRollbackOfDatabaseIsDetected(t *testing.T) {
	t.Parallel()
	dbtest.EachBackend(t, func(t *testing.T, backend dbtest.Backend) {
		var log testkit.LogBuffer
		d, err := dbtest.OpenDB(t.Context(), db.Config{URL: backend.URL(t), Synchronous: "OFF", Log: slog.New(slog.NewTextHandler(&log, nil))})
		require.NoError(t, err)
		noticed := make(chan db.Topic, 100)
		require.NoError(t, d.Follow(t.Context(), db.Hooks{Changed: func(name db.Topic) { noticed <- name }}))
		t.Cleanup(func() { _ = d.Close() })
		other := backend.SQL(t)
		for range 2 {
			require.NoError(t, d.Update(t.Context(), "", func(ctx context.Context, t *db.Tx) error { return d.BumpTopic(ctx, t, db.TopicSettings) }))
		}
		time.Sleep(2 * db.PollEvery) // until the poll has seen them
		require.Zero(t, strings.Count(log.String(), "went back"))
		for n := range 2 {
			for len(noticed) > 0 {
				<-noticed
			}
			_, err = other.Exec(`UPDATE change SET version = version - 1`)
			require.NoError(t, err)
			for _, topic := range []db.Topic{db.TopicSettings, db.TopicCatalog, db.TopicKeys, db.TopicClients} { // reloaded when the database is complete
				require.Equal(t, topic, <-noticed)
			}
			testkit.Eventually(t, n+1, func() int { return strings.Count(log.String(), "the replaced database is complete") })
			require.Equal(t, n+1, strings.Count(log.String(), "went back to an earlier state"))
			require.NoError(t, d.Ping(t.Context()))
		}
	})
}

// TestSettingsReadAgain requires that settings which a reload finds unchanged keep their address, by which caches
// know them, and that changed ones do not.
func TestSettingsReadAgain(t *testing.T) {
	t.Parallel()
	dbtest.EachBackend(t, func(t *testing.T, backend dbtest.Backend) {
		d, err := dbtest.OpenDB(t.Context(), db.Config{URL: backend.URL(t), Synchronous: "OFF"})
		require.NoError(t, err)
		require.NoError(t, d.Follow(t.Context(), db.Hooks{}))
		t.Cleanup(func() { _ = d.Close() })
		settings := func() *store.Settings {
			read, err := d.Settings(t.Context())
			require.NoError(t, err)
			return read
		}
		first := settings()
		d.Reload()
		_, cached := d.CachedSettings()
		require.False(t, cached)
		require.Same(t, first, settings())
		_, err = backend.SQL(t).Exec(`UPDATE settings SET page_length = page_length + 1`)
		require.NoError(t, err)
		d.Reload()
		require.NotSame(t, first, settings())
		require.Equal(t, first.PageLength+1, settings().PageLength)
	})
}
