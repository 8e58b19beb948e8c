package db

import (
	"context"
	"strconv"
	"time"

	"portico/store"
)

// Now is the injected clock's time, in UTC, truncated to milliseconds as
// every stored time is.
func (s *DB) Now() time.Time { return s.clock().UTC().Truncate(time.Millisecond) }

// ClockSQL is the database's own clock in SQL, in microseconds: one for all
// servers. Leases go by it.
func (s *DB) ClockSQL() string { return s.dialect.clock() }

// What is deleted, forgotten or taken over because it is old must be old by
// two clocks, the program's and the database's own: a server that is ahead, be
// it by a year, does away with nothing early, and one that is behind keeps for
// longer. Where a server writes that something ended, to be done away with in
// time, it writes the later of both, or one that is behind would make it old at
// once. Only lines of the ledger and uses of codes, which imports bring with
// times of their own, are as old as they say.

// SafeNow is the earlier of the program's clock and the database's.
func (s *DB) SafeNow(ctx context.Context) (time.Time, error) { return s.safeNow(ctx, s.Reader) }

func (s *DB) safeNow(ctx context.Context, in Session) (time.Time, error) {
	at, _, err := One(ctx, in, Scalar[int64], `SELECT `+s.earlier(`CAST($1 AS BIGINT)`), store.Micros(s.Now()))
	return store.FromMicros(at), err
}

func (s *DB) earlier(at string) string {
	return s.dialect.least() + `(` + at + `, ` + s.AgesSQL() + `)`
}

// AgesSQL is the database's clock in SQL, by which ages are told, in
// microseconds to the millisecond. How long a replaced secret is good goes by it
// alone: whoever replaced it, and whoever is asked.
func (s *DB) AgesSQL() string {
	if s.opened.DatabaseClock != nil {
		return strconv.FormatInt(store.Micros(s.opened.DatabaseClock()), 10)
	}
	return s.dialect.clock() + ` / 1000 * 1000`
}

// SafeNow is the earlier of the program's clock and the database's, as both were
// when the write first asked.
func (t *Tx) SafeNow(ctx context.Context) (now time.Time, err error) {
	if !t.safe.IsZero() {
		return t.safe, nil
	}
	if now, err = t.db.safeNow(ctx, t.Session); err == nil {
		t.safe = now
	}
	return now, err
}

// EarlierSQL is the earlier of a time in SQL, in microseconds, and the
// database's clock.
func (t *Tx) EarlierSQL(at string) string { return t.db.earlier(at) }

// LaterSQL is the later of both.
func (t *Tx) LaterSQL(at string) string {
	return t.db.dialect.greatest() + `(` + at + `, ` + t.db.AgesSQL() + `)`
}
