package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"
)

// MaxStock bounds a stock record's total, so that it fits every client's
// 32-bit integer.
const MaxStock = 1<<31 - 1

// Stock is how many units of a product there are (spec: Stock record).
// Available and Allocated are never negative; their sum is at most MaxStock.
type Stock struct {
	ProductID string
	Available int // units free to sell
	Allocated int // units promised to orders
	CreatedAt time.Time
	UpdatedAt time.Time
}

// GlobalID is the stock record's id over all types.
func (s *Stock) GlobalID() string { return GlobalID(TypeStock, s.ProductID) }

// Total is all units: available and allocated.
func (s *Stock) Total() int { return s.Available + s.Allocated }

const stockColumns = `product_id, available, allocated, created_at, updated_at`

func scanStock(rows *sql.Rows) (*Stock, error) {
	s := &Stock{}
	var created, updated int64
	err := rows.Scan(&s.ProductID, &s.Available, &s.Allocated, &created, &updated)
	s.CreatedAt, s.UpdatedAt = fromMicros(created), fromMicros(updated)
	return s, err
}

// Stock returns the stock of a product; NOT_FOUND when it has no record.
func (s *Store) Stock(ctx context.Context, productID string) (*Stock, error) {
	byID, err := s.StocksByID(ctx, []string{productID})
	if err == nil && byID[productID] == nil {
		return nil, notFound(nil, "There is no stock record for the product %q.", short(productID))
	}
	return byID[productID], err
}

// StocksByID returns the stock of several products; one without a record is
// left out.
func (s *Store) StocksByID(ctx context.Context, productIDs []string) (map[string]*Stock, error) {
	byID := make(map[string]*Stock, len(productIDs))
	err := chunked(idsOnly(productIDs), 512, func(ids []string) error {
		list, args := in(nil, ids)
		stocks, err := collect(ctx, s.reader, scanStock,
			`SELECT `+stockColumns+` FROM stock WHERE product_id IN (`+list+`)`, args...)
		for _, stock := range stocks {
			byID[stock.ProductID] = stock
		}
		return err
	})
	return byID, err
}

// CreateStock makes the stock record of a product, which need not be imported
// yet, with so many units available, and enters them in the ledger.
//
// INVALID for a malformed id; UNPROCESSABLE for a quantity out of bounds, and
// for the name of a resource in place of an id;
// CONFLICT when the product has a record already: it is changed by
// transactions only, so that none that were made meanwhile are lost.
func (s *Store) CreateStock(ctx context.Context, actor Actor, productID string, available int) (*Stock, error) {
	opening := StockChange{ProductID: productID, Action: StockSet, Quantity: available}
	if faults := opening.check(); len(faults) > 0 {
		return nil, faults
	}
	if ResourceName(productID) {
		return nil, unprocessable([]string{"productId"}, "must be a product's id, not %q, which is the name of a resource", productID)
	}
	var made *Stock
	err := s.update(ctx, actor, func(ctx context.Context, t *tx) (err error) {
		var fresh bool
		made, fresh, err = one(ctx, t.session, scanStock, `
			INSERT INTO stock (`+stockColumns+`) VALUES ($1, $2, 0, $3, $3)
			ON CONFLICT (product_id) DO NOTHING
			RETURNING `+stockColumns, productID, available, micros(t.now))
		if err != nil {
			return err
		}
		if !fresh {
			return &Error{Code: Conflict, Path: []string{"productId"}, Detail: "has a stock record already: \"" + productID + "\"; change it by a transaction"}
		}
		if _, err := t.exec(ctx, `UPDATE counter SET value = value + 1 WHERE name = 'stock'`); err != nil {
			return err
		}
		if available == 0 {
			return nil // nothing to enter
		}
		opening.Action = StockIncrement // from nothing
		_, err = t.writeLedger(ctx, opening, made, available, 0)
		return err
	}, &made)
	if err != nil {
		return nil, err
	}
	return made, nil
}

// Stocks lists the stock of all products, drafts too, by product id unless
// the query sorts otherwise.
func (s *Store) Stocks(ctx context.Context, query ListQuery) (*Slice[*Stock], error) {
	return list(ctx, s, stockList, query)
}

var stockList = listing[*Stock]{
	name:    "stock",
	columns: stockColumns,
	table:   "stock",
	id:      "product_id",
	counter: "stock",
	scan:    scanStock,
	key: func(s *Stock, sort Sort) []any {
		switch sort.By {
		case SortCreatedAt:
			return []any{micros(s.CreatedAt), s.ProductID}
		case SortUpdatedAt:
			return []any{micros(s.UpdatedAt), s.ProductID}
		}
		return []any{s.ProductID}
	},
}

// StockTimes returns the earliest creation and the latest change in the whole
// list; both are the zero time when there is no stock.
func (s *Store) StockTimes(ctx context.Context) (created, updated time.Time, err error) {
	type times struct{ created, updated sql.NullInt64 }
	t, _, err := one(ctx, s.reader, func(rows *sql.Rows) (t times, err error) {
		return t, rows.Scan(&t.created, &t.updated)
	}, `SELECT (SELECT MIN(created_at) FROM stock), (SELECT MAX(updated_at) FROM stock)`)
	if t.created.Valid {
		created, updated = fromMicros(t.created.Int64), fromMicros(t.updated.Int64)
	}
	return created, updated, err
}

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

// StockChange is one change of a batch.
type StockChange struct {
	ProductID string
	Action    StockAction
	Quantity  int    // units; at least 1, or 0 to set
	Reason    string // why, at most 255 bytes
	Reference string // whose doing, an order number for instance; at most 255 bytes

	// ExpectedAvailable makes the change only if available has this value
	// just before it: compare and set.
	ExpectedAvailable *int
}

// StockTransaction is a line of the ledger: a change that was made. The sum
// of a product's deltas is its balance.
type StockTransaction struct {
	ID             string
	ProductID      string
	Action         StockAction
	Quantity       int
	AvailableDelta int
	AllocatedDelta int
	Reason         string
	Reference      string
	Actor          Actor
	CreatedAt      time.Time
	Stock          *Stock // the balance right after; nil when read from the ledger
}

// MaxStockChanges bounds a batch.
const MaxStockChanges = 1000

// TransactStock makes all the changes or none, and writes the ledger with
// them. A product that comes twice is changed twice, in order. The answer is
// in the order of the changes.
//
// INVALID for an unknown action; NOT_FOUND for a product without a record;
// CONFLICT when ExpectedAvailable is not what is there; UNPROCESSABLE for a
// quantity out of bounds or too little stock. Every faulty change is told, of
// very many the first ones.
func (s *Store) TransactStock(ctx context.Context, actor Actor, changes []StockChange) ([]*StockTransaction, error) {
	if len(changes) == 0 || len(changes) > MaxStockChanges {
		return nil, unprocessable([]string{"changes"}, "must hold between 1 and %d changes, not %d", MaxStockChanges, len(changes))
	}
	order := make([]int, len(changes))
	for i := range order {
		order[i] = i
	}
	// Rows are locked in one order everywhere, or two batches deadlock.
	slices.SortStableFunc(order, func(a, b int) int {
		return strings.Compare(changes[a].ProductID, changes[b].ProductID)
	})
	var made []*StockTransaction
	err := s.update(ctx, actor, func(ctx context.Context, t *tx) (err error) {
		made, err = t.transactStocks(ctx, changes, order)
		return err
	}, &made)
	if err != nil {
		return nil, err
	}
	return made, nil
}

// transactStocks makes changes in an order, and tells what is wrong with each:
// first what is so whatever there is, then what does not go with the balances.
// Once a change is wrong, those of the same product after it are not tried:
// what is there for them is not known.
func (t *tx) transactStocks(ctx context.Context, changes []StockChange, order []int) ([]*StockTransaction, error) {
	made := make([]*StockTransaction, len(changes))
	var faulty Errors
	wrong := map[int]bool{}
	for i := range changes {
		for _, fault := range changes[i].check() {
			wrong[i] = true
			faulty = append(faulty, fault.At("changes", itoa(i)))
		}
	}
	untold := map[string]bool{} // products
	for _, i := range order {
		if product := changes[i].ProductID; wrong[i] || untold[product] {
			untold[product] = true
			continue
		}
		var refused *Error
		var err error
		if made[i], err = t.transactStock(ctx, changes[i]); errors.As(err, &refused) {
			untold[changes[i].ProductID] = true
			faulty = append(faulty, refused.At("changes", itoa(i)))
		} else if err != nil {
			return nil, err
		}
	}
	if len(faulty) > 0 {
		return nil, faulty.Bounded()
	}
	return made, nil
}

func (c *StockChange) check() (faults Errors) {
	if !isID(c.ProductID) {
		faults = append(faults, invalid([]string{"productId"}, "must be %s, not %q", idRule, short(c.ProductID)))
	}
	least := 1
	switch {
	case !slices.Contains(StockActions(), c.Action):
		faults = append(faults, invalid([]string{"action"}, "must be increment, decrement, allocate, deallocate or set, not %q", c.Action))
	case c.Action == StockSet:
		least = 0
	}
	if c.Quantity < least || c.Quantity > MaxStock {
		faults = append(faults, unprocessable([]string{"quantity"}, "must be between %d and %d, not %d", least, MaxStock, c.Quantity))
	}
	for member, text := range c.texts {
		if len(text) > 255 {
			faults = append(faults, unprocessable([]string{member}, "must be at most 255 bytes, not %d", len(text)))
		}
		if !cleanText(text) {
			faults = append(faults, invalid([]string{member}, "must be UTF-8 text without NUL"))
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

// transactStock makes one change by a conditional update: whatever else is
// written at the same time, no balance ever leaves its bounds.
func (t *tx) transactStock(ctx context.Context, change StockChange) (*StockTransaction, error) {
	for {
		expected := change.ExpectedAvailable
		var before *Stock
		if change.Action == StockSet { // compare and set, until nobody came between
			var err error
			if before, err = t.stock(ctx, change.ProductID); err != nil {
				return nil, err
			}
			if expected != nil && *expected != before.Available {
				return nil, stockMissed(change, before)
			}
			expected = &before.Available
		}
		available := 0
		if before != nil {
			available = before.Available
		}
		toAvailable, toAllocated := change.deltas(available)
		after, found, err := one(ctx, t.session, scanStock, `
			UPDATE stock
			SET available = available + $2, allocated = allocated + $3,
			    updated_at = CASE WHEN updated_at > $4 THEN updated_at ELSE $4 END
			WHERE product_id = $1
			  AND available + $2 >= 0 AND allocated + $3 >= 0
			  AND available + $2 + allocated + $3 <= $5
			  AND (CAST($6 AS BIGINT) IS NULL OR available = CAST($6 AS BIGINT))
			RETURNING `+stockColumns,
			change.ProductID, toAvailable, toAllocated, micros(t.now), MaxStock, expected)
		if err != nil {
			return nil, err
		}
		if found {
			return t.writeLedger(ctx, change, after, toAvailable, toAllocated)
		}
		now, err := t.stock(ctx, change.ProductID)
		if err != nil {
			return nil, err
		}
		if before != nil && now.Available != before.Available || change.fits(now) {
			continue // another write came between
		}
		return nil, stockRefused(change, now)
	}
}

// fits tells whether a balance takes the change, by the conditions of the
// update in transactStock.
func (c *StockChange) fits(now *Stock) bool {
	toAvailable, toAllocated := c.deltas(now.Available)
	available, allocated := now.Available+toAvailable, now.Allocated+toAllocated
	return available >= 0 && allocated >= 0 && available+allocated <= MaxStock &&
		(c.ExpectedAvailable == nil || *c.ExpectedAvailable == now.Available)
}

func (t *tx) stock(ctx context.Context, productID string) (*Stock, error) {
	stock, found, err := one(ctx, t.session, scanStock, `SELECT `+stockColumns+` FROM stock WHERE product_id = $1`, productID)
	if err == nil && !found {
		return nil, notFound([]string{"productId"}, "has no stock record: %q; create one first", productID)
	}
	return stock, err
}

// stockRefused says why the balance would not take the change.
func stockRefused(change StockChange, now *Stock) error {
	if change.ExpectedAvailable != nil && *change.ExpectedAvailable != now.Available {
		return stockMissed(change, now)
	}
	quantity := []string{"quantity"}
	refusal := func(format string, args ...any) error {
		e := unprocessable(quantity, format, args...)
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
	return refusal("would take the total of %s past %d; it is %d now", now.ProductID, MaxStock, now.Total())
}

func stockMissed(change StockChange, now *Stock) error {
	return &Error{Code: Conflict, Path: []string{"expectedAvailable"}, Title: "Cannot complete request",
		Detail: "was " + itoa(*change.ExpectedAvailable) + ", but " + itoa(now.Available) + " are available; read the stock again and decide anew"}
}

func (t *tx) writeLedger(ctx context.Context, change StockChange, after *Stock, toAvailable, toAllocated int) (*StockTransaction, error) {
	line := &StockTransaction{
		ID: newID(), ProductID: change.ProductID, Action: change.Action, Quantity: change.Quantity,
		AvailableDelta: toAvailable, AllocatedDelta: toAllocated,
		Reason: change.Reason, Reference: change.Reference, Actor: t.actor, Stock: after,
		CreatedAt: after.UpdatedAt, // which never goes back, whatever waited for whom

	}
	return line, t.insertStockTransaction(ctx, line)
}

func (t *tx) insertStockTransaction(ctx context.Context, line *StockTransaction) error {
	_, err := t.exec(ctx, `
		INSERT INTO stock_transaction (id, product_id, action, quantity, available_delta, allocated_delta,
		                               reason, reference, actor, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		line.ID, line.ProductID, string(line.Action), line.Quantity, line.AvailableDelta, line.AllocatedDelta,
		line.Reason, line.Reference, string(line.Actor), micros(line.CreatedAt))
	return err
}

const stockTransactionColumns = `id, product_id, action, quantity, available_delta, allocated_delta, reason, reference, actor, created_at`

func scanStockTransaction(rows *sql.Rows) (*StockTransaction, error) {
	line := &StockTransaction{}
	var created int64
	err := rows.Scan(&line.ID, &line.ProductID, &line.Action, &line.Quantity, &line.AvailableDelta, &line.AllocatedDelta,
		&line.Reason, &line.Reference, &line.Actor, &created)
	line.CreatedAt = fromMicros(created)
	return line, err
}

// StockTransactionsByProduct returns the newest lines of several products'
// ledgers, newest first, at most limit for each.
func (s *Store) StockTransactionsByProduct(ctx context.Context, productIDs []string, limit int) (map[string][]*StockTransaction, error) {
	byProduct := make(map[string][]*StockTransaction, len(productIDs))
	err := chunked(idsOnly(productIDs), 512, func(ids []string) error {
		list, args := in([]any{limit}, ids)
		lines, err := collect(ctx, s.reader, scanStockTransaction, `
			SELECT `+stockTransactionColumns+` FROM (
			    SELECT `+stockTransactionColumns+`,
			           ROW_NUMBER() OVER (PARTITION BY product_id ORDER BY created_at DESC, id DESC) AS place
			    FROM stock_transaction WHERE product_id IN (`+list+`)) AS ledger
			WHERE place <= $1
			ORDER BY product_id, created_at DESC, id DESC`, args...)
		for _, line := range lines {
			byProduct[line.ProductID] = append(byProduct[line.ProductID], line)
		}
		return err
	})
	return byProduct, err
}
