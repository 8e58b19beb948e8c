package shop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/promotion/code"
	"portico/store/promotion/rule"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

func TestIdempotencyKeys(t *testing.T) {
	t.Parallel()
	storetest.EachBackendInQuickTests(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("a repeated write returns the first result", keyReplays(backend))
		t.Run("the stored form of results, which other versions read", keyStoredForm(backend))
		t.Run("a key with another input is refused", keyReused(backend))
		t.Run("keys are scoped to client and operation", keyScoped(backend))
		t.Run("a failed write stores no key", keyFailedWrite(backend))
		t.Run("a key is 1 to 255 visible ASCII characters", keyForms(backend))
		t.Run("of equal concurrent writes one runs", keyConcurrent(backend))
		t.Run("of different concurrent writes with one key one runs", keyConflict(backend))
		t.Run("a key lasts 24 hours", keyExpired(backend))
		t.Run("expired keys are swept", keysSwept(backend))
		t.Run("new keys evict a client's oldest keys", keysEvicted(backend))
		t.Run("no key is evicted within its first hour", keysProtected(backend))
	})
}

func keysEvicted(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		storetest.SeedStock(t, backend.SQL(t), stock.Stock{ProductID: "a", CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon})
		for name, bound := range map[string]func(*shop.Config){"n": storetest.WithKeyQuota(10, 0), "b": storetest.WithKeyQuota(0, 10*300)} { // a result takes 200 to 300 bytes
			s := backend.Open(t, storetest.WithClock(clock), bound)
			for i := range 40 {
				_, err := storetest.IncrementWithKey(t, s, "client:a", name+fmt.Sprint(i))
				require.NoError(t, err)
				_, err = storetest.IncrementWithKey(t, s, "client:b", "one")
				require.NoError(t, err)
				clock.Advance(20 * time.Minute)
			}
			var kept int
			require.NoError(t, backend.SQL(t).QueryRowContext(t.Context(), `SELECT COUNT(*) FROM idempotency_key WHERE client = 'client:a'`).Scan(&kept))
			require.Greater(t, kept, 5)
			require.Less(t, kept, 20)
			replayed, err := storetest.IncrementWithKey(t, s, "client:a", name+"39")
			require.NoError(t, err)
			require.True(t, replayed, "the newest keys remain")
			clock.Advance(48 * time.Hour)
		}
	}
}

func keysProtected(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		s := backend.Open(t, storetest.WithClock(clock), storetest.WithKeyQuota(10, 0))
		storetest.SeedStock(t, backend.SQL(t), stock.Stock{ProductID: "a", CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon})
		made := 0
		var refusal error
		for i := 0; refusal == nil && i < 100; i++ {
			if _, refusal = storetest.IncrementWithKey(t, s, "client:a", fmt.Sprint(i)); refusal == nil {
				made++
			}
			clock.Advance(time.Second)
		}
		storetest.RequireError(t, refusal, store.RateLimited, "idempotency_key", "10 keys", "without a key")
		require.Less(t, made, 15)
		for i := range made {
			replayed, err := storetest.IncrementWithKey(t, s, "client:a", fmt.Sprint(i))
			require.NoError(t, err)
			require.True(t, replayed, "no key was evicted")
		}
		require.Equal(t, made, storetest.Available(t, s, "a"), "no write ran twice")
		_, err := storetest.IncrementWithKey(t, s, "client:b", "another")
		require.NoError(t, err)
		change := []stock.Change{{ProductID: "a", Action: stock.StockIncrement, Quantity: 1}}
		_, err = s.Stock.Transact(t.Context(), "client:a", change)
		require.NoError(t, err, "without a key")
		clock.Advance(2 * time.Hour)
		_, err = storetest.IncrementWithKey(t, s, "client:a", "later")
		require.NoError(t, err)
	}
}

func keyReplays(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		s := storetest.OpenWithStock(t, backend, 10, "a", "b")
		late := backend.Open(t, storetest.WithClock(clock))
		var replayed atomic.Int64
		change := []stock.Change{{ProductID: "b", Action: stock.StockSet, Quantity: 3, Reason: `a "quoted" é reason`}, {ProductID: "a", Action: stock.StockDecrement, Quantity: 10}}
		first, err := s.Stock.Transact(storetest.WithIdempotencyKey(t.Context(), "k", "o", change, &replayed), storetest.Actor, change)
		require.NoError(t, err)
		require.Zero(t, replayed.Load())
		clock.Advance(time.Hour)
		for range 3 {
			again, err := late.Stock.Transact(storetest.WithIdempotencyKey(t.Context(), "k", "o", change, &replayed), storetest.Actor, change)
			require.NoError(t, err)
			require.Equal(t, first, again, "all members")
		}
		require.EqualValues(t, 3, replayed.Load())
		require.Equal(t, []int{0, 3}, []int{storetest.Available(t, s, "a"), storetest.Available(t, s, "b")})
		storetest.RequireLedger(t, backend.SQL(t))
	}
}

// keyStoredForm checks the form of rows that live for a day, while servers of other versions
// read them.
func keyStoredForm(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		s := backend.Open(t, storetest.WithClock(clock))
		var replayed atomic.Int64
		under := func(key string) context.Context {
			return storetest.WithIdempotencyKey(t.Context(), key, "o", nil, &replayed)
		}
		write := func() (p *rule.Promotion, codes []*code.PromotionCode) {
			p, err := s.Promotions.Create(under("one"), storetest.Actor, "", storetest.TenPercentOff(clock.Now()))
			require.NoError(t, err)
			_, codes, err = s.Codes.Create(under("two"), storetest.Actor, p.ID, []code.NewCode{{Code: "a"}}, "")
			require.NoError(t, err)
			return p, codes
		}
		p, codes := write()
		again, same := write()
		require.Equal(t, []any{p.ID, p.Name, p.Schema}, []any{again.ID, again.Name, again.Schema})
		require.Equal(t, codes[0].ID, same[0].ID)
		require.Equal(t, p.ID, same[0].Promotion.ID)
		for range 2 {
			require.NoError(t, storetest.DeletePromotion(under("none"), s, storetest.Actor, p.ID), "the promotion no longer exists the second time")
		}
		require.EqualValues(t, 3, replayed.Load())
		for key, want := range map[string][]string{"one": {`"ID":"` + p.ID}, "two": {`"ID":"` + p.ID, `"Code":"a"`}, "none": {`"CodesDeleted":1`}} {
			var text string
			require.NoError(t, backend.SQL(t).QueryRowContext(t.Context(), `SELECT outcome FROM idempotency_key WHERE key = $1`, key).Scan(&text))
			var kept []json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(text), &kept))
			require.Len(t, kept, len(want), text)
			for i, part := range want {
				require.Contains(t, string(kept[i]), part)
			}
		}
	}
}

func keyReused(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 0, "a")
		var replayed atomic.Int64
		use := func(input any) error {
			return storetest.Increment(storetest.WithIdempotencyKey(t.Context(), "k-1", "o", input, &replayed), s, "a")
		}
		require.NoError(t, use(map[string]any{"n": 1, "text": "a"}))
		for _, same := range []any{json.RawMessage(`{ "text":"a","n":1 }`), map[string]any{"n": 1, "text": "a", "idempotencyKey": "k-1"}} {
			require.NoError(t, use(same), "the order of members does not matter")
		}
		require.EqualValues(t, 2, replayed.Load())
		for _, other := range []any{map[string]any{"n": 2, "text": "a"}, map[string]any{"n": 1}, map[string]any{"n": "1", "text": "a"}, nil} {
			storetest.RequireError(t, use(other), store.Conflict, "idempotency_key", `"k-1"`, "new key")
		}
		require.Equal(t, 1, storetest.Available(t, s, "a"))
	}
}

func keyScoped(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 0, "a")
		var replayed atomic.Int64
		for _, use := range []struct {
			actor     store.Actor
			operation string
		}{{"client:1", "o"}, {"client:2", "o"}, {"client:1", "p"}, {"client:2", "p"}, {"client:1", "o"}} {
			_, err := s.Stock.Transact(storetest.WithIdempotencyKey(t.Context(), "k", use.operation, 1, &replayed), use.actor, []stock.Change{{ProductID: "a", Action: stock.StockIncrement, Quantity: 1}})
			require.NoError(t, err)
		}
		require.EqualValues(t, 1, replayed.Load())
		require.Equal(t, 4, storetest.Available(t, s, "a"))
	}
}

func keyFailedWrite(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 0, "a")
		var replayed atomic.Int64
		decrement := []stock.Change{{ProductID: "a", Action: stock.StockDecrement, Quantity: 1}}
		for range 2 {
			_, err := s.Stock.Transact(storetest.WithIdempotencyKey(t.Context(), "k", "o", 1, &replayed), storetest.Actor, decrement)
			storetest.RequireError(t, err, store.Unprocessable, "changes.0.quantity")
		}
		require.NoError(t, storetest.Increment(t.Context(), s, "a"))
		_, err := s.Stock.Transact(storetest.WithIdempotencyKey(t.Context(), "k", "o", 2, &replayed), storetest.Actor, decrement)
		require.NoError(t, err, "a valid write with the same key")
		require.Zero(t, replayed.Load())
	}
}

func keyForms(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 0, "a")
		var replayed atomic.Int64
		for _, good := range []string{"k", "~!\"'\\%", strings.Repeat("k", 255)} {
			require.NoError(t, storetest.Increment(storetest.WithIdempotencyKey(t.Context(), good, "o", 1, &replayed), s, "a"), good)
		}
		for _, bad := range []string{"", " ", "a b", "k\n", "k\x00", "ké", "\xff", "\x7f", strings.Repeat("k", 256)} {
			storetest.RequireError(t, storetest.Increment(storetest.WithIdempotencyKey(t.Context(), bad, "o", 1, &replayed), s, "a"), store.Invalid, "idempotency_key", "visible ASCII")
		}
		require.Equal(t, 3, storetest.Available(t, s, "a"))
	}
}

func keyConcurrent(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 1, "a") // enough for one write
		for round := range 5 {
			var replayed atomic.Int64
			var mu sync.Mutex
			answers := map[string]int{}
			storetest.RunWriters(t, backend, func(s *shop.Store, _ int) {
				made, err := s.Stock.Transact(storetest.WithIdempotencyKey(t.Context(), fmt.Sprint("k", round), "o", 1, &replayed), storetest.Actor,
					[]stock.Change{{ProductID: "a", Action: stock.StockDecrement, Quantity: 1}})
				if err != nil {
					t.Errorf("a writer got %v", err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				answers[made[0].ID]++
			})
			require.Len(t, answers, 1, "all get the same result")
			require.EqualValues(t, storetest.WriterCount-1, replayed.Load())
			require.Equal(t, 0, storetest.Available(t, s, "a"))
			require.NoError(t, storetest.Increment(t.Context(), s, "a"))
		}
		storetest.RequireLedger(t, backend.SQL(t))
	}
}

func keyConflict(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 0, "a")
		var replayed, made atomic.Int64
		storetest.RunWriters(t, backend, func(s *shop.Store, writer int) {
			err := storetest.Increment(storetest.WithIdempotencyKey(t.Context(), "k", "o", writer, &replayed), s, "a")
			switch {
			case err == nil:
				made.Add(1)
			case !store.HasCode(err, store.Conflict):
				t.Errorf("a writer got %v", err)
			}
		})
		require.EqualValues(t, 1, made.Load())
		require.Equal(t, 1, storetest.Available(t, s, "a"))
	}
}

func keyExpired(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		storetest.OpenWithStock(t, backend, 0, "a")
		s := backend.Open(t, storetest.WithClock(clock))
		var replayed atomic.Int64
		use := func(input any) error {
			return storetest.Increment(storetest.WithIdempotencyKey(t.Context(), "k", "o", input, &replayed), s, "a")
		}
		require.NoError(t, use(1))
		clock.Advance(24*time.Hour - time.Millisecond)
		require.NoError(t, use(1))
		storetest.RequireError(t, use(2), store.Conflict, "idempotency_key")
		require.EqualValues(t, 1, replayed.Load())
		clock.Advance(time.Millisecond)
		require.NoError(t, use(2), "after 24 hours, swept or not")
		require.Equal(t, 2, storetest.Available(t, s, "a"))
		clock.Advance(time.Hour)
		require.NoError(t, use(2))
		require.EqualValues(t, 2, replayed.Load(), "the key lasts another 24 hours")
	}
}

func keysSwept(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		storetest.OpenWithStock(t, backend, 0, "a")
		s, db := backend.Open(t, storetest.WithClock(clock)), backend.SQL(t)
		old := testkit.QuickOrFull(3_000, 12_000) // several transactions
		_, err := db.Exec(fmt.Sprintf(`
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
			INSERT INTO idempotency_key (client, operation, key, input_hash, outcome, created_at)
			SELECT 'c', 'o', CAST(i AS TEXT), '', '[]', %d FROM n`, old, testkit.Noon.UnixMicro()))
		require.NoError(t, err)
		clock.Advance(12 * time.Hour)
		var replayed atomic.Int64
		require.NoError(t, storetest.Increment(storetest.WithIdempotencyKey(t.Context(), "k", "o", 1, &replayed), s, "a"))
		left := func() (n int) {
			require.NoError(t, db.QueryRow(`SELECT COUNT(*) FROM idempotency_key`).Scan(&n))
			return n
		}
		worker, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		clock.Advance(12 * time.Hour)
		go func() { defer close(done); s.Jobs.Work(worker) }()
		testkit.Eventually(t, 1, left)
		stop()
		<-done
		require.NoError(t, storetest.Increment(storetest.WithIdempotencyKey(t.Context(), "k", "o", 1, &replayed), s, "a"))
		require.EqualValues(t, 1, replayed.Load(), "the remaining key")
	}
}
