package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// milliseconds is a bound as PostgreSQL takes it.
func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// errNoConnection says that none was free, or none could be made, in time.
var errNoConnection = errors.New("no connection to the database in time")

// patientConnector gives up on a connection that does not come.
type patientConnector struct {
	driver.Connector
	wait time.Duration
}

func (c patientConnector) Connect(ctx context.Context) (driver.Conn, error) {
	waiting, cancel := context.WithTimeoutCause(ctx, c.wait, errNoConnection)
	defer cancel()
	conn, err := c.Connector.Connect(waiting)
	if err != nil && ctx.Err() == nil && waiting.Err() != nil {
		return nil, fmt.Errorf("%w: %w", errNoConnection, err)
	}
	return conn, err
}

type livingKey struct{}

// onLiving has a connection be seen to live before it is used: one of a pool
// may have been lost since, and so may all the others.
func onLiving(ctx context.Context) context.Context {
	return context.WithValue(ctx, livingKey{}, true)
}

// seenAfter is how long a connection may lie in its pool and be used unseen.
const seenAfter = time.Second

// toBeSeen tells whether a connection is to be seen to live.
func toBeSeen(ctx context.Context, is pgxpool.ShouldPingParams) bool {
	return is.IdleDuration > seenAfter || ctx.Value(livingKey{}) != nil
}
