package opctx

import (
	"context"
	"fmt"
	"sync/atomic"

	"portico/graph/limits"
	"portico/store"
)

// Budget is what a GraphQL operation may still cost while it runs: rows of lists whose length is not
// known before (a product has three children or three hundred), and bytes that are read and decoded.
// It is safe for concurrent use.
type Budget struct {
	allowance limits.Allowance
	max       atomic.Int64 // units that the operation may cost; less while a trial runs
	spent     atomic.Int64 // units of cost
	bytes     atomic.Int64 // in addition to them
	refusals  atomic.Int64 // number of errors that its methods returned
}

// NewBudget returns the budget of one run.
func NewBudget(allowance limits.Allowance) *Budget {
	b := &Budget{allowance: allowance}
	b.max.Store(allowance.Max)
	if allowance.FieldBytes == 0 { // else the fields are charged when they run
		b.spent.Store(allowance.Estimated)
	}
	return b
}

// Cost returns what the operation has cost so far, in units.
func (b *Budget) Cost() int64 { return b.spent.Load() + b.bytes.Load()/limits.BytesPerUnit }

// Charged returns the bytes and steps that were charged so far.
func (b *Budget) Charged() int64 { return b.bytes.Load() }

// ChargeField charges a field that gqlgen's executor runs.
func (b *Budget) ChargeField() error {
	if b.allowance.FieldBytes == 0 {
		return nil
	}
	return b.Charge(b.allowance.FieldBytes)
}

// Charge charges bytes that were read, also if that exceeds the budget. The error is a *Refusal.
func (b *Budget) Charge(bytes int) error {
	if b.spent.Load()+b.bytes.Add(int64(bytes))/limits.BytesPerUnit <= b.max.Load() {
		return nil
	}
	return &Refusal{b.refuse("The operation may cost %s, and costs more here. Its fields were estimated to cost %s; the rest is what they read and compute. "+
		"Send fewer or smaller lists, searches and carts, or several operations.",
		limits.FormatCount(float64(b.allowance.Max)), limits.FormatCount(float64(b.allowance.Estimated)))}
}

// Refusal is the error of a field whose work exceeds the budget. Its message does not name the field: whoever reports the error
// writes limits.FieldAsSent before it.
type Refusal struct{ err error }

func (r *Refusal) Error() string { return r.err.Error() }

// Unwrap returns the error, UNPROCESSABLE.
func (r *Refusal) Unwrap() error { return r.err }

// refuse counts a refusal, and returns its error.
func (b *Budget) refuse(format string, arguments ...any) error {
	b.refusals.Add(1)
	return &store.Error{Code: store.Unprocessable, Detail: fmt.Sprintf(format, arguments...)}
}

// trialPart: a trial may cost 1/trialPart of what the operation may cost.
const trialPart = 8

// BeginTrial begins a trial of an operation, a run that may be repeated and so may cost a part of what
// the operation may cost only. end ends it: it reports whether the trial was refused something, and then,
// or without keep, takes back what it spent. ok is false for an operation that costs more already.
func BeginTrial(ctx context.Context) (end func(keep bool) (refused bool), ok bool) {
	op := From(ctx)
	if op == nil || op.Budget == nil {
		return func(bool) bool { return false }, true
	}
	b := op.Budget
	if b.Cost() > b.allowance.Max/trialPart {
		return nil, false
	}
	spent, bytes, refusals := b.spent.Load(), b.bytes.Load(), b.refusals.Load()
	b.max.Store(b.allowance.Max / trialPart)
	return func(keep bool) bool {
		b.max.Store(b.allowance.Max)
		refused := b.refusals.Load() != refusals
		if refused || !keep {
			b.spent.Store(spent)
			b.bytes.Store(bytes)
		}
		return refused
	}, true
}

// Charge implements store.Allowance. Operations of REST may cost what one of GraphQL may by default.
func (op *Operation) Charge(bytes int) error {
	if op.Budget != nil {
		return op.Budget.Charge(bytes)
	}
	if op.bytesRead.Add(int64(bytes)) <= maxBytesRead {
		return nil
	}
	return &store.Error{Code: store.Unprocessable, Detail: fmt.Sprintf(
		"The request reads more than %s bytes of the catalog: request a shorter page, or include less.", limits.FormatCount(maxBytesRead))}
}

// maxBytesRead is how many bytes a request of REST may read. 60,000 is the default of limits.Config.Cost.
const maxBytesRead = 60_000 * limits.BytesPerUnit

// CheckRows refuses a list before its rows are read for all parents together, if it would exceed the
// budget. SpendRows charges them when they become part of the response.
func CheckRows(ctx context.Context, field string, rows, parents int) error {
	op := From(ctx)
	if op == nil || op.Budget == nil {
		return nil
	}
	b := op.Budget
	extra := max(0, rows-limits.EstimatedRows*parents)
	if b.Cost()+int64(float64(extra)*b.allowance.RowCosts[field]) <= b.max.Load() {
		return nil
	}
	return b.rowsError(field, rows)
}

// SpendRows charges the rows of a field beyond the estimated ones.
func SpendRows(ctx context.Context, field string, rows int) error {
	op := From(ctx)
	if op == nil || op.Budget == nil || rows <= limits.EstimatedRows {
		return nil
	}
	b := op.Budget
	b.spent.Add(int64(float64(rows-limits.EstimatedRows) * b.allowance.RowCosts[field]))
	if b.Cost() > b.max.Load() {
		return b.rowsError(field, rows)
	}
	return nil
}

// SpendRow charges the row at a position of a field, unless it is one of the estimated ones.
func SpendRow(ctx context.Context, field string, position int) error {
	if position < limits.EstimatedRows {
		return nil
	}
	return SpendRows(ctx, field, limits.EstimatedRows+1)
}

// rowsError returns the refusal of a field with too many rows.
func (b *Budget) rowsError(field string, rows int) error {
	return b.refuse("%s has %s rows here, each of which costs %s; the operation may cost %s. Request fewer rows at a time, or page through the connection.",
		field, limits.FormatCount(float64(rows)), limits.FormatCount(b.allowance.RowCosts[field]), limits.FormatCount(float64(b.allowance.Max)))
}

// SpendNodes charges the rows of metered lists, for all lists that are read together, before anything
// below them is read.
func SpendNodes(ctx context.Context, rows int) error {
	op := From(ctx)
	if op == nil || op.Budget == nil {
		return nil
	}
	b := op.Budget
	b.spent.Add(int64(float64(rows) * b.allowance.MeteredRowCost))
	if b.Cost() <= b.max.Load() {
		return nil
	}
	return &Refusal{b.refuse("%s nodes here, each of which costs %s with what is selected below it; the operation may cost %s. Request fewer nodes, or shorter lists below them.",
		limits.FormatCount(float64(rows)), limits.FormatCount(b.allowance.MeteredRowCost), limits.FormatCount(float64(b.allowance.Max)))}
}

// Spend returns the list of a field after SpendRows charged its rows. An err is returned as it is.
func Spend[T any](ctx context.Context, field string, list []T, err error) ([]T, error) {
	if err == nil {
		err = SpendRows(ctx, field, len(list))
	}
	if err != nil {
		return nil, err
	}
	return list, nil
}
