package shop_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/job"
	"portico/store/promotion/code"
	"portico/store/promotion/redeem"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestClockSkew moves the clock of servers by minutes, hours and years. Nothing is lost, done
// twice or ended early: leases and heartbeats use the database's clock, and rows expire only if
// they are old by both clocks.
func TestClockSkew(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("a job runs once, on the worker that holds its lease", skewJobs(backend))
		t.Run("a sweep does not delete a live build", skewBuilds(backend))
		t.Run("a swept build starts again", skewSweptBuild(backend))
		t.Run("the last publication is current, and cursors continue", skewReleases(backend))
		t.Run("schedules recover with the clock", skewSchedules(backend))
		t.Run("idempotency keys keep their results", skewIdempotencyKeys(backend))
		t.Run("a full key quota recovers in time", skewKeyRefusals(backend))
		t.Run("the ledger keeps its order", skewLedgers(backend))
		t.Run("a new signing key signs", skewSigningKeys(backend))
		t.Run("an old secret works for its grace period", skewSecrets(backend))
		t.Run("a server a year ahead deletes nothing early", skewYearAhead(backend))
		t.Run("rows of a server a year behind are not old at once", skewYearBehind(backend))
		t.Run("a retry on a server that is off by a day or a year does not run again", skewRetries(backend))
		t.Run("keys of a server that is ahead are evicted", skewKeyQuota(backend))
		t.Run("a promotion keeps its codes until it ends", skewPromotions(backend))
	})
}

// clockSteps are offsets from Noon.
var clockSteps = []time.Duration{time.Minute, -2 * time.Minute, 2 * time.Hour, -5 * time.Hour, 20 * time.Hour, 0}

// stepClocks sets clocks to random offsets of clockSteps until stop.
func stepClocks(t *testing.T, clocks ...*testkit.Clock) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ctx.Err() == nil; i++ {
			for n, clock := range clocks {
				clock.Set(testkit.Noon.Add(clockSteps[(i+3*n)%len(clockSteps)]))
			}
			select {
			case <-ctx.Done():
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

// warningCounter is a slog.Handler that counts warnings and errors.
type warningCounter struct {
	slog.Handler
	count *atomic.Int64
}

func (w warningCounter) Enabled(context.Context, slog.Level) bool { return true }
func (w warningCounter) Handle(_ context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		w.count.Add(1)
	}
	return nil
}
func (w warningCounter) WithAttrs([]slog.Attr) slog.Handler { return w }
func (w warningCounter) WithGroup(string) slog.Handler      { return w }

func skewJobs(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		var warned atomic.Int64
		count := testkit.QuickOrFull(6_000, 60_000)
		clocks := []*testkit.Clock{testkit.NewClock(testkit.Noon), testkit.NewClock(testkit.Noon)}
		var stores []*shop.Store
		for _, clock := range clocks {
			stores = append(stores, backend.Open(t, storetest.WithClock(clock), func(c *shop.Config) { c.Log = slog.New(warningCounter{slog.DiscardHandler, &warned}) }))
		}
		storetest.Import(t, stores[0], storetest.PromotionLine("p", ``))
		stop := stepClocks(t, clocks...)
		var jobs []*job.Job
		for range 3 {
			jobs = append(jobs, storetest.GenerateCodes(t, stores[0], code.Generation{PromotionID: "p", Count: count}))
		}
		for _, s := range stores {
			storetest.RunWorker(t, s)
			storetest.RunWorker(t, s)
		}
		for _, task := range jobs {
			task = storetest.WaitForJob(t, stores[0], task.ID)
			require.Equal(t, job.Succeeded, task.State, task.Error)
			require.Equal(t, count, task.Done)
		}
		for _, s := range stores {
			require.NoError(t, s.Sweep(t.Context()), "concurrently with the workers")
		}
		stop()
		require.Zero(t, warned.Load(), "no lost lease and no failed sweep")
		for _, clock := range clocks {
			clock.Set(testkit.Noon)
		}
		require.Len(t, storetest.ExportedCodes(t, stores[0], "p"), len(jobs)*count)
		for _, task := range jobs {
			_, err := stores[1].Jobs.Get(t.Context(), task.ID)
			require.NoError(t, err, "the job can be read")
		}
	}
}

func skewBuilds(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		builders, sweepers := testkit.NewClock(testkit.Noon), testkit.NewClock(testkit.Noon)
		s, sweeper, db := backend.Open(t, storetest.WithClock(builders), storetest.WithoutDeltas), backend.Open(t, storetest.WithClock(sweepers)), backend.SQL(t)
		storetest.Import(t, s, storetest.ShopFile)
		number := func() string { return storetest.QueryText(t, db, `SELECT value FROM counter WHERE name = 'release'`) }
		for i, step := range clockSteps {
			storetest.RenameProducts(t, s, strconv.Itoa(i))
			made, err := s.Publisher.Publish(t.Context(), storetest.Actor, "main", func(int, int) {
				sweepers.Set(testkit.Noon.Add(step))
				builders.Set(testkit.Noon.Add(-step))
				require.NoError(t, sweeper.Sweep(t.Context()))
			})
			require.NoError(t, err)
			require.Equal(t, strconv.FormatInt(made.ID, 10), number(), "the release was built once")
			require.Equal(t, strconv.Itoa(i+1), number())
			require.Equal(t, made.ID, storetest.View(t, s, release.ShopperContext{}).Release.ID)
		}
		require.Zero(t, storetest.CountRows(t, db, `release WHERE state <> 'published'`))
	}
}

func skewSweptBuild(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, db := backend.Open(t, storetest.WithoutDeltas), backend.SQL(t)
		storetest.Import(t, s, storetest.ShopFile)
		swept := false
		made, err := s.Publisher.Publish(t.Context(), storetest.Actor, "main", func(int, int) {
			if !swept {
				swept = true
				storetest.AgeBuilds(t, db)
				require.NoError(t, s.Sweep(t.Context()))
			}
		})
		require.NoError(t, err)
		require.Equal(t, "2", storetest.QueryText(t, db, `SELECT value FROM counter WHERE name = 'release'`))
		require.Equal(t, made.ID, storetest.View(t, s, release.ShopperContext{}).Release.ID)
		require.Equal(t, 1, storetest.CountRows(t, db, "release"))
		storetest.RequireNoOrphans(t, db)

		storetest.RenameProducts(t, s, "new")
		_, err = s.Publisher.Publish(t.Context(), storetest.Actor, "main", func(int, int) {
			storetest.AgeBuilds(t, db)
			require.NoError(t, s.Sweep(t.Context()))
		})
		storetest.RequireError(t, err, store.Conflict, "", "Publish again") // gives up without progress
		require.Equal(t, made.ID, storetest.View(t, s, release.ShopperContext{}).Release.ID)
	}
}

func skewReleases(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		s := storetest.OpenPublished(t, backend, storetest.WithClock(clock))
		for i, step := range clockSteps {
			_, cursor := storetest.FirstPage(t, storetest.View(t, s, release.ShopperContext{}))
			clock.Set(testkit.Noon.Add(step))
			storetest.RenameProducts(t, s, fmt.Sprint("v", i))
			storetest.Publish(t, s, "main")
			name, _ := storetest.FirstPage(t, storetest.View(t, s, release.ShopperContext{}))
			require.Equal(t, fmt.Sprintf("v%d Glue", i), name, "the last publication")
			require.NoError(t, s.Sweep(t.Context()))
			slice, err := storetest.NextPage(storetest.View(t, s, release.ShopperContext{}), cursor)
			require.NoError(t, err, "after %s", step)
			require.Len(t, slice.Items, 1)
		}
	}
}

func skewSchedules(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		s := storetest.OpenPublished(t, backend, storetest.WithClock(clock))
		storetest.Import(t, s, storetest.JoinLines(storetest.OutletRuleLine("hour", `"channels":["web"],"schedules":[{"valid_from":"2024-05-30T13:00:00.000Z","valid_to":"2024-05-30T15:00:00.000Z"}],`))+
			storetest.PromotionLine("p", `,"start":"2024-05-30T10:00:00","end":"2024-05-30T15:00:00"`)+"\n"+storetest.CodeLine("p", "HOLDS", ``)+"\n"+storetest.CodeLine("p", "USED", `,"uses":2`))
		_, err := s.Redemptions.Redeem(t.Context(), storetest.Actor, redeem.CodeUse{Code: "USED", Units: 1, Reference: "order"})
		require.NoError(t, err)
		for range 2 {
			for _, step := range clockSteps {
				clock.Set(testkit.Noon.Add(step))
				want := "main"
				if step == 2*time.Hour {
					want = "outlet"
				}
				require.Equal(t, want, storetest.ShopperCatalog(t, s, release.ShopperContext{Channel: "web"}), "%s", step)
				require.NoError(t, s.Sweep(t.Context()))
				storetest.Publish(t, s, "main", "outlet")
			}
		}
		c, err := s.Codes.Get(t.Context(), "USED")
		require.NoError(t, err)
		require.Equal(t, []any{true, 1}, []any{c.Held, c.Used})
		_, err = s.Codes.Get(t.Context(), "HOLDS")
		require.NoError(t, err)
	}
}

func skewIdempotencyKeys(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clocks := []*testkit.Clock{testkit.NewClock(testkit.Noon), testkit.NewClock(testkit.Noon)}
		first := storetest.OpenWithStock(t, backend, 0, "a")
		stores := []*shop.Store{backend.Open(t, storetest.WithClock(clocks[0])), backend.Open(t, storetest.WithClock(clocks[1]))}
		for i := range clockSteps {
			key := fmt.Sprint("k", i)
			replayed, err := storetest.IncrementWithKey(t, stores[0], "client:a", key)
			require.NoError(t, err)
			require.False(t, replayed)
			for _, step := range clockSteps {
				clocks[0].Set(testkit.Noon.Add(step))
				clocks[1].Set(testkit.Noon.Add(-step))
				for _, s := range stores {
					require.NoError(t, s.Sweep(t.Context()))
					replayed, err := storetest.IncrementWithKey(t, s, "client:a", key)
					require.NoError(t, err)
					require.True(t, replayed, "after %s", step)
				}
			}
		}
		require.Equal(t, len(clockSteps), storetest.Available(t, first, "a"))
	}
}

func skewKeyRefusals(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		storetest.OpenWithStock(t, backend, 0, "a")
		s, db := backend.Open(t, storetest.WithClock(clock), storetest.WithKeyQuota(5, 0)), backend.SQL(t)
		var err error
		for i := 0; err == nil && i < 10; i++ {
			_, err = storetest.IncrementWithKey(t, s, "client:a", fmt.Sprint("k", i))
		}
		require.True(t, store.HasCode(err, store.RateLimited), "%v", err)
		_, err = db.Exec(`DELETE FROM idempotency_key`)
		require.NoError(t, err)
		_, err = storetest.IncrementWithKey(t, s, "client:a", "still")
		require.True(t, store.HasCode(err, store.RateLimited), "%v", err)
		clock.Advance(-2 * time.Hour)
		_, err = storetest.IncrementWithKey(t, s, "client:a", "later")
		require.NoError(t, err, "after less than two hours")
	}
}

func skewLedgers(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clocks := []*testkit.Clock{testkit.NewClock(testkit.Noon), testkit.NewClock(testkit.Noon)}
		storetest.OpenWithStock(t, backend, 0, "a")
		stores := []*shop.Store{backend.Open(t, storetest.WithClock(clocks[0])), backend.Open(t, storetest.WithClock(clocks[1]))}
		stop := stepClocks(t, clocks...)
		var writers sync.WaitGroup
		var failed atomic.Pointer[error]
		const each = 100
		for _, s := range stores {
			writers.Go(func() {
				for range each {
					if err := storetest.Increment(t.Context(), s, "a"); err != nil {
						failed.Store(&err)
					}
					if err := s.Sweep(t.Context()); err != nil {
						failed.Store(&err)
					}
				}
			})
		}
		writers.Wait()
		stop()
		if err := failed.Load(); err != nil {
			require.NoError(t, errors.Join(*err))
		}
		require.Equal(t, len(stores)*each, storetest.Available(t, stores[0], "a"))
		testkit.Eventually(t, len(stores)*each, func() int { return storetest.Available(t, stores[1], "a") })
		storetest.RequireLedger(t, backend.SQL(t))
	}
}

func skewSigningKeys(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock, sealer := testkit.NewClock(testkit.Noon), storetest.NewSealer(t, 1)
		s := backend.Open(t, storetest.WithClock(clock))
		_, err := s.Access.SigningKeys(t.Context(), sealer)
		require.NoError(t, err)
		for _, step := range clockSteps {
			clock.Set(testkit.Noon.Add(step))
			made, err := s.Access.RotateSigningKey(t.Context(), storetest.Actor, sealer, 0, false)
			require.NoError(t, err)
			for _, later := range []time.Duration{0, 6 * time.Hour, 48 * time.Hour} {
				clock.Set(testkit.Noon.Add(step + later))
				require.NoError(t, s.Sweep(t.Context()))
				keys, err := s.Access.SigningKeyStates(t.Context())
				require.NoError(t, err)
				require.Equal(t, []any{made, true}, []any{keys[0].ID, keys[0].Signs}, "after %s and %s", step, later)
			}
		}
	}
}
