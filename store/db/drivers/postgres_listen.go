package drivers

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"portico/store/db/dialect"
)

// notifyChannel is the channel by which servers tell each other of their writes.
const notifyChannel = "portico"

// Notify commits without waiting for the disk: a lost notification only delays.
func (postgresDialect) Notify() string {
	return `SELECT set_config('synchronous_commit', 'off', TRUE), pg_notify('` + notifyChannel + `', $1)`
}

// postgresListener is a connection of its own, outside the pools.
type postgresListener struct{ conn *pgx.Conn }

// listenPostgres connects and listens.
func listenPostgres(ctx context.Context, config *pgx.ConnConfig) (dialect.Listener, error) {
	config.OnNotification = nil // keep them for Wait
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	l := postgresListener{conn}
	if _, err := conn.Exec(ctx, `LISTEN `+notifyChannel); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Wait returns the sender of the next notification.
func (l postgresListener) Wait(ctx context.Context) (sender string, err error) {
	notification, err := l.conn.WaitForNotification(ctx)
	if err != nil {
		return "", err
	}
	return notification.Payload, nil
}

// Close ends the connection. PgBouncer might give its session to another client, so it stops
// listening first.
func (l postgresListener) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, _ = l.conn.Exec(ctx, `UNLISTEN *`)
	_ = l.conn.Close(ctx)
}
