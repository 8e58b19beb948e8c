package stock_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestTransactStock tests Service.Transact: bounds, atomic batches, the ledger and
// concurrent writers.
func TestTransactStock(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, testTransactStock)
}

func testTransactStock(t *testing.T, backend storetest.Backend) {
	t.Run("actions", stockActions(backend))
	t.Run("refused changes", stockRefusals(backend))
	t.Run("an error reports all invalid changes of a batch", stockErrors(backend))
	t.Run("a batch is atomic", stockBatch(backend))
	t.Run("changes of one product apply in order", stockSameProduct(backend))
	t.Run("expectedAvailable", stockExpectedAvailable(backend))
	t.Run("the ledger lists changes with their actor, newest first", stockLedger(backend))
	t.Run("a record is created once, with a ledger entry", stockCreate(backend))
	t.Run("of concurrent creations one succeeds", stockCreateRace(backend))
	t.Run("ledger pages", stockTransactionList(backend))
	t.Run("random batches match the model", stockModel(backend))
	t.Run("concurrent writers never oversell", stockOversell(backend))
	t.Run("concurrent writers get the right error", stockContention(backend))
	t.Run("expectedAvailable is a compare-and-set", stockCompareAndSet(backend))
	t.Run("concurrent sets keep the ledger consistent", stockConcurrentSets(backend))
	t.Run("batches in opposite orders do not deadlock", stockLockOrder(backend))
}

func stockActions(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon.Add(time.Hour + 123456789*time.Nanosecond))
		storetest.SeedStock(t, backend.SQL(t), stock.Stock{ProductID: "a", Available: 10, Allocated: 4, CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon})
		s := backend.Open(t, storetest.WithClock(clock))
		for _, c := range []struct {
			action               stock.Action
			quantity             int
			available, allocated int // after the action
		}{
			{stock.StockIncrement, 5, 15, 4},
			{stock.StockDecrement, 15, 0, 4},
			{stock.StockDeallocate, 3, 3, 1},
			{stock.StockAllocate, 2, 1, 3},
			{stock.StockSet, 40, 40, 3},
			{stock.StockSet, 40, 40, 3},
			{stock.StockSet, 0, 0, 3},
			{stock.StockDeallocate, 3, 3, 0},
			{stock.StockSet, stock.MaxStock, stock.MaxStock, 0},
			{stock.StockAllocate, stock.MaxStock, 0, stock.MaxStock},
			{stock.StockDeallocate, stock.MaxStock, stock.MaxStock, 0},
			{stock.StockDecrement, stock.MaxStock, 0, 0},
			{stock.StockIncrement, stock.MaxStock, stock.MaxStock, 0},
		} {
			before, err := s.Stock.Get(t.Context(), "a")
			require.NoError(t, err)
			made, err := s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{
				{ProductID: "a", Action: c.action, Quantity: c.quantity, Reason: "stocktaking", Reference: "order-1"}})
			require.NoError(t, err, "%s %d", c.action, c.quantity)
			require.Len(t, made, 1)
			now := testkit.Noon.Add(time.Hour + 123*time.Millisecond)
			after := &stock.Stock{ProductID: "a", Available: c.available, Allocated: c.allocated, CreatedAt: testkit.Noon, UpdatedAt: now}
			require.Equal(t, &stock.Transaction{
				ID: made[0].ID, ProductID: "a", Action: c.action, Quantity: c.quantity,
				AvailableDelta: c.available - before.Available, AllocatedDelta: c.allocated - before.Allocated,
				Reason: "stocktaking", Reference: "order-1", Actor: storetest.Actor, CreatedAt: now, Stock: after,
			}, made[0])
			require.Equal(t, after, storetest.ReadStock(t, s, "a"))
		}
		storetest.RequireLedger(t, backend.SQL(t))
	}
}

func stockRefusals(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		storetest.SeedStock(t, backend.SQL(t),
			stock.Stock{ProductID: "a", Available: 10, Allocated: 4, CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon},
			stock.Stock{ProductID: "full", Available: stock.MaxStock - 5, Allocated: 5, CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon})
		s := backend.Open(t)
		change := func(product string, action stock.Action, quantity int) stock.Change {
			return stock.Change{ProductID: product, Action: action, Quantity: quantity}
		}
		for _, c := range []struct {
			name   string
			change stock.Change
			code   store.Code
			member string
			words  []string
		}{
			{"increment 0", change("a", stock.StockIncrement, 0), store.Unprocessable, "quantity", []string{"between 1 and 2147483647", "got 0"}},
			{"decrement 0", change("a", stock.StockDecrement, 0), store.Unprocessable, "quantity", []string{"between 1 and 2147483647", "got 0"}},
			{"allocate -1", change("a", stock.StockAllocate, -1), store.Unprocessable, "quantity", []string{"between 1 and 2147483647", "got -1"}},
			{"deallocate 2147483648", change("a", stock.StockDeallocate, 1<<31), store.Unprocessable, "quantity", []string{"between 1 and 2147483647", "got 2147483648"}},
			{"set -1", change("a", stock.StockSet, -1), store.Unprocessable, "quantity", []string{"between 0 and 2147483647", "got -1"}},
			{"set 2147483648", change("a", stock.StockSet, 1<<31), store.Unprocessable, "quantity", []string{"between 0 and 2147483647"}},
			{"decrement more than available", change("a", stock.StockDecrement, 11), store.Unprocessable, "quantity", []string{"10 available", "got 11"}},
			{"allocate more than available", change("a", stock.StockAllocate, 11), store.Unprocessable, "quantity", []string{"10 available", "got 11"}},
			{"deallocate more than allocated", change("a", stock.StockDeallocate, 5), store.Unprocessable, "quantity", []string{"4 allocated", "got 5"}},
			{"increment past the largest total", change("full", stock.StockIncrement, 1), store.Unprocessable, "quantity", []string{"above 2147483647"}},
			{"set past the largest total", change("full", stock.StockSet, stock.MaxStock), store.Unprocessable, "quantity", []string{"above 2147483647"}},
			{"unknown action", change("a", "steal", 1), store.Invalid, "action", []string{"increment, decrement, allocate, deallocate or set", `"steal"`}},
			{"action in upper case", change("a", "SET", 1), store.Invalid, "action", []string{`"SET"`}},
			{"no action", change("a", "", 1), store.Invalid, "action", []string{`""`}},
			{"unknown product", change("ghost", stock.StockIncrement, 1), store.NotFound, "product_id", []string{"ghost"}},
			{"unknown product to set", change("ghost", stock.StockSet, 1), store.NotFound, "product_id", []string{"ghost"}},
			{"no product", change("", stock.StockIncrement, 1), store.Invalid, "product_id", []string{"1 to 64"}},
			{"another spelling", change("A", stock.StockIncrement, 1), store.NotFound, "product_id", []string{`"A"`}},
		} {
			t.Run(c.name, func(t *testing.T) {
				before := []*stock.Stock{storetest.ReadStock(t, s, "a"), storetest.ReadStock(t, s, "full")}
				_, err := s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{c.change})
				storetest.RequireError(t, err, c.code, "changes.0."+c.member, c.words...)
				require.Equal(t, before, []*stock.Stock{storetest.ReadStock(t, s, "a"), storetest.ReadStock(t, s, "full")})
			})
		}
		for name, length := range map[string]int{"an empty batch": 0, "a batch of 1001": 1001} {
			t.Run(name, func(t *testing.T) {
				batch := make([]stock.Change, length)
				for i := range batch {
					batch[i] = change("a", stock.StockIncrement, 1)
				}
				_, err := s.Stock.Transact(t.Context(), storetest.Actor, batch)
				storetest.RequireError(t, err, store.Unprocessable, "changes", "between 1 and 1000")
			})
		}
		t.Run("reading an unknown product", func(t *testing.T) {
			_, err := s.Stock.Get(t.Context(), "ghost")
			storetest.RequireError(t, err, store.NotFound, "", "ghost")
		})
		storetest.RequireLedger(t, backend.SQL(t))
	}
}

func stockErrors(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 10, "a")
		_, err := s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{
			{ProductID: "a", Action: stock.StockIncrement, Quantity: 1},
			{ProductID: "a", Action: stock.StockIncrement, Quantity: 0},
			{ProductID: "a", Action: "steal", Quantity: -1},
		})
		var reported []string
		for _, e := range store.AsErrors(err) {
			reported = append(reported, string(e.Code)+" "+strings.Join(e.Path, "."))
		}
		require.Equal(t, []string{"UNPROCESSABLE changes.1.quantity", "INVALID changes.2.action", "UNPROCESSABLE changes.2.quantity"}, reported)
		require.Equal(t, 10, storetest.Available(t, s, "a"))
	}
}

func stockBatch(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 10, "a", "b", "c")
		decrement := func(product string, quantity int) stock.Change {
			return stock.Change{ProductID: product, Action: stock.StockDecrement, Quantity: quantity}
		}
		for _, c := range []struct {
			name   string
			last   stock.Change
			code   store.Code
			member string
		}{
			{"too little stock", decrement("c", 11), store.Unprocessable, "changes.2.quantity"},
			{"an unknown product", decrement("ghost", 1), store.NotFound, "changes.2.product_id"},
			{"an unexpected balance", stock.Change{ProductID: "c", Action: stock.StockIncrement, Quantity: 1, ExpectedAvailable: new(9)},
				store.Conflict, "changes.2.expected_available"},
		} {
			_, err := s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{decrement("b", 1), decrement("a", 1), c.last})
			storetest.RequireError(t, err, c.code, c.member)
			for _, product := range []string{"a", "b", "c"} {
				require.Equal(t, 10, storetest.Available(t, s, product), "%s: %s", c.name, product)
			}
		}
		made, err := s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{decrement("c", 3), decrement("a", 1), decrement("b", 2)})
		require.NoError(t, err)
		for i, product := range []string{"c", "a", "b"} {
			require.Equal(t, product, made[i].ProductID, "results are in the order of the changes")
		}
		require.Equal(t, []int{9, 8, 7}, []int{storetest.Available(t, s, "a"), storetest.Available(t, s, "b"), storetest.Available(t, s, "c")})
		storetest.RequireLedger(t, backend.SQL(t))
	}
}

func stockSameProduct(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 10, "a", "b")
		made, err := s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{
			{ProductID: "b", Action: stock.StockAllocate, Quantity: 10},
			{ProductID: "a", Action: stock.StockDecrement, Quantity: 10},
			{ProductID: "b", Action: stock.StockDeallocate, Quantity: 4},
			{ProductID: "a", Action: stock.StockIncrement, Quantity: 1, ExpectedAvailable: new(0)},
			{ProductID: "b", Action: stock.StockSet, Quantity: 20, ExpectedAvailable: new(4)},
		})
		require.NoError(t, err)
		var after [][2]int
		for _, line := range made {
			after = append(after, [2]int{line.Stock.Available, line.Stock.Allocated})
		}
		require.Equal(t, [][2]int{{0, 10}, {0, 0}, {4, 6}, {1, 0}, {20, 6}}, after)
		_, err = s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{
			{ProductID: "a", Action: stock.StockDecrement, Quantity: 1},
			{ProductID: "a", Action: stock.StockDecrement, Quantity: 1},
		})
		storetest.RequireError(t, err, store.Unprocessable, "changes.1.quantity", "0 available", "got 1")
		require.Equal(t, 1, storetest.Available(t, s, "a"))
		storetest.RequireLedger(t, backend.SQL(t))
	}
}

func stockExpectedAvailable(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		for _, action := range stock.Actions() {
			t.Run(string(action), func(t *testing.T) {
				storetest.SeedStock(t, backend.SQL(t), stock.Stock{ProductID: "a", Available: 10, Allocated: 10, CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon})
				s := backend.Open(t)
				change := stock.Change{ProductID: "a", Action: action, Quantity: 3}
				for _, wrong := range []int{9, 11, -1, 0} {
					change.ExpectedAvailable = &wrong
					_, err := s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{change})
					storetest.RequireError(t, err, store.Conflict, "changes.0.expected_available", "10 are available")
					require.Equal(t, 10, storetest.Available(t, s, "a"))
				}
				change.ExpectedAvailable = new(10)
				_, err := s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{change})
				require.NoError(t, err)
				require.NotEqual(t, 10, storetest.Available(t, s, "a"))
				storetest.RequireLedger(t, backend.SQL(t))
			})
		}
	}
}

func stockLedger(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		storetest.SeedStock(t, backend.SQL(t), stock.Stock{ProductID: "a", CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon}, stock.Stock{ProductID: "b", CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon})
		s := backend.Open(t, storetest.WithClock(clock))
		var made []*stock.Transaction
		for i := range 6 {
			if i%2 == 0 {
				clock.Advance(time.Second) // two entries share each time
			}
			lines, err := s.Stock.Transact(t.Context(), store.Actor("client:other"), []stock.Change{
				{ProductID: "a", Action: stock.StockIncrement, Quantity: i + 1, Reason: "delivery", Reference: "truck"}})
			require.NoError(t, err)
			lines[0].Stock = nil // not in the ledger
			made = append([]*stock.Transaction{lines[0]}, made...)
		}
		ledgers, err := s.Stock.TransactionsByProduct(t.Context(), []string{"b", "a", "ghost"}, 5)
		require.NoError(t, err)
		require.Equal(t, made[:5], ledgers["a"])
		require.Len(t, ledgers["b"], 1, "its first entry")
		require.NotContains(t, ledgers, "ghost")
	}
}
