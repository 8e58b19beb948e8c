package store

import "context"

// Allowance bounds the work that one operation causes. It is safe for
// concurrent use.
type Allowance interface {
	// Charge pays for work on so many bytes, before it is done. It returns
	// UNPROCESSABLE when the operation has used up what it may.
	Charge(bytes int) error
}

type allowanceKey struct{}

// AllowanceKey is the key under which a context returns its Allowance.
var AllowanceKey any = allowanceKey{}

// Charge pays for work that depends on the data and not on the request alone:
// bytes that are read from the database and decoded, and lists that are
// filtered, sorted or counted from end to end. What a cache answers is free.
// Without an allowance in the context it returns nil.
func Charge(ctx context.Context, bytes int) error {
	if allowance, ok := ctx.Value(AllowanceKey).(Allowance); ok {
		return allowance.Charge(bytes)
	}
	return nil
}
