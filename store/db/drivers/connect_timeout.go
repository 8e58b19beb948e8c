package drivers

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"
)

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
