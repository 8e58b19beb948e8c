package graph

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"

	"portico/store"
)

// budget is what an operation may still cost while it runs: rows of lists whose
// length nobody knows beforehand, since a product has three children or three
// hundred, and bytes that are read and decoded. It implements store.Allowance.
type budget struct {
	allowance
	spent atomic.Int64 // in units of cost
	bytes atomic.Int64 // beside those
}

// allowance is the budget of every run of an operation.
type allowance struct {
	weights   map[string]float64 // what a row costs, by the field's name
	most      int64
	node      float64 // what a row of meteredLists costs
	estimated int64   // what the operation costs before it runs
	field     int     // bytes for each field, where gqlgen's executor runs it
}

// newBudget is the budget of one run.
func newBudget(allowed allowance) *budget {
	b := &budget{allowance: allowed}
	b.spent.Store(allowed.estimated)
	return b
}

// Charge implements store.Allowance.
func (b *budget) Charge(bytes int) error {
	if b.spent.Load()+b.bytes.Add(int64(bytes))/workUnit <= b.most {
		return nil
	}
	return &store.Error{Code: store.Unprocessable, Detail: fmt.Sprintf(
		"The operation reads too much: it may cost %s, of which it was estimated at %s. Ask for fewer rows at a time, or send several operations.",
		thousands(float64(b.most)), thousands(float64(b.estimated)))}
}

// Charge implements store.Allowance. Outside of GraphQL an operation may cost
// what one of GraphQL may by default.
func (op *operation) Charge(bytes int) error {
	if op.budget != nil {
		return op.budget.Charge(bytes)
	}
	if op.bytes.Add(int64(bytes)) <= maxBytesRead {
		return nil
	}
	return &store.Error{Code: store.Unprocessable, Detail: fmt.Sprintf(
		"The request reads more than %s bytes of the catalog: ask for a shorter page, or include less.", thousands(maxBytesRead))}
}

// maxBytesRead is how much a request outside of GraphQL may read and sort.
const maxBytesRead = 60_000 * workUnit

// exceeds tells whether so many rows of a field would be too many, beside those
// that the estimate has for each of the rows they belong to.
func (b *budget) exceeds(field string, rows, parents int) bool {
	return b.spent.Load()+b.bytes.Load()/workUnit+int64(float64(max(0, rows-relatedRows*parents))*b.weights[field]) > b.most
}

func (b *budget) refusal(field string, rows int) error {
	return &store.Error{Code: store.Unprocessable, Detail: fmt.Sprintf(
		"%s has %s rows here, each of which costs %s; the operation may cost %s. Ask for fewer rows at a time, or page through the connection.",
		field, thousands(float64(rows)), thousands(b.weights[field]), thousands(float64(b.most)))}
}

// afford refuses a list of rows before they are read, for all of the parents
// that are read together. They are paid for as they come into the response.
func afford(ctx context.Context, field string, rows, parents int) error {
	op, ok := operationOf(ctx)
	if !ok || op.budget == nil || !op.budget.exceeds(field, rows, parents) {
		return nil
	}
	return op.budget.refusal(field, rows)
}

// spend pays for the rows that a field brings beyond those of the estimate.
// Outside of an operation of GraphQL they cost nothing. UNPROCESSABLE when the
// budget is spent.
func spend(ctx context.Context, field string, rows int) error {
	op, ok := operationOf(ctx)
	if !ok || op.budget == nil || rows <= relatedRows {
		return nil
	}
	b := op.budget
	spent := b.spent.Add(int64(float64(rows-relatedRows) * b.weights[field]))
	if spent+b.bytes.Load()/workUnit > b.most {
		return b.refusal(field, rows)
	}
	return nil
}

// spendNodes pays for rows of meteredLists, all of the lists that are read
// together, before anything below them is.
func spendNodes(ctx context.Context, rows int) error {
	op, ok := operationOf(ctx)
	if !ok || op.budget == nil {
		return nil
	}
	b := op.budget
	if spent := b.spent.Add(int64(float64(rows) * b.node)); spent+b.bytes.Load()/workUnit > b.most {
		return &store.Error{Code: store.Unprocessable, Detail: fmt.Sprintf(
			"%s nodes here, each of which costs %s with what is selected below it; the operation may cost %s. Ask for fewer nodes, or for shorter lists below them.",
			thousands(float64(rows)), thousands(b.node), thousands(float64(b.most)))}
	}
	return nil
}

// paid is a list that a field brings, if the budget allows.
func paid[T any](ctx context.Context, field string, list []T, err error) ([]T, error) {
	if err == nil {
		err = spend(ctx, field, len(list))
	}
	if err != nil {
		return nil, err
	}
	return list, nil
}

// chargeField charges for a field that gqlgen's executor runs, where no plan
// could. Those of introspection are bounded by the schema.
func chargeField(ctx context.Context, next graphql.Resolver) (any, error) {
	if op, ok := operationOf(ctx); ok && op.budget != nil && op.budget.field > 0 && !strings.HasPrefix(graphql.GetFieldContext(ctx).Object, "__") {
		if err := op.budget.Charge(op.budget.field); err != nil {
			return nil, err
		}
	}
	return next(ctx)
}
