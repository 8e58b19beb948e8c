package dialect

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// milliseconds formats a timeout for PostgreSQL.
func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// errConnectTimeout means that no connection became free, or could be opened, in time.
var errConnectTimeout = errors.New("no connection to the database in time")

// timeoutConnector limits how long opening a connection may take.
type timeoutConnector struct {
	driver.Connector
	timeout time.Duration
}

func (c timeoutConnector) Connect(ctx context.Context) (driver.Conn, error) {
	waiting, cancel := context.WithTimeoutCause(ctx, c.timeout, errConnectTimeout)
	defer cancel()
	conn, err := c.Connector.Connect(waiting)
	if err != nil && ctx.Err() == nil && waiting.Err() != nil {
		return nil, fmt.Errorf("%w: %w", errConnectTimeout, err)
	}
	return conn, err
}

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
