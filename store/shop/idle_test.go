package shop_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestPollIsOneStatement: a server without requests runs one statement a poll, which also looks for jobs,
// and no other.
func TestPollIsOneStatement(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		ctx, counter := store.CountStatements(t.Context())
		s, err := shop.Open(ctx, shop.Config{URL: backend.URL(t), Synchronous: "OFF", StockBytes: 1 << 20})
		require.NoError(t, err)
		t.Cleanup(func() { _ = s.Close() })
		ctx, stop := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() { defer close(done); s.Jobs.Work(ctx) }()
		t.Cleanup(func() { stop(); <-done })
		testkit.Eventually(t, true, func() bool { // until all sweeps have run and the stock is loaded
			gauges, err := s.Gauges(t.Context())
			require.NoError(t, err)
			for _, sweep := range gauges.Sweeps {
				if !sweep.Ended {
					return false
				}
			}
			return s.Stock.CacheStats().Loads > 0
		})
		polls := func() (polls, others []string) {
			for _, query := range counter.Queries() {
				if strings.Contains(query, "LEFT JOIN change") {
					polls = append(polls, query)
				} else {
					others = append(others, query)
				}
			}
			return polls, others
		}
		before, startup := polls()
		testkit.Eventually(t, true, func() bool { now, _ := polls(); return len(now) >= len(before)+4 })
		_, others := polls()
		require.Empty(t, others[len(startup):])
	})
}
