package db_test

import (
	"context"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/db"
	"portico/store/storetest/dbtest"
	"portico/store/storetest/testkit"
)

// TestAwait: a server that gets the token of another server's write then sees that write. An
// unknown token fails.
func TestAwait(t *testing.T) {
	t.Parallel()
	dbtest.EachBackend(t, func(t *testing.T, backend dbtest.Backend) {
		open := func() *db.DB {
			d, err := dbtest.OpenDB(t.Context(), db.Config{URL: backend.URL(t), Synchronous: "OFF"})
			require.NoError(t, err)
			require.NoError(t, d.Follow(t.Context(), db.Hooks{}))
			t.Cleanup(func() { _ = d.Close() })
			return d
		}
		writer, reader := open(), open()
		write := func(length int) (left store.ConsistencyToken) {
			ctx := store.WithWriteCallback(t.Context(), func(told store.ConsistencyToken) { left = told })
			require.NoError(t, writer.Update(ctx, "", func(ctx context.Context, t *db.Tx) error {
				if _, err := t.Exec(ctx, `UPDATE settings SET page_length = $1`, length); err != nil {
					return err
				}
				return writer.BumpTopic(ctx, t, db.TopicSettings)
			}))
			return left
		}
		for n := range testkit.QuickOrFull(10, 100) {
			left := write(n + 1)
			require.Len(t, left, 1)
			ctx, counter := store.CountStatements(t.Context())
			require.NoError(t, writer.Await(ctx, left), "one's own write")
			var group sync.WaitGroup
			for range 20 {
				group.Go(func() {
					if err := reader.Await(ctx, left); err != nil {
						t.Error(err)
						return
					}
					settings, err := reader.Settings(t.Context())
					if err != nil || settings.PageLength != n+1 {
						t.Error("the write is not shown: ", settings, err)
					}
				})
			}
			group.Wait()
			require.Zero(t, counter.Count(), "who waits asks the database for nothing")
		}
		for _, token := range []store.ConsistencyToken{{"settings": math.MaxInt64}, {"no topic": store.Micros(reader.Now())}} {
			require.True(t, store.HasCode(reader.Await(t.Context(), token), store.Unavailable), "%v is nowhere", token)
		}
		require.NoError(t, reader.Await(t.Context(), store.ConsistencyToken{"lost": 1}), "of a time long past")
		require.NoError(t, reader.Await(t.Context(), nil))
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		require.True(t, store.HasCode(reader.Await(gone, store.ConsistencyToken{"settings": math.MaxInt64}), store.Unavailable))
	})
}
