package job_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/db"
	"portico/store/job"
	"portico/store/storetest"
	"portico/store/storetest/dbtest"
	"portico/store/storetest/testkit"
)

// Of several servers one sweeps at a time; the next takes over from one that is
// gone, and shutdown waits for no more than a batch.
func TestSweeps(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("servers share a sweep", sweepShared(backend))
		t.Run("a sweep whose server is gone is taken over", sweepTakenOver(backend))
		t.Run("a sweep ends with its server, and the next goes on", sweepHandedOn(backend))
		t.Run("a sweep that was asked for comes before its time", sweepSoon(backend))
		t.Run("a sweep that waits takes no connection from those who ask", sweepAside(backend))
	})
}

// opened is a database without a shop.
func opened(t *testing.T, backend storetest.Backend) *db.DB {
	t.Helper()
	d, err := dbtest.OpenDB(t.Context(), db.Config{URL: backend.URL(t), Synchronous: "OFF"})
	require.NoError(t, err)
	require.NoError(t, d.Follow(t.Context(), db.Hooks{}))
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// kept keeps a house until the test, or leave, ends it.
func kept(t *testing.T, h *job.Janitor) (leave func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); h.Run(ctx) }()
	leave = func() { cancel(); <-done }
	t.Cleanup(leave)
	return leave
}

func sweepShared(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		var at, most, times atomic.Int64
		sweep := db.Sweep{Name: "it", Every: time.Hour, Run: func(context.Context) error {
			most.Store(max(most.Load(), at.Add(1)))
			defer at.Add(-1)
			times.Add(1)
			time.Sleep(50 * time.Millisecond)
			return nil
		}}
		var all sync.WaitGroup
		for range 4 {
			h := job.NewJanitor(opened(t, backend), []db.Sweep{sweep})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			for range 2 { // workers of one server
				all.Go(func() { h.Run(ctx) })
			}
			all.Go(func() {
				defer cancel()
				testkit.Eventually(t, true, func() bool {
					gauges, err := h.Gauges(ctx)
					return err == nil && gauges[0].Ended
				})
			})
		}
		all.Wait()
		require.EqualValues(t, 1, most.Load(), "at once")
		require.EqualValues(t, 1, times.Load(), "within its time")
	}
}

func sweepTakenOver(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		lost := make(chan error, 1)
		gone := job.NewJanitor(opened(t, backend), []db.Sweep{{Name: "it", Every: time.Hour, Run: func(ctx context.Context) error {
			<-ctx.Done()
			lost <- ctx.Err()
			return ctx.Err()
		}}})
		swept := make(chan struct{}, 1)
		next := job.NewJanitor(opened(t, backend), []db.Sweep{{Name: "it", Every: time.Hour, Run: func(context.Context) error {
			swept <- struct{}{}
			return nil
		}}})
		kept(t, gone)
		sql := backend.SQL(t)
		testkit.Eventually(t, 1, func() (n int) {
			require.NoError(t, sql.QueryRow(`SELECT COUNT(*) FROM sweep WHERE worker <> ''`).Scan(&n))
			return n
		})
		kept(t, next)
		for taken := false; !taken; next.Request("it") { // against its server, which renews it
			_, err := sql.ExecContext(t.Context(), `UPDATE sweep SET beat_at = 1`)
			require.NoError(t, err)
			select {
			case <-swept:
				taken = true
			case <-time.After(10 * time.Millisecond):
			}
		}
		require.ErrorIs(t, <-lost, context.Canceled, "who lost it stops")
	}
}

func sweepHandedOn(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		d := opened(t, backend)
		begun := make(chan struct{}, 1)
		h := job.NewJanitor(d, []db.Sweep{{Name: "it", Every: time.Hour, Run: func(ctx context.Context) error {
			return d.InBatches(ctx, "", func(_ context.Context, _ *db.Tx, rows int) (int64, error) { // without an end
				select {
				case begun <- struct{}{}:
				default:
				}
				return int64(rows), nil
			})
		}}})
		leave := kept(t, h)
		<-begun
		leave()
		gauges, err := h.Gauges(t.Context())
		require.NoError(t, err)
		require.False(t, gauges[0].Ended)
		require.Positive(t, gauges[0].Swept)
		swept := make(chan struct{}, 1)
		kept(t, job.NewJanitor(opened(t, backend), []db.Sweep{{Name: "it", Every: time.Hour, Run: func(context.Context) error {
			swept <- struct{}{}
			return nil
		}}}))
		<-swept // at once, not when the lease is over
	}
}

func sweepSoon(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		var times atomic.Int64
		h := job.NewJanitor(opened(t, backend), []db.Sweep{{Name: "it", Every: time.Hour, Run: func(context.Context) error {
			times.Add(1)
			return nil
		}}})
		kept(t, h)
		testkit.Eventually(t, 1, func() int64 { return times.Load() })
		h.Request("it")
		testkit.Eventually(t, 2, func() int64 { return times.Load() })
	}
}

// sweepAside has a sweep wait for a table that somebody holds, of a server with
// one connection to read by, and one to write.
func sweepAside(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		if backend.Name == "sqlite" {
			t.Skip("nobody else holds a file's tables")
		}
		touch := func(table string) func(context.Context, *db.Tx) error {
			return func(ctx context.Context, t *db.Tx) error {
				_, err := t.Exec(ctx, `DELETE FROM `+table+` WHERE FALSE`)
				return err
			}
		}
		d, err := dbtest.OpenDB(t.Context(), db.Config{URL: backend.URL(t), Readers: 1, Timeouts: store.Timeouts{Connection: time.Second, Read: time.Minute, Lock: 20 * time.Second}})
		require.NoError(t, err)
		require.NoError(t, d.Follow(t.Context(), db.Hooks{}))
		t.Cleanup(func() { _ = d.Close() })
		for name, wait := range map[string]func(context.Context) error{
			"reads": func(ctx context.Context) error {
				_, _, err := db.One(ctx, d.Reader, db.Scalar[int], `SELECT COUNT(*) FROM gateway`)
				return err
			},
			"writes": func(ctx context.Context) error { return d.Update(ctx, "", touch("gateway")) },
		} {
			holder, err := backend.SQL(t).Begin()
			require.NoError(t, err)
			defer func() { _ = holder.Rollback() }()
			_, err = holder.Exec(`LOCK TABLE gateway IN ACCESS EXCLUSIVE MODE`)
			require.NoError(t, err)
			ended := make(chan error, 1)
			kept(t, job.NewJanitor(d, []db.Sweep{{Name: name, Every: time.Hour, Run: func(ctx context.Context) error {
				err := wait(ctx)
				ended <- err
				return err
			}}}))
			testkit.Eventually(t, 1, func() (waiting int) {
				require.NoError(t, backend.SQL(t).QueryRow(`SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting))
				return waiting
			})
			_, _, err = db.One(t.Context(), d.Reader, db.Scalar[int], `SELECT COUNT(*) FROM settings`)
			require.NoError(t, err, "while a sweep %s", name)
			require.NoError(t, d.Update(t.Context(), "", touch("settings")), "while a sweep %s", name)
			require.NoError(t, holder.Rollback())
			require.NoError(t, <-ended)
		}
	}
}
