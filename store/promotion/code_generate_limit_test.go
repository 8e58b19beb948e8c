package promotion_test

import (
	"cmp"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/job"
	codex "portico/store/promotion/code"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

func generateLimited(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, _ := storetest.OpenWithLines(t, backend, storetest.PromotionLine("p", ``))
		ask := func(by store.Actor, count int) (*job.Job, error) {
			job, _, err := s.Codes.Generate(t.Context(), by, codex.Generation{PromotionID: "p", Count: count, Pattern: "################"})
			return job, err
		}
		refused := func(err error, holds string) {
			t.Helper()
			require.True(t, store.HasCode(err, store.RateLimited), "%v", err)
			require.ErrorContains(t, err, holds)
			require.ErrorContains(t, err, "cancel one")
		}
		first, err := ask("client:a", codex.MaxGeneratedCodes-1)
		require.NoError(t, err)
		require.Equal(t, codex.MaxGeneratedCodes-1, first.Total)
		_, err = ask("client:a", 2)
		refused(err, "already waits for 9999999 codes")
		_, err = ask("client:a", 1)
		require.NoError(t, err, "up to the limit")

		var asking sync.WaitGroup // the limit for all clients also holds for concurrent requests
		var taken atomic.Int64
		for i := range 12 {
			asking.Go(func() {
				_, err := ask(store.Actor(fmt.Sprintf("client:%d", i)), codex.MaxGeneratedCodes)
				if err == nil {
					taken.Add(1)
				} else if !store.HasCode(err, store.RateLimited) {
					t.Errorf("got %v", err)
				}
			})
		}
		asking.Wait()
		require.EqualValues(t, 4, taken.Load())
		_, err = ask("client:b", 1)
		refused(err, "all clients wait for")

		_, err = s.Jobs.Cancel(t.Context(), "client:a", first.ID)
		require.NoError(t, err)
		for range 100 {
			_, err = ask("client:b", 1)
			require.NoError(t, err, "below the limit again")
		}
		_, err = ask("client:b", 1)
		refused(err, "has 100 queued or running jobs")
		_, err = ask("client:c", 1)
		require.NoError(t, err)
	}
}

// generateConfiguredLimits checks each limit with a configured value, and the error of a
// request that could never succeed.
func generateConfiguredLimits(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		for name, c := range map[string]struct {
			room job.Quota
			ask  []int // codes of each job; each of another client if the limit is for all
			all  bool
			over int
			says string
		}{
			"jobs of a client": {job.Quota{ClientJobs: 2}, []int{1, 1}, false, 1, "has 2 queued or running jobs; the limit is 2; "},
			"codes of a client": {job.Quota{ClientCodes: 10}, []int{4, 6}, false, 1,
				"count is too high, 1: this client already waits for 10 codes; the limit is 10; "},
			"codes of all": {job.Quota{Codes: 10}, []int{4, 6}, true, 1,
				"count is too high, 1: all clients wait for 10 codes; the limit is 10; "},
		} {
			t.Run(name, func(t *testing.T) {
				s := backend.Open(t, storetest.WithClock(testkit.NewClock(testkit.Noon)), func(config *shop.Config) { config.JobQuota = c.room })
				storetest.Import(t, s, storetest.PromotionLine("p", ``))
				requested, by := []*job.Job{}, store.Actor("client:a")
				ask := func(count int) error {
					if c.all {
						by += "a"
					}
					job, _, err := s.Codes.Generate(t.Context(), by, codex.Generation{PromotionID: "p", Count: count, Pattern: "################"})
					requested = append(requested, job)
					return err
				}
				for _, count := range c.ask {
					require.NoError(t, ask(count))
				}
				err := ask(c.over)
				require.True(t, store.HasCode(err, store.RateLimited), "%v", err)
				require.ErrorContains(t, err, c.says+"retry when a job has finished, or cancel one.")
				for _, job := range requested[:len(c.ask)] {
					_, err := s.Jobs.Cancel(t.Context(), "client:a", job.ID)
					require.NoError(t, err)
				}
				if most := min(cmp.Or(c.room.ClientCodes, math.MaxInt), cmp.Or(c.room.Codes, math.MaxInt)); most < math.MaxInt {
					storetest.RequireError(t, ask(most+1), store.Unprocessable, "count", "must be at most 10, got 11")
					require.NoError(t, ask(most))
				} else {
					require.NoError(t, ask(1))
				}
				_, err = s.Jobs.Cancel(t.Context(), "client:a", requested[len(requested)-1].ID)
				require.NoError(t, err)
			})
		}
	}
}
