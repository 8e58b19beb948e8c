package stock

import (
	"slices"
	"strconv"

	"portico/store"
)

// Action is how a transaction changes a record.
type Action string

// The actions.
const (
	StockIncrement  Action = "increment"  // adds to available
	StockDecrement  Action = "decrement"  // subtracts from available
	StockAllocate   Action = "allocate"   // moves available to allocated
	StockDeallocate Action = "deallocate" // moves allocated back to available
	StockSet        Action = "set"        // sets available; allocated stays
)

// Actions lists every action.
func Actions() []Action {
	return []Action{StockIncrement, StockDecrement, StockAllocate, StockDeallocate, StockSet}
}

// Change is one change of a batch.
type Change struct {
	ProductID string `json:"productId"`
	Action    Action `json:"action"`
	Quantity  int    `json:"quantity"`            // units; at least 1, or 0 for set
	Reason    string `json:"reason,omitempty"`    // at most 255 bytes
	Reference string `json:"reference,omitempty"` // for example an order number; at most 255 bytes

	// ExpectedAvailable makes the change only if available has this value (compare and
	// set).
	ExpectedAvailable *int `json:"expectedAvailable,omitempty"`
}

// MaxStockChanges is the largest batch.
const MaxStockChanges = 1000

// check returns the errors that do not depend on the record.
func (c *Change) check() (faults store.Errors) {
	if !store.IsID(c.ProductID) {
		faults = append(faults, store.Invalidf([]string{"product_id"}, "must be %s, got %q", store.IDRule, store.Abbreviate(c.ProductID)))
	}
	least := 1
	switch {
	case !slices.Contains(Actions(), c.Action):
		faults = append(faults, store.Invalidf([]string{"action"}, "must be increment, decrement, allocate, deallocate or set, got %q", c.Action))
	case c.Action == StockSet:
		least = 0
	}
	if c.Quantity < least || c.Quantity > MaxStock {
		faults = append(faults, store.Unprocessablef([]string{"quantity"}, "must be between %d and %d, got %d", least, MaxStock, c.Quantity))
	}
	for member, text := range c.texts {
		if len(text) > 255 {
			faults = append(faults, store.Unprocessablef([]string{member}, "must be at most 255 bytes, got %d", len(text)))
		}
		if !store.IsStorableText(text) {
			faults = append(faults, store.Invalidf([]string{member}, "must be UTF-8 text without NUL"))
		}
	}
	return faults
}

// texts yields the free texts of a change with their member names.
func (c *Change) texts(yield func(member, text string) bool) {
	_ = yield("reason", c.Reason) && yield("reference", c.Reference)
}

// deltas returns what the action adds to available and allocated. Only set depends on
// the available units.
func (c *Change) deltas(available int) (toAvailable, toAllocated int) {
	switch c.Action {
	case StockIncrement:
		return c.Quantity, 0
	case StockDecrement:
		return -c.Quantity, 0
	case StockAllocate:
		return -c.Quantity, c.Quantity
	case StockDeallocate:
		return c.Quantity, -c.Quantity
	}
	return c.Quantity - available, 0 // set
}

// canApply reports whether the change can be applied to a record.
func (c *Change) canApply(now *Stock) bool {
	toAvailable, toAllocated := c.deltas(now.Available)
	available, allocated := now.Available+toAvailable, now.Allocated+toAllocated
	return available >= 0 && allocated >= 0 && available+allocated <= MaxStock &&
		(c.ExpectedAvailable == nil || *c.ExpectedAvailable == now.Available)
}

// changeError explains why the change cannot be applied, when canApply is false.
func changeError(change *Change, now *Stock) *store.Error {
	if change.ExpectedAvailable != nil && *change.ExpectedAvailable != now.Available {
		return expectationError(change, now)
	}
	quantity := []string{"quantity"}
	refusal := func(format string, args ...any) *store.Error {
		e := store.Unprocessablef(quantity, format, args...)
		e.Title = "Cannot complete request"
		return e
	}
	switch change.Action {
	case StockDecrement, StockAllocate:
		if change.Quantity > now.Available {
			return refusal("must be at most the %d available units of %s, got %d", now.Available, now.ProductID, change.Quantity)
		}
	case StockDeallocate:
		if change.Quantity > now.Allocated {
			return refusal("must be at most the %d allocated units of %s, got %d", now.Allocated, now.ProductID, change.Quantity)
		}
	}
	return refusal("would raise the total of %s above %d; it is %d now", now.ProductID, MaxStock, now.Total())
}

// expectationError is CONFLICT: ExpectedAvailable differs.
func expectationError(change *Change, now *Stock) *store.Error {
	return &store.Error{Code: store.Conflict, Path: []string{"expected_available"}, Title: "Cannot complete request",
		Detail: "was " + strconv.Itoa(*change.ExpectedAvailable) + ", but " + strconv.Itoa(now.Available) + " are available; read the stock again, then retry with the new value"}
}
