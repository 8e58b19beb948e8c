package dialect

import "context"

type pingKey struct{}

// WithPing makes the pool ping a connection before its use, because one was just lost.
func WithPing(ctx context.Context) context.Context {
	return context.WithValue(ctx, pingKey{}, true)
}

// WithoutPing makes the pool use connections without a ping, for statements that may fail.
func WithoutPing(ctx context.Context) context.Context {
	return context.WithValue(ctx, pingKey{}, false)
}

// Ping returns what WithPing or WithoutPing set; set is false if neither did.
func Ping(ctx context.Context) (ping, set bool) {
	ping, set = ctx.Value(pingKey{}).(bool)
	return ping, set
}
