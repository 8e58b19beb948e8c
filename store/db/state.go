package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"portico/store"
	"portico/store/db/dialect"
)

// CacheStats returns hits and misses since the database was opened, and the bytes in use.
func (s *DB) CacheStats() (hits, misses, bytes uint64) {
	if s.Cache == nil {
		return 0, 0, 0
	}
	counted := s.Cache.shared.Stats()
	return counted.Hits, counted.Misses, s.Cache.shared.WeightedSize()
}

// Epoch changes when the database was replaced under this process. Use it in keys of
// values kept in memory.
func (s *DB) Epoch() int64 { return s.identityGuard.phase.Load() }

// Analyze updates the planner's statistics of tables.
func (s *DB) Analyze(ctx context.Context, tables []string) error {
	for _, table := range tables { // one statement a table works on both databases
		statement := s.dialect.Analyze(table)
		if statement == "" {
			return nil
		}
		if _, err := s.pools.Maintenance.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// Plan returns the query plan, one step a line.
func (s *DB) Plan(ctx context.Context, query string, args ...any) ([]string, error) {
	return Collect(ctx, Session{conn: s.pools.Read}, func(rows *sql.Rows) (string, error) {
		columns, err := rows.Columns()
		if err != nil {
			return "", err
		}
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		err = rows.Scan(values...)
		return fmt.Sprint(*values[len(values)-1].(*any)), err // both databases put the text last
	}, s.dialect.Explain(query), args...)
}

// ReadOnly reports whether the database rejects writes, as a standby does. Open, a
// rejected write and each poll update it.
func (s *DB) ReadOnly() bool { return s.readOnly.Load() }

// checkReadOnly checks whether a read-only database accepts writes now.
func (s *DB) checkReadOnly(ctx context.Context) error {
	if !s.readOnly.Load() {
		return nil
	}
	readOnly, _, err := One(ctx, s.Reader, Scalar[int], s.dialect.ReadOnly())
	if err == nil && readOnly == 0 {
		s.readOnly.Store(false)
	}
	return err
}

// Ping reports whether the database responds and is still the one that was opened.
func (s *DB) Ping(ctx context.Context) error {
	if err := errors.Join(s.pools.FileGuard.Check(), s.identityGuard.check()); err != nil {
		return err
	}
	if _, _, err := One(ctx, s.Reader, Scalar[int], `SELECT 1`); err != nil {
		return errors.Join(store.ErrUnavailable, err)
	}
	return nil
}

// Describe names the database without credentials, for example "SQLite portico.db".
func (s *DB) Describe() string { return s.dialect.Describe(s.config.URL) }

// WithFileGuard returns a context that is cancelled when the database file is replaced.
func (s *DB) WithFileGuard(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-s.pools.FileGuard.WhenReplaced():
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// PoolStats returns the load of each pool. It does not query the database.
func (s *DB) PoolStats() []dialect.PoolStats {
	stats := make([]dialect.PoolStats, len(s.pools.Stats))
	for i, read := range s.pools.Stats {
		stats[i] = read()
	}
	return stats
}

// IsClosing reports whether the store is closing.
func (s *DB) IsClosing() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}
