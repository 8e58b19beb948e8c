package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"portico/store"
	"portico/store/db/dialect"
)

// Session runs SQL on a pool, a connection or a transaction. It counts statements and
// prepares them where that helps.
type Session struct {
	conn interface {
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
		PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	}
	background    *sql.DB           // pool for reads under WithBackgroundPool; nil to use conn
	prepared      *statements       // nil if the driver caches statements
	classify      func(error) error // classifies driver errors; nil leaves them
	identityGuard *identityGuard    // fails queries while suspended; nil does not
	timeout       time.Duration     // timeout of a query; 0 for none
	keyed         bool              // set by Keyed, on SQLite: queries do not watch their context
	retryable     func(error) bool  // whether a failed read may be retried; nil never
	standby       *standby          // read before conn, for release; nil for none
	release       ReleaseIdentity   // that the standby must have replayed
	slow          *slowStatements   // nil counts none
}

// statements caches prepared statements. All texts come from this package and IN lists
// have sizes that are powers of two, so there are few.
type statements struct {
	mu     sync.Mutex
	byText map[string]*sql.Stmt
}

// close closes the statements.
func (s *statements) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stmt := range s.byText {
		stmt.Close()
	}
	clear(s.byText)
}

func newStatements() *statements { return &statements{byText: map[string]*sql.Stmt{}} }

// prepare returns the prepared statement of a query on SQLite. The first call for a text prepares it.
func (s Session) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	s.prepared.mu.Lock()
	defer s.prepared.mu.Unlock()
	if stmt := s.prepared.byText[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := s.conn.PrepareContext(context.WithoutCancel(ctx), withoutUndo(cmp.Or(positional(query), query)))
	if err == nil {
		s.prepared.byText[query] = stmt
	}
	return stmt, err
}

// withoutUndo changes an INSERT so that SQLite does not copy the pages that it changes, which it does to
// undo a statement that fails after some rows. A failed statement leaves its first rows in the
// transaction, so the transaction or its savepoint must be rolled back, as PostgreSQL requires too.
func withoutUndo(query string) string {
	if rows, insert := strings.CutPrefix(query, "INSERT INTO "); insert {
		return "INSERT OR FAIL INTO " + rows
	}
	return query
}

// positional replaces $1, $2 and so on by ? in a query that has each once and in order,
// and returns "" for another query. SQLite treats $1 as a named parameter, which the
// driver looks up with a linear search.
func positional(query string) string {
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, more := strings.Cut(query, "$")
		b.WriteString(before)
		if !more {
			return b.String()
		}
		rest, next := strings.CutPrefix(after, strconv.Itoa(n))
		if !next || rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			return ""
		}
		b.WriteByte('?')
		query = rest
	}
}

// Exec runs a statement and returns the number of rows it wrote.
func (s Session) Exec(ctx context.Context, query string, args ...any) (written int64, err error) {
	store.CountStatement(ctx, query)
	throttleOf(ctx).yield()
	defer s.slow.record(query, time.Now())
	if observer := store.ObserverOf(ctx); observer != nil {
		defer func(began time.Time) { observer.Statement(ctx, query, began, written, err) }(time.Now())
	}
	var result sql.Result
	if s.prepared != nil {
		stmt, prepareErr := s.prepare(ctx, query)
		if prepareErr != nil {
			return 0, prepareErr
		}
		result, err = stmt.ExecContext(ctx, args...)
	} else {
		result, err = s.conn.ExecContext(ctx, query, args...)
	}
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// query starts a query: prepared on SQLite, on the background connection under WithBackgroundPool, else on conn.
func (s Session) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	store.CountStatement(ctx, query)
	if s.prepared != nil {
		stmt, err := s.prepare(ctx, query)
		if err != nil {
			return nil, err
		}
		return stmt.QueryContext(ctx, args...)
	}
	if s.background != nil && usesBackgroundPool(ctx) {
		return s.background.QueryContext(ctx, query, args...)
	}
	return s.conn.QueryContext(ctx, query, args...)
}

// Keyed returns a session for queries that read rows by their keys, so that they always end soon. On SQLite such a
// query runs to its end when ctx ends meanwhile: to watch ctx takes two goroutines, which cost as much as reading
// ten rows.
func (s Session) Keyed() Session {
	s.keyed = s.prepared != nil
	return s
}

// bulk runs Dialect.Bulk, which prepares the transaction for many rows.
func (s Session) bulk(ctx context.Context, engine dialect.Dialect) error {
	statement := engine.Bulk()
	if statement == "" {
		return nil
	}
	_, err := s.Exec(ctx, statement)
	return err
}

// Collect returns all rows of a query. Outside a transaction it retries once if the
// connection was lost or another transaction won, before the first row. A query of a
// release (ReleaseReader) also runs again after some rows, so scan must give the same
// result when it starts again with the first row.
func Collect[T any](ctx context.Context, s Session, scan func(*sql.Rows) (T, error), query string, args ...any) (list []T, err error) {
	defer s.slow.record(query, time.Now())
	if observer := store.ObserverOf(ctx); observer != nil {
		defer func(ctx context.Context, began time.Time) {
			observer.Statement(ctx, query, began, int64(len(list)), err)
		}(ctx, time.Now())
	}
	switch {
	case s.keyed && ctx.Err() != nil:
		return nil, s.queryError(ctx, query, ctx.Err())
	case s.keyed:
		ctx = context.WithoutCancel(ctx)
	case s.timeout > 0:
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.timeout, store.ErrTimeout)
		defer cancel()
	}
	phase, err := s.identityGuard.begin()
	if err != nil {
		return nil, err
	}
	list, done, err := collectOnStandby(ctx, s, phase, scan, query, args)
	if !done {
		list, err = readRows(ctx, s, scan, query, args)
	}
	if err != nil && !done && len(list) == 0 && ctx.Err() == nil && s.retryable != nil && s.retryable(err) {
		list, err = readRows(dialect.WithPing(ctx), s, scan, query, args)
	}
	if err != nil {
		return nil, s.queryError(ctx, query, err)
	}
	if err := s.identityGuard.verify(phase); err != nil {
		return nil, err
	}
	return list, nil
}

// readRows returns the rows read so far with the error.
func readRows[T any](ctx context.Context, s Session, scan func(*sql.Rows) (T, error), query string, args []any) (list []T, err error) {
	rows, err := s.query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	job := throttleOf(ctx)
	for rows.Next() {
		job.yield()
		item, err := scan(rows)
		if err != nil {
			return list, err
		}
		list = append(list, item)
	}
	return list, rows.Err()
}

// queryError classifies the error of a query and adds the query's first line. The end of the caller's context is no error of
// the database, so it is not classified; the end of the session's timeout is.
func (s Session) queryError(ctx context.Context, query string, err error) error {
	ended, timedOut := ctx.Err(), errors.Is(context.Cause(ctx), store.ErrTimeout)
	switch { // each driver reports the end of a context differently
	case timedOut:
		err = fmt.Errorf("%w: %w", store.ErrTimeout, err)
	case ended != nil:
		err = fmt.Errorf("%w: %w", ended, err)
	}
	if (ended == nil || timedOut) && s.classify != nil {
		err = s.classify(err)
	}
	return fmt.Errorf("%s: %w", firstLine(query), err)
}

// One returns the first row of a query; found is false if there is none.
func One[T any](ctx context.Context, s Session, scan func(*sql.Rows) (T, error), query string, args ...any) (item T, found bool, err error) {
	list, err := Collect(ctx, s, scan, query, args...)
	if err != nil || len(list) == 0 {
		return item, false, err
	}
	return list[0], true, nil
}

// Scalar scans rows of one column.
func Scalar[T any](rows *sql.Rows) (value T, err error) {
	err = rows.Scan(&value)
	return value, err
}

func firstLine(query string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(query), "\n")
	return line
}
