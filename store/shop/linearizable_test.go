package shop_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/promotion/redeem"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/dbtest"
	"portico/store/storetest/testkit"
)

// TestWritesAreLinearizable checks histories of clients of two servers with porcupine. On
// PostgreSQL the network meanwhile fails, is slow and pauses before commits. A write that
// returns UNAVAILABLE ran completely or not at all.
func TestWritesAreLinearizable(t *testing.T) {
	t.Parallel()
	storetest.EachBackendInQuickTests(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("stock", stockLinearizable(backend))
		t.Run("redeemed codes", codesLinearizable(backend))
	})
}

const (
	linearClients = 6
	unknown       = "unknown"
	refused       = "refused"
)

// recordHistory runs clients of two servers and records when each request began and ended. A
// request with unknown outcome may take effect at any later time. Each client draws from a
// generator of its own, so that its draws do not depend on the others.
func recordHistory(t *testing.T, backend storetest.Backend, ask func(s *shop.Store, random *rand.Rand, client, turn int) (input, output any)) []porcupine.Operation {
	t.Helper()
	seed := testkit.Seed(t)
	address := backend.URL(t)
	var network *dbtest.Proxy
	if backend.Name == "postgres" {
		network, address = backend.NewProxy(t)
	}
	var stores []*shop.Store
	for range 2 {
		stores = append(stores, backend.Open(t, withShortTimeouts(nil), func(config *shop.Config) { config.URL = address }))
	}
	var asking sync.WaitGroup
	begun := time.Now()
	var mu sync.Mutex
	var operations []porcupine.Operation
	for client := range linearClients {
		asking.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(client)))
			faults := rand.New(rand.NewPCG(seed, uint64(linearClients+client))) // apart, since only PostgreSQL has them
			for turn := range testkit.QuickOrFull(25, 200) {
				if network != nil {
					switch faults.IntN(30) {
					case 0, 1:
						network.CloseConnections() // with the requests in flight
					case 2:
						network.SetDelay(time.Duration(faults.IntN(3)) * time.Millisecond)
					}
				}
				requested := time.Since(begun).Nanoseconds()
				input, output := ask(stores[client%2], random, client, turn)
				operation := porcupine.Operation{ClientId: client, Input: input, Call: requested, Output: output, Return: time.Since(begun).Nanoseconds()}
				mu.Lock()
				if output == unknown {
					operation.ClientId, operation.Return = linearClients+len(operations), math.MaxInt64 // its client continues with another ID
				}
				operations = append(operations, operation)
				mu.Unlock()
			}
		})
	}
	over := make(chan struct{})
	if network != nil {
		go pauseCommits(network, rand.New(rand.NewPCG(seed, 2*linearClients)), over)
	}
	asking.Wait()
	close(over)
	return operations
}

// pauseCommits pauses one commit after the other, while other writes wait for its rows.
func pauseCommits(network *dbtest.Proxy, random *rand.Rand, over <-chan struct{}) {
	for {
		reached, goOn := network.PauseAt("commit")
		select {
		case <-over:
			return
		case <-reached:
			time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
			close(goOn)
		}
	}
}

// requireLinearizable checks a history against a sequential model.
func requireLinearizable[State comparable, In any](t *testing.T, operations []porcupine.Operation, initial State, step func(State, In) (State, any)) {
	t.Helper()
	reported := 0
	for _, o := range operations {
		if o.Output != unknown {
			reported++
		}
	}
	require.Greater(t, reported, len(operations)/4, "known outcomes")
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{initial} },
		Step: func(state, input, output any) []any {
			next, answer := step(state.(State), input.(In))
			switch {
			case output == unknown:
				return []any{state, next}
			case output == answer:
				return []any{next}
			}
			return nil
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprint(input, " -> ", output) },
	}
	result := porcupine.CheckOperationsTimeout(model.ToModel(), operations, time.Minute)
	require.Equal(t, porcupine.Ok, result, "%d operations: %v", len(operations), operations)
	t.Logf("%d operations are linearizable, %d of them with unknown outcome", len(operations), len(operations)-reported)
}

// stockOperation is a change, or a read if action is empty.
type stockOperation struct {
	action   stock.Action
	quantity int
}

func stockLinearizable(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		storetest.SeedStock(t, backend.SQL(t), stock.Stock{ProductID: "a", Available: 10, CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon})
		operations := recordHistory(t, backend, func(s *shop.Store, random *rand.Rand, _, _ int) (input, output any) {
			o := stockOperation{[]stock.Action{"", stock.StockIncrement, stock.StockDecrement, stock.StockDecrement, stock.StockSet}[random.IntN(5)], 1 + random.IntN(4)}
			if o.action == "" {
				stock, err := s.Stock.Get(t.Context(), "a")
				if err != nil {
					return o, outcomeOf(t, err)
				}
				return o, stock.Available
			}
			made, err := s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{{ProductID: "a", Action: o.action, Quantity: o.quantity}})
			if err != nil {
				return o, outcomeOf(t, err)
			}
			return o, made[0].Stock.Available
		})
		requireLinearizable(t, operations, 10, func(available int, o stockOperation) (int, any) {
			next := available
			switch o.action {
			case stock.StockIncrement:
				next += o.quantity
			case stock.StockDecrement:
				next -= o.quantity
			case stock.StockSet:
				next = o.quantity
			}
			if next < 0 {
				return available, refused
			}
			return next, next
		})
		storetest.RequireLedger(t, backend.SQL(t))
	}
}

// outcomeOf returns the outcome of a failed request.
func outcomeOf(t *testing.T, err error) any {
	switch {
	case store.HasCode(err, store.Unavailable):
		return unknown
	case !store.HasCode(err, store.Unprocessable) && !store.HasCode(err, store.NotFound):
		t.Errorf("a client got %v", err)
	}
	return refused
}

func codesLinearizable(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		const uses = 3
		storetest.OpenWithLines(t, backend, storetest.PromotionLine("p", ``), storetest.CodeLine("p", "C", fmt.Sprintf(`,"max_uses":%d`, uses)))
		type operation struct {
			release   bool
			reference string
		}
		operations := recordHistory(t, backend, func(s *shop.Store, _ *rand.Rand, client, turn int) (input, output any) {
			o := operation{turn%2 == 1, fmt.Sprint(client, "-", turn/2)} // redeems and releases in turn
			var err error
			if o.release {
				_, err = s.Redemptions.Release(t.Context(), storetest.Actor, o.reference, new("C"))
			} else {
				_, err = s.Redemptions.Redeem(t.Context(), storetest.Actor, redeem.CodeUse{Code: "C", Reference: o.reference, Units: 1})
			}
			if err != nil {
				return o, outcomeOf(t, err)
			}
			return o, "made"
		})
		requireLinearizable(t, operations, "", func(used string, o operation) (string, any) {
			references := strings.Fields(used)
			at, found := slices.BinarySearch(references, o.reference)
			switch {
			case o.release && found:
				references = slices.Delete(references, at, at+1)
			case o.release, len(references) == uses:
				return used, refused
			default:
				references = slices.Insert(references, at, o.reference)
			}
			return strings.Join(references, " "), "made"
		})
	}
}
