package opctx

import (
	"context"

	"portico/store"
)

type nullsKey struct{}

// WithNulls names the members of a write's input that are null, in snake case. The input's Go type
// has nil for null and for absent members.
func WithNulls(ctx context.Context, nulls store.Nulls) context.Context {
	if len(nulls) == 0 {
		return ctx
	}
	return context.WithValue(ctx, nullsKey{}, nulls)
}

// Nulls returns the members that WithNulls named.
func Nulls(ctx context.Context) store.Nulls {
	nulls, _ := ctx.Value(nullsKey{}).(store.Nulls)
	return nulls
}
