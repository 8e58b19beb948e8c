package db

import (
	"context"
	"database/sql"
	"errors"

	"portico/store/db/dialect"
)

// collectOnStandby is Collect on the standby. done is false if the primary must be read, as after each error of the
// standby. It counts the result, and checks or loses the standby after an error, unless the release or its rows are the cause.
func collectOnStandby[T any](ctx context.Context, s Session, phase int64, scan func(*sql.Rows) (T, error), query string, args []any) (list []T, done bool, err error) {
	b := s.standby
	if b == nil || usesBackgroundPool(ctx) {
		return nil, false, nil
	}
	if !b.usable.Load() {
		b.reads[standbyLost].Add(1)
		return nil, false, nil
	}
	reading, cancel := context.WithTimeout(ctx, dialect.StandbyTimeout)
	defer cancel()
	reading = dialect.WithRelease(reading, dialect.WantedRelease{Number: s.release.Number, Published: s.release.Published, Identity: s.identityGuard.known(), Phase: phase})
	scanFailed := false
	read := func(ctx context.Context) ([]T, error) {
		return readRows(ctx, Session{conn: b.DB}, func(rows *sql.Rows) (T, error) {
			item, err := scan(rows)
			scanFailed = err != nil
			return item, err
		}, query, args)
	}
	list, err = read(reading)
	if err != nil && !scanFailed && reading.Err() == nil && b.lostConnection(err) {
		list, err = read(dialect.WithPing(reading)) // the URL may name another standby
	}
	result, kind := standbyFailed, b.classify(err)
	switch {
	case err == nil:
		result, done = standbyRead, true
	case scanFailed || ctx.Err() != nil:
		return nil, true, err // the primary would not change it
	case errors.Is(err, dialect.ErrNotReplayed):
		result = standbyBehind
	case reading.Err() != nil || kind == dialect.Timeout: // a slow query, or a standby that hangs
		b.suspect()
	case kind == dialect.Retry: // replay removed rows that the query needs; the standby is sound
	default:
		b.lose(err)
	}
	b.reads[result].Add(1)
	return list, done, nil
}
