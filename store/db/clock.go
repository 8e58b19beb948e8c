package db

import (
	"context"
	"strconv"
	"time"

	"portico/store"
)

// Now returns the configured clock's time in UTC, truncated to milliseconds like
// every stored time.
func (s *DB) Now() time.Time { return s.clock().UTC().Truncate(time.Millisecond) }

// ClockSQL is a SQL expression for the database's clock in microseconds, for leases alone: all servers share it. What is compared
// with stored times uses TruncatedClockSQL.
func (s *DB) ClockSQL() string { return s.dialect.Clock() }

// Data expires only when it is old by two clocks, the program's and the database's
// (SafeNow). A server with a fast clock deletes nothing early. A server that records
// an end time, from which retention is counted, writes the later of both (LaterSQL).
// Stock ledger entries and code uses keep the times that imports give them.

// SafeNow returns the earlier of the program's clock and the database's.
func (s *DB) SafeNow(ctx context.Context) (time.Time, error) { return s.safeNow(ctx, s.Reader) }

func (s *DB) safeNow(ctx context.Context, in Session) (time.Time, error) {
	at, _, err := One(ctx, in, Scalar[int64], `SELECT `+s.earlier(`CAST($1 AS BIGINT)`), store.Micros(s.Now()))
	return store.FromMicros(at), err
}

func (s *DB) earlier(at string) string {
	return s.dialect.Least() + `(` + at + `, ` + s.TruncatedClockSQL() + `)`
}

// TruncatedClockSQL is ClockSQL truncated to milliseconds, as stored times are, so that ages are counted by it. Tests can
// replace it. The validity of replaced secrets depends on it alone.
func (s *DB) TruncatedClockSQL() string {
	if s.config.DatabaseClock != nil {
		return strconv.FormatInt(store.Micros(s.config.DatabaseClock()), 10)
	}
	return s.dialect.Clock() + ` / 1000 * 1000`
}

// SafeNow returns the earlier of the program's clock and the database's, fixed at the
// first call within the write.
func (t *Tx) SafeNow(ctx context.Context) (now time.Time, err error) {
	if !t.safeNow.IsZero() {
		return t.safeNow, nil
	}
	if now, err = t.db.safeNow(ctx, t.Session); err == nil {
		t.safeNow = now
	}
	return now, err
}

// EarlierSQL is a SQL expression for the earlier of at (microseconds) and the
// database's clock.
func (t *Tx) EarlierSQL(at string) string { return t.db.earlier(at) }

// LaterSQL is the same for the later one.
func (t *Tx) LaterSQL(at string) string {
	return t.db.dialect.Greatest() + `(` + at + `, ` + t.db.TruncatedClockSQL() + `)`
}
