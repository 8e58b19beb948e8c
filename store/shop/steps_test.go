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
)

// TestClockSkew is the promise about a program's clock that is set, forwards and
// backwards, by minutes and hours: nothing is lost, done twice, or ended that
// nobody asked to end. Leases and signs of life are by the database's clock, and
// what goes by its age is old by both.
func TestClockSkew(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("a job is done once, by the one who holds it", stepsOfJobs(backend))
		t.Run("no sweep takes a build that lives for dead", stepsOfBuilds(backend))
		t.Run("a build that was swept begins again", stepsSwept(backend))
		t.Run("the last publication is served, and lists are read on", stepsOfReleases(backend))
		t.Run("schedules are as before once the clock is", stepsOfSchedules(backend))
		t.Run("what was done under a key stays done", stepsOfKeys(backend))
		t.Run("keys are refused for no longer than they would be", stepsOfRefusals(backend))
		t.Run("a ledger keeps its order", stepsOfLedgers(backend))
		t.Run("a signing key that is made signs", stepsOfSigningKeys(backend))
		t.Run("a secret that was replaced is good for its grace, whoever's clock is off", stepsOfSecrets(backend))
		t.Run("who is a year ahead does away with nothing early", stepsOfAYearAhead(backend))
		t.Run("what ends on one that is a year behind is not old at once", stepsOfAYearBehind(backend))
		t.Run("a retry on one that is a day or a year off is not made again", stepsOfRetries(backend))
		t.Run("keys of one that is ahead make room", stepsOfKeyRoom(backend))
		t.Run("a promotion keeps its codes until it has ended", stepsOfPromotions(backend))
	})
}

// steps are what a clock is set to, about noon.
var steps = []time.Duration{time.Minute, -2 * time.Minute, 2 * time.Hour, -5 * time.Hour, 20 * time.Hour, 0}

// stepping sets clocks again and again, each to another time, until stop.
func stepping(t *testing.T, clocks ...*storetest.Clock) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ctx.Err() == nil; i++ {
			for n, clock := range clocks {
				clock.Set(storetest.Noon.Add(steps[(i+3*n)%len(steps)]))
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

// warnings counts what a log warns of, and worse.
type warnings struct {
	slog.Handler
	count *atomic.Int64
}

func (w warnings) Enabled(context.Context, slog.Level) bool { return true }
func (w warnings) Handle(_ context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		w.count.Add(1)
	}
	return nil
}
func (w warnings) WithAttrs([]slog.Attr) slog.Handler { return w }
func (w warnings) WithGroup(string) slog.Handler      { return w }

func stepsOfJobs(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		var warned atomic.Int64
		count := storetest.QuickOrFull(6_000, 60_000)
		clocks := []*storetest.Clock{storetest.NewClock(storetest.Noon), storetest.NewClock(storetest.Noon)}
		var stores []*shop.Store
		for _, clock := range clocks {
			stores = append(stores, backend.Open(t, storetest.WithClock(clock), func(c *shop.Config) { c.Log = slog.New(warnings{slog.DiscardHandler, &warned}) }))
		}
		storetest.Import(t, stores[0], storetest.PromotionLine("p", ``))
		stop := stepping(t, clocks...)
		var jobs []*job.Job
		for range 3 {
			jobs = append(jobs, storetest.GenerateCodes(t, stores[0], code.CodeGeneration{PromotionID: "p", Count: count}))
		}
		for _, s := range stores {
			storetest.RunWorker(t, s)
			storetest.RunWorker(t, s)
		}
		for _, task := range jobs {
			task = storetest.WaitForJob(t, stores[0], task.ID)
			require.Equal(t, job.JobSucceeded, task.State, task.Error)
			require.Equal(t, count, task.Done)
		}
		for _, s := range stores {
			require.NoError(t, s.Sweep(t.Context()), "beside the workers' own")
		}
		stop()
		require.Zero(t, warned.Load(), "no job was taken over, and no sweep failed")
		for _, clock := range clocks {
			clock.Set(storetest.Noon)
		}
		require.Len(t, storetest.ExportedCodes(t, stores[0], "p"), len(jobs)*count)
		for _, task := range jobs {
			_, err := stores[1].Job(t.Context(), task.ID)
			require.NoError(t, err, "it can be asked for")
		}
	}
}

func stepsOfBuilds(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		builders, sweepers := storetest.NewClock(storetest.Noon), storetest.NewClock(storetest.Noon)
		s, sweeper, db := backend.Open(t, storetest.WithClock(builders), storetest.WithoutDeltas), backend.Open(t, storetest.WithClock(sweepers)), backend.SQL(t)
		storetest.Import(t, s, storetest.ShopFile)
		number := func() string { return storetest.QueryText(t, db, `SELECT value FROM counter WHERE name = 'release'`) }
		for i, step := range steps {
			storetest.RenameProducts(t, s, strconv.Itoa(i))
			made, err := s.Publish(t.Context(), storetest.Actor, "main", func(int, int) {
				sweepers.Set(storetest.Noon.Add(step))
				builders.Set(storetest.Noon.Add(-step))
				require.NoError(t, sweeper.Sweep(t.Context()))
			})
			require.NoError(t, err)
			require.Equal(t, strconv.FormatInt(made.ID, 10), number(), "it was built once")
			require.Equal(t, strconv.Itoa(i+1), number())
			require.Equal(t, made.ID, storetest.View(t, s, release.ShopperContext{}).Release.ID)
		}
		require.Zero(t, storetest.CountRows(t, db, `release WHERE state <> 'published'`))
	}
}

func stepsSwept(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, db := backend.Open(t, storetest.WithoutDeltas), backend.SQL(t)
		storetest.Import(t, s, storetest.ShopFile)
		swept := false
		made, err := s.Publish(t.Context(), storetest.Actor, "main", func(int, int) {
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
		_, err = s.Publish(t.Context(), storetest.Actor, "main", func(int, int) {
			storetest.AgeBuilds(t, db)
			require.NoError(t, s.Sweep(t.Context()))
		})
		storetest.RequireError(t, err, store.Conflict, "", "publish again") // what never moves ends
		require.Equal(t, made.ID, storetest.View(t, s, release.ShopperContext{}).Release.ID)
	}
}

func stepsOfReleases(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := storetest.NewClock(storetest.Noon)
		s := storetest.OpenPublished(t, backend, storetest.WithClock(clock))
		for i, step := range steps {
			_, cursor := storetest.FirstPage(t, storetest.View(t, s, release.ShopperContext{}))
			clock.Set(storetest.Noon.Add(step))
			storetest.RenameProducts(t, s, fmt.Sprint("v", i))
			storetest.Publish(t, s, "main")
			name, _ := storetest.FirstPage(t, storetest.View(t, s, release.ShopperContext{}))
			require.Equal(t, fmt.Sprintf("v%d Glue", i), name, "the last one, whatever the clock said of those before")
			require.NoError(t, s.Sweep(t.Context()))
			slice, err := storetest.NextPage(storetest.View(t, s, release.ShopperContext{}), cursor)
			require.NoError(t, err, "after %s", step)
			require.Len(t, slice.Items, 1)
		}
	}
}

func stepsOfSchedules(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := storetest.NewClock(storetest.Noon)
		s := storetest.OpenPublished(t, backend, storetest.WithClock(clock))
		storetest.Import(t, s, storetest.JoinLines(storetest.OutletRuleLine("hour", `"channels":["web"],"schedules":[{"valid_from":"2024-05-30T13:00:00.000Z","valid_to":"2024-05-30T15:00:00.000Z"}],`))+
			storetest.PromotionLine("p", `,"start":"2024-05-30T10:00:00","end":"2024-05-30T15:00:00"`)+"\n"+storetest.CodeLine("p", "HOLDS", ``)+"\n"+storetest.CodeLine("p", "USED", `,"uses":2`))
		_, err := s.RedeemCode(t.Context(), storetest.Actor, redeem.CodeUse{Code: "USED", Units: 1, Reference: "order"})
		require.NoError(t, err)
		for range 2 {
			for _, step := range steps {
				clock.Set(storetest.Noon.Add(step))
				want := "main"
				if step == 2*time.Hour {
					want = "outlet"
				}
				require.Equal(t, want, storetest.ShopperCatalog(t, s, release.ShopperContext{Channel: "web"}), "%s", step)
				require.NoError(t, s.Sweep(t.Context()))
				storetest.Publish(t, s, "main", "outlet")
			}
		}
		c, err := s.PromotionCode(t.Context(), "USED")
		require.NoError(t, err)
		require.Equal(t, []any{true, 1}, []any{c.Held, c.Used})
		_, err = s.PromotionCode(t.Context(), "HOLDS")
		require.NoError(t, err)
	}
}

func stepsOfKeys(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clocks := []*storetest.Clock{storetest.NewClock(storetest.Noon), storetest.NewClock(storetest.Noon)}
		first := storetest.OpenWithStock(t, backend, 0, "a")
		stores := []*shop.Store{backend.Open(t, storetest.WithClock(clocks[0])), backend.Open(t, storetest.WithClock(clocks[1]))}
		for i := range steps {
			key := fmt.Sprint("k", i)
			replayed, err := storetest.IncrementWithKey(t, stores[0], "client:a", key)
			require.NoError(t, err)
			require.False(t, replayed)
			for _, step := range steps {
				clocks[0].Set(storetest.Noon.Add(step))
				clocks[1].Set(storetest.Noon.Add(-step))
				for _, s := range stores {
					require.NoError(t, s.Sweep(t.Context()))
					replayed, err := storetest.IncrementWithKey(t, s, "client:a", key)
					require.NoError(t, err)
					require.True(t, replayed, "after %s", step)
				}
			}
		}
		require.Equal(t, len(steps), storetest.Available(t, first, "a"))
	}
}

func stepsOfRefusals(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := storetest.NewClock(storetest.Noon)
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
		require.NoError(t, err, "and not for two hours")
	}
}

func stepsOfLedgers(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clocks := []*storetest.Clock{storetest.NewClock(storetest.Noon), storetest.NewClock(storetest.Noon)}
		storetest.OpenWithStock(t, backend, 0, "a")
		stores := []*shop.Store{backend.Open(t, storetest.WithClock(clocks[0])), backend.Open(t, storetest.WithClock(clocks[1]))}
		stop := stepping(t, clocks...)
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
		storetest.Eventually(t, len(stores)*each, func() int { return storetest.Available(t, stores[1], "a") })
		storetest.RequireLedger(t, backend.SQL(t))
	}
}

func stepsOfSigningKeys(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock, sealer := storetest.NewClock(storetest.Noon), storetest.NewSealer(t, 1)
		s := backend.Open(t, storetest.WithClock(clock))
		_, err := s.SigningKeys(t.Context(), sealer)
		require.NoError(t, err)
		for _, step := range steps {
			clock.Set(storetest.Noon.Add(step))
			made, err := s.RotateSigningKey(t.Context(), storetest.Actor, sealer, 0, false)
			require.NoError(t, err)
			for _, later := range []time.Duration{0, 6 * time.Hour, 48 * time.Hour} {
				clock.Set(storetest.Noon.Add(step + later))
				require.NoError(t, s.Sweep(t.Context()))
				keys, err := s.SigningKeyStates(t.Context())
				require.NoError(t, err)
				require.Equal(t, []any{made, true}, []any{keys[0].ID, keys[0].Signs}, "after %s and %s", step, later)
			}
		}
	}
}
