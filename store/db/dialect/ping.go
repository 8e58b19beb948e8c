package dialect

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

type pingKey struct{}

// WithPing makes the pool ping a connection before its use, because one was just lost.
func WithPing(ctx context.Context) context.Context {
	return context.WithValue(ctx, pingKey{}, true)
}

// WithoutPing makes the pool use connections without a ping, for statements that may fail.
func WithoutPing(ctx context.Context) context.Context {
	return context.WithValue(ctx, pingKey{}, false)
}

// pingAfterIdle is how long a connection may be idle before it is pinged.
const pingAfterIdle = time.Second

// shouldPing reports whether a connection must be pinged.
func shouldPing(ctx context.Context, is pgxpool.ShouldPingParams) bool {
	if ping, set := ctx.Value(pingKey{}).(bool); set {
		return ping
	}
	return is.IdleDuration > pingAfterIdle
}
