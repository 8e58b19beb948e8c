package db

import "context"

type backgroundPoolKey struct{}

// WithBackgroundPool returns a context whose reads and writes use the background connection, so
// that they never delay requests. There is one such connection: within a write, read
// only through its transaction, and run one job at a time.
func WithBackgroundPool(ctx context.Context) context.Context {
	return context.WithValue(ctx, backgroundPoolKey{}, true)
}

func usesBackgroundPool(ctx context.Context) bool { return ctx.Value(backgroundPoolKey{}) != nil }
