package stock

import (
	"slices"
	"strconv"

	"portico/store"
)

// StockAction is what a transaction does to a balance.
type StockAction string

// The actions (DESIGN 6).
const (
	StockIncrement  StockAction = "increment"  // adds to available
	StockDecrement  StockAction = "decrement"  // takes from available
	StockAllocate   StockAction = "allocate"   // moves available to allocated
	StockDeallocate StockAction = "deallocate" // moves allocated back to available
	StockSet        StockAction = "set"        // sets available, leaves allocated
)

// StockActions lists every action.
func StockActions() []StockAction {
	return []StockAction{StockIncrement, StockDecrement, StockAllocate, StockDeallocate, StockSet}
}

// StockChange is one change of a batch, as both surfaces give it.
type StockChange struct {
	ProductID string      `json:"productId"`
	Action    StockAction `json:"action"`
	Quantity  int         `json:"quantity"`            // units; at least 1, or 0 to set
	Reason    string      `json:"reason,omitempty"`    // why, at most 255 bytes
	Reference string      `json:"reference,omitempty"` // whose doing, an order number for instance; at most 255 bytes

	// ExpectedAvailable makes the change only if available has this value
	// just before it: compare and set.
	ExpectedAvailable *int `json:"expectedAvailable,omitempty"`
}

// MaxStockChanges bounds a batch.
const MaxStockChanges = 1000

func (c *StockChange) check() (faults store.Errors) {
	if !store.IsID(c.ProductID) {
		faults = append(faults, store.Invalidf([]string{"product_id"}, "must be %s, not %q", store.IDRule, store.Abbreviate(c.ProductID)))
	}
	least := 1
	switch {
	case !slices.Contains(StockActions(), c.Action):
		faults = append(faults, store.Invalidf([]string{"action"}, "must be increment, decrement, allocate, deallocate or set, not %q", c.Action))
	case c.Action == StockSet:
		least = 0
	}
	if c.Quantity < least || c.Quantity > store.MaxStock {
		faults = append(faults, store.Unprocessablef([]string{"quantity"}, "must be between %d and %d, not %d", least, store.MaxStock, c.Quantity))
	}
	for member, text := range c.texts {
		if len(text) > 255 {
			faults = append(faults, store.Unprocessablef([]string{member}, "must be at most 255 bytes, not %d", len(text)))
		}
		if !store.IsStorableText(text) {
			faults = append(faults, store.Invalidf([]string{member}, "must be UTF-8 text without NUL"))
		}
	}
	return faults
}

// texts yields the free texts of a change by their member.
func (c *StockChange) texts(yield func(member, text string) bool) {
	_ = yield("reason", c.Reason) && yield("reference", c.Reference)
}

// deltas is what the action adds to available and to allocated; set's depends
// on what is there.
func (c *StockChange) deltas(available int) (toAvailable, toAllocated int) {
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
	return c.Quantity - available, 0
}

// fits tells whether a balance takes the change.
func (c *StockChange) fits(now *Stock) bool {
	toAvailable, toAllocated := c.deltas(now.Available)
	available, allocated := now.Available+toAvailable, now.Allocated+toAllocated
	return available >= 0 && allocated >= 0 && available+allocated <= store.MaxStock &&
		(c.ExpectedAvailable == nil || *c.ExpectedAvailable == now.Available)
}

// stockRefused says why the balance would not take the change.
func stockRefused(change *StockChange, now *Stock) *store.Error {
	if change.ExpectedAvailable != nil && *change.ExpectedAvailable != now.Available {
		return stockMissed(change, now)
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
			return refusal("must be at most the %d available units of %s, not %d", now.Available, now.ProductID, change.Quantity)
		}
	case StockDeallocate:
		if change.Quantity > now.Allocated {
			return refusal("must be at most the %d allocated units of %s, not %d", now.Allocated, now.ProductID, change.Quantity)
		}
	}
	return refusal("would take the total of %s past %d; it is %d now", now.ProductID, store.MaxStock, now.Total())
}

func stockMissed(change *StockChange, now *Stock) *store.Error {
	return &store.Error{Code: store.Conflict, Path: []string{"expected_available"}, Title: "Cannot complete request",
		Detail: "was " + strconv.Itoa(*change.ExpectedAvailable) + ", but " + strconv.Itoa(now.Available) + " are available; read the stock again and decide anew"}
}
