package stock_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// stocksUnderWrites pages through the list while writers change the "hot" half of it. Rows that
// keep their position come exactly once. A row that moves with its updated_at may come at both
// positions or at none.
func stocksUnderWrites(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		var rows []stock.Stock
		for i := range 120 {
			kind := []string{"hot", "calm"}[i%2]
			moment := testkit.Noon.Add(time.Duration(i/20) * time.Millisecond) // twenty rows share each time
			rows = append(rows, stock.Stock{ProductID: fmt.Sprintf("%s-%d", kind, i), Available: 1000, CreatedAt: moment, UpdatedAt: moment})
		}
		storetest.SeedStock(t, backend.SQL(t), rows...)
		s := backend.Open(t, storetest.WithClock(clock))
		writes, stop := writeHot(t, s, clock, rows)
		for _, sort := range allSorts() {
			for before := writes.Load(); writes.Load() == before; { // each pass sees writes
				time.Sleep(time.Millisecond)
			}
			still := func(ids []string) []string { return ids }
			if sort.By == store.SortUpdatedAt {
				still = func(ids []string) []string {
					return slices.DeleteFunc(ids, func(id string) bool { return strings.HasPrefix(id, "hot") })
				}
			}
			w := pager{s: s, size: 7, query: store.ListQuery{Sort: sort}}
			want := still(sortedIDs(rows, sort))
			require.Equal(t, want, still(w.forwards(t)), "forwards, %+v", sort)
			require.Equal(t, want, still(w.backwards(t)), "backwards, %+v", sort)
			if sort.By != store.SortUpdatedAt {
				require.Equal(t, want, w.byOffset(t), "by offset, %+v", sort)
			}
		}
		stop()
		storetest.RequireLedger(t, backend.SQL(t))
	}
}

// writeHot runs four writers that change the hot rows until stop, which reports their failures.
func writeHot(t *testing.T, s *shop.Store, clock *testkit.Clock, rows []stock.Stock) (writes *atomic.Int64, stop func()) {
	writes = &atomic.Int64{}
	ended, group := make(chan struct{}), sync.WaitGroup{}
	failures := make(chan error, 4)
	for writer := range 4 {
		group.Go(func() {
			for i := writer; ; i++ {
				select {
				case <-ended:
					return
				default:
				}
				clock.Advance(time.Millisecond)
				hot := rows[i%(len(rows)/2)*2].ProductID
				_, err := s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{{ProductID: hot, Action: stock.StockIncrement, Quantity: 1}})
				if err != nil {
					failures <- err
					writes.Add(1 << 32) // ends the wait for writes
					return
				}
				writes.Add(1)
			}
		})
	}
	var once sync.Once
	stop = func() {
		once.Do(func() {
			close(ended)
			group.Wait()
			close(failures)
			for err := range failures {
				t.Errorf("a writer failed: %v", err)
			}
		})
	}
	t.Cleanup(stop)
	return writes, stop
}
