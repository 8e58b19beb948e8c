package e2e

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestStoppedServerDoesNotBlockOthers stops a server with SIGSTOP during writes. Another server must
// answer all requests, also for the same products, and all acknowledged writes must be stored. To
// choose the time, use default flags and log the latencies:
//
//	PORTICO_TEST_STOPPED=60s go test ./internal/e2e -run StoppedServer -v
func TestStoppedServerDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "stops processes for seconds")
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		if e.Name == "sqlite" {
			t.Skip("servers on several machines share no file")
		}
		o := openDemo(t, e.URL(t))
		_, token := o.issue(t)
		flags := []string{"--idle-write-time", "300ms", "--lock-time", "20s", "--write-time", "40s", "--database-wait", "30s"}
		lasts := durationFromEnv(t, "PORTICO_TEST_STOPPED")
		if lasts > 0 {
			flags = nil
		}
		stopped, other := o.serve(t, flags...), o.serve(t, flags...)
		var mu sync.Mutex
		var made, unknown int
		held, free := []string{"prod-americano", "prod-espresso"},
			[]string{"prod-cappuccino", "prod-cold-brew", "prod-earl-grey", "prod-flat-white", "prod-latte-large", "prod-latte-small",
				"prod-masala-chai", "prod-mint-tea"}
		selling := func(products ...string) string {
			changes := make([]string, len(products))
			for i, product := range products {
				changes[i] = `{productId: "` + product + `", action: INCREMENT, quantity: 1}`
			}
			return graphQL(`mutation { stockTransact(input: {changes: [` + strings.Join(changes, ", ") + `]}) { userErrors { message } } }`)
		}
		sell := selling(held...)
		write := func(s *serverProcess) error {
			sure, err := s.write(token, "POST", "/graphql", sell)
			mu.Lock()
			defer mu.Unlock()
			made, unknown = made+one(sure), unknown+one(!sure)
			return err
		}
		var writers sync.WaitGroup
		ending := make(chan struct{})
		end := sync.OnceFunc(func() { close(ending) })
		t.Cleanup(func() { end(); stopped.signal(syscall.SIGCONT); writers.Wait() }) // before the cleanup that ends the server
		for range 4 {
			writers.Go(func() {
				for {
					select {
					case <-ending:
						return
					default:
						if err := write(stopped); err != nil {
							t.Error(err)
							return
						}
					}
				}
			})
		}
		testkit.Eventually(t, true, func() bool { mu.Lock(); defer mu.Unlock(); return made > 20 })
		for range 100 { // until a transaction is open; the assertions hold without one too
			stopped.signal(syscall.SIGSTOP)
			var open int
			require.NoError(t, e.SQL(t).QueryRow(`SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`).Scan(&open))
			if open > 0 {
				break
			}
			stopped.signal(syscall.SIGCONT)
			time.Sleep(time.Millisecond)
		}
		var asking sync.WaitGroup
		var took latencies
		ends := time.Now().Add(lasts)
		for range 8 {
			asking.Go(func() {
				for n := 0; n < testkit.QuickOrFull(20, 200) || time.Now().Before(ends); n++ {
					began := time.Now()
					if sure, err := other.write(token, "POST", "/graphql", sell); !sure || err != nil {
						t.Errorf("a write beside a stopped server: answered %t, %v", sure, err)
					}
					took.add("writes", began)
					mu.Lock()
					made++
					mu.Unlock()
				}
			})
		}
		sold := map[string]int{}
		for _, product := range free {
			asking.Go(func() {
				sell, made := selling(product), 0
				for ; made < testkit.QuickOrFull(20, 200) || time.Now().Before(ends); made++ {
					began := time.Now()
					if sure, err := other.write(token, "POST", "/graphql", sell); !sure || err != nil {
						t.Errorf("a write of %s, which nobody holds, beside a stopped server: answered %t, %v", product, sure, err)
					}
					took.add("writes of other products", began)
				}
				mu.Lock()
				defer mu.Unlock()
				sold[product] = made
			})
		}
		for n := 0; n < 200 || time.Now().Before(ends); n++ {
			began := time.Now()
			require.Equal(t, 200, other.reads(t, token))
			took.add("reads", began)
		}
		asking.Wait()
		took.log(t)
		stopped.signal(syscall.SIGCONT)
		mu.Lock()
		until := made + 20
		mu.Unlock()
		testkit.Eventually(t, true, func() bool { mu.Lock(); defer mu.Unlock(); return made > until }, "it goes on")
		end()
		writers.Wait()
		moved := func(product string) (moves int) {
			require.NoError(t, e.SQL(t).QueryRow(`SELECT COUNT(*) FROM stock_transaction WHERE quantity = 1 AND product_id = '`+product+`'`).Scan(&moves))
			return moves
		}
		for product, made := range sold {
			require.Equal(t, made, moved(product), product)
		}
		for _, product := range held {
			moves := moved(product)
			require.True(t, made <= moves && moves <= made+unknown,
				fmt.Sprint(product, ": ", made, " acknowledged, ", unknown, " in doubt, ", moves, " there"))
		}
	})
}
