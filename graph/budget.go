package graph

import (
	"context"
	"fmt"
	"sync/atomic"

	"portico/store"
)

// budget is what an operation may bring in lists whose length nobody knows
// beforehand: a product has three children or three hundred, and a document
// may go up and down between them.
type budget struct {
	allowance
	spent atomic.Int64
}

// allowance is the budget of every run of an operation.
type allowance struct {
	weights map[string]float64 // what a row costs, by the field's name
	most    int64
}

// spend pays for the rows that a field brings. Outside of an operation of
// GraphQL they cost nothing. UNPROCESSABLE when the budget is spent.
func spend(ctx context.Context, field string, rows int) error {
	op, ok := operationOf(ctx)
	if !ok || op.budget == nil {
		return nil
	}
	if op.budget.spent.Add(int64(float64(rows)*op.budget.weights[field])) > op.budget.most {
		return &store.Error{Code: store.Unprocessable, Detail: fmt.Sprintf(
			"The answer would cost more than %d, in fields, by the rows of %s: ask for fewer rows at a time, or page through their connections.", op.budget.most, field)}
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
