package store

import "context"

// Allowance limits the work of one operation. It is safe for concurrent use.
type Allowance interface {
	// Charge subtracts the work on so many bytes before it is done. It returns
	// UNPROCESSABLE when the limit is exceeded.
	Charge(bytes int) error
}

type allowanceKey struct{}

// AllowanceKey is the context key of the Allowance. It is exported for reqctx.Request, a context that stores the
// values of several keys in its fields.
var AllowanceKey any = allowanceKey{}

// Charge accounts for work that depends on the data: bytes read from the database and
// decoded, and lists that are filtered, sorted or counted in full. Cached data is free.
// It returns nil if the context has no Allowance.
func Charge(ctx context.Context, bytes int) error {
	if allowance, ok := ctx.Value(AllowanceKey).(Allowance); ok {
		return allowance.Charge(bytes)
	}
	return nil
}

// ChargeSteps accounts for a loop that computes, before its next steps or as soon as their number is known. A step takes a few
// nanoseconds, such as the comparison of two short texts, and counts as a byte. It returns the error of a context that has ended.
func ChargeSteps(ctx context.Context, steps int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return Charge(ctx, steps)
}
