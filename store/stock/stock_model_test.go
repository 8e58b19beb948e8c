package stock_test

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// balances is a model of the stock: the available and allocated units of each product.
type balances map[string][2]int

// transact applies a batch as Transact does for a single writer. It returns the new
// balances, or the code of the error.
func (b balances) transact(batch []stock.Change) (balances, store.Code) {
	for _, c := range batch {
		least := 1
		if c.Action == stock.StockSet {
			least = 0
		}
		if c.Quantity < least || c.Quantity > stock.MaxStock {
			return b, store.Unprocessable
		}
	}
	// Which of several failures is told is the store's to choose; it goes by
	// product, and within a product in order.
	batch = slices.Clone(batch)
	slices.SortStableFunc(batch, func(a, b stock.Change) int { return cmp.Compare(a.ProductID, b.ProductID) })
	after := maps.Clone(b)
	for _, c := range batch {
		balance, known := after[c.ProductID]
		if !known {
			return b, store.NotFound
		}
		if c.ExpectedAvailable != nil && *c.ExpectedAvailable != balance[0] {
			return b, store.Conflict
		}
		switch c.Action {
		case stock.StockIncrement:
			balance[0] += c.Quantity
		case stock.StockDecrement:
			balance[0] -= c.Quantity
		case stock.StockAllocate:
			balance[0], balance[1] = balance[0]-c.Quantity, balance[1]+c.Quantity
		case stock.StockDeallocate:
			balance[0], balance[1] = balance[0]+c.Quantity, balance[1]-c.Quantity
		case stock.StockSet:
			balance[0] = c.Quantity
		}
		if balance[0] < 0 || balance[1] < 0 || balance[0]+balance[1] > stock.MaxStock {
			return b, store.Unprocessable
		}
		after[c.ProductID] = balance
	}
	return after, ""
}

func drawChange(t *rapid.T) stock.Change {
	change := stock.Change{
		ProductID: rapid.SampledFrom(strings.Split("aaabbbcccz", "")).Draw(t, "product"),
		Action:    rapid.SampledFrom(stock.Actions()).Draw(t, "action"),
		Quantity:  rapid.OneOf(rapid.IntRange(1, 9), rapid.IntRange(1, 9), rapid.SampledFrom([]int{-1, 0, stock.MaxStock, stock.MaxStock + 1})).Draw(t, "quantity"),
	}
	if rapid.IntRange(0, 4).Draw(t, "compares") == 0 {
		change.ExpectedAvailable = new(rapid.IntRange(0, 9).Draw(t, "expected"))
	}
	return change
}

func stockModel(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, db := backend.Open(t), backend.SQL(t)
		rapid.Check(t, func(t *rapid.T) {
			storetest.ClearStock(t, db)
			model := balances{"a": {}, "b": {5, 0}, "c": {0, 5}}
			for _, product := range slices.Sorted(maps.Keys(model)) {
				storetest.SeedStock(t, db, stock.Stock{ProductID: product, Available: model[product][0], Allocated: model[product][1], CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon})
			}
			storetest.RefreshStock(t, s)
			for range rapid.IntRange(1, 12).Draw(t, "batches") {
				batch := rapid.SliceOfN(rapid.Custom(drawChange), 1, 5).Draw(t, "batch")
				after, code := model.transact(batch)
				made, err := s.Stock.Transact(t.Context(), storetest.Actor, batch)
				if code == "" {
					require.NoError(t, err)
					require.Len(t, made, len(batch))
				} else {
					require.True(t, store.HasCode(err, code), "want %s, got %v", code, err)
				}
				model = after
				for product, want := range model {
					stock := storetest.ReadStock(t, s, product)
					require.Equal(t, want, [2]int{stock.Available, stock.Allocated}, product)
				}
			}
			storetest.RequireLedger(t, db)
		})
	}
}
