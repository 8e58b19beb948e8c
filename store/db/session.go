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
)

// Session runs SQL on a pool, a connection or a transaction. It counts the
// statements (CountStatements) and keeps them prepared where that helps.
type Session struct {
	on interface {
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
		PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	}
	aside      *sql.DB           // reads what is read aside; nil where that is no other
	prepared   *statements       // nil where the driver keeps statements itself
	explain    func(error) error // says what an engine's error means; nil leaves it
	continuity *continuity       // whose doubt ends a query; nil where it does not
	patience   time.Duration     // bounds a query; 0 leaves it to the caller's context
	again      func(error) bool  // tells that a read can be made once more, as where its connection was lost; nil where it cannot, as in a transaction
}

// statements are the prepared ones of a session that lasts. All texts come
// from this package and IN lists come in powers of two, so they are few.
type statements struct {
	mu   sync.Mutex
	text map[string]*sql.Stmt
}

// close ends them; who still reads prepares none beside it.
func (s *statements) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stmt := range s.text {
		stmt.Close()
	}
}

func newStatements() *statements { return &statements{text: map[string]*sql.Stmt{}} }

func (s Session) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	s.prepared.mu.Lock()
	defer s.prepared.mu.Unlock()
	if stmt := s.prepared.text[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := s.on.PrepareContext(context.WithoutCancel(ctx), cmp.Or(inTurn(query), query))
	if err == nil {
		s.prepared.text[query] = stmt
	}
	return stmt, err
}

// inTurn writes ? for the parameters $1, $2 and so on of a query that has each
// once and in order; empty for another query. SQLite takes $1 for a name, and its driver asks for the
// name of each, which the engine finds by going through all before it.
func inTurn(query string) string {
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

// Exec runs a statement, and tells how many rows it wrote.
func (s Session) Exec(ctx context.Context, query string, args ...any) (written int64, err error) {
	store.CountStatement(ctx, query)
	if told := store.ObserverOf(ctx); told != nil {
		defer func(began time.Time) { told.Statement(ctx, query, began, written, err) }(time.Now())
	}
	var result sql.Result
	if s.prepared != nil {
		stmt, prepareErr := s.prepare(ctx, query)
		if prepareErr != nil {
			return 0, prepareErr
		}
		result, err = stmt.ExecContext(ctx, args...)
	} else {
		result, err = s.on.ExecContext(ctx, query, args...)
	}
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (s Session) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	store.CountStatement(ctx, query)
	if s.prepared != nil {
		stmt, err := s.prepare(ctx, query)
		if err != nil {
			return nil, err
		}
		return stmt.QueryContext(ctx, args...)
	}
	if s.aside != nil && isAside(ctx) {
		return s.aside.QueryContext(ctx, query, args...)
	}
	return s.on.QueryContext(ctx, query, args...)
}

// bulk prepares a transaction for many rows.
func (s Session) bulk(ctx context.Context, engine dialect) error {
	statement := engine.bulk()
	if statement == "" {
		return nil
	}
	_, err := s.Exec(ctx, statement)
	return err
}

// Collect reads every row of a query. Outside a transaction it does so once more
// where the connection was lost, or the query lost to another transaction, before
// the first of them came.
func Collect[T any](ctx context.Context, s Session, scan func(*sql.Rows) (T, error), query string, args ...any) (list []T, err error) {
	if told := store.ObserverOf(ctx); told != nil {
		defer func(ctx context.Context, began time.Time) { told.Statement(ctx, query, began, int64(len(list)), err) }(ctx, time.Now())
	}
	if s.patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.patience, store.ErrSlow)
		defer cancel()
	}
	phase, err := s.continuity.enter()
	if err != nil {
		return nil, err
	}
	list, err = readRows(ctx, s, scan, query, args)
	if err != nil && len(list) == 0 && ctx.Err() == nil && s.again != nil && s.again(err) {
		list, err = readRows(onLiving(ctx), s, scan, query, args)
	}
	if err != nil {
		return nil, s.failed(ctx, query, err)
	}
	if err := s.continuity.left(phase); err != nil {
		return nil, err
	}
	return list, nil
}

// readRows reads the rows of a query, as far as it comes.
func readRows[T any](ctx context.Context, s Session, scan func(*sql.Rows) (T, error), query string, args []any) (list []T, err error) {
	rows, err := s.query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		item, err := scan(rows)
		if err != nil {
			return list, err
		}
		list = append(list, item)
	}
	return list, rows.Err()
}

// failed names the statement that an error came from.
func (s Session) failed(ctx context.Context, query string, err error) error {
	given, slow := ctx.Err(), errors.Is(context.Cause(ctx), store.ErrSlow)
	switch { // what ended it each engine says in its own way
	case slow:
		err = fmt.Errorf("%w: %w", store.ErrSlow, err)
	case given != nil:
		err = fmt.Errorf("%w: %w", given, err)
	}
	if (given == nil || slow) && s.explain != nil {
		err = s.explain(err)
	}
	return fmt.Errorf("%s: %w", firstLine(query), err)
}

// One reads the first row of a query; found is false when there is none.
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

// In is the IN list of an ID query, "$3,$4,…", and args with the values
// appended. The list is padded with its last value to a power of two, so that
// few texts are ever prepared. Values must not be empty.
func In[T any](args []any, values []T) (list string, all []any) {
	size := 1
	for size < len(values) {
		size *= 2
	}
	var b strings.Builder
	for i := range size {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "$%d", len(args)+1)
		args = append(args, values[min(i, len(values)-1)])
	}
	return b.String(), args
}
