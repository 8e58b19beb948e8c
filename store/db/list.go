package db

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"portico/internal/cachekey"
	"portico/store"
)

// Listing describes a table that can be paged by cursor and by offset.
type Listing[T any] struct {
	Name, Columns, Table, ID string // Name identifies the list in cursors; ID is the column of the id
	TimePrefix               string // of the time columns, where the table is a join
	CounterName              string // counter with the total of the unfiltered list; empty if none
	TotalSQL                 string // query for the stored total of the list without ranges, with the values of Conditions as parameters; empty to count rows
	CountTable               string // table whose rows are counted, where Table joins others; empty means Table
	Conditions               []Condition
	Orders                   map[store.SortBy][]string // columns of each sort but by id and times, without the id
	Scan                     func(*sql.Rows) (T, error)
	Key                      func(T, store.Sort) []any // sort key of a row; its id is last
}

// Condition is a condition of a list. Each ? of Clause stands for the next value.
type Condition struct {
	Clause string
	Values []any
	// CursorName identifies the condition in cursors if its values change between requests,
	// as a time does. If zero, Clause and Values do.
	CursorName cachekey.Key
}

// key identifies the condition in cursors.
func (c Condition) key() cachekey.Key {
	if c.CursorName != (cachekey.Key{}) {
		return c.CursorName
	}
	parts := []string{c.Clause}
	for _, value := range c.Values {
		parts = append(parts, fmt.Sprintf("%T", value), fmt.Sprint(value))
	}
	return cachekey.New(parts...)
}

// Order returns the sort columns; the id is last.
func (l Listing[T]) Order(sort store.Sort) []string {
	if sort.By == store.SortCreatedAt || sort.By == store.SortUpdatedAt {
		return []string{l.column(sort.By), l.ID}
	}
	return append(slices.Clone(l.Orders[sort.By]), l.ID)
}

// column returns the column of the id, or of a time.
func (l Listing[T]) column(by store.SortBy) string {
	if by == store.SortID {
		return l.ID
	}
	return l.TimePrefix + string(by)
}

// List reads a page. The slice counts the total only when Total is called.
func List[T any](ctx context.Context, s *DB, l Listing[T], query store.ListQuery) (*store.Slice[T], error) {
	p, err := newListPage(ctx, s, query)
	if err != nil {
		return nil, err
	}
	condition, bound, err := l.pageConditions(p, nil)
	if err != nil {
		return nil, err
	}
	rows, err := Collect(ctx, s.Reader, l.Scan, l.SQL(query.Sort, condition, query.Sort.Descending != p.Backward, len(bound)),
		append(bound, p.Limit+1, p.Offset)...)
	if err != nil {
		return nil, err
	}
	return l.slice(rows, p, l.total(s, query.Ranges)), nil
}

// Lists reads the same page of each list in one statement. The lists differ in the values of their conditions, and of
// tells in which of them a row is. A cursor belongs to one list: with several lists it is CURSOR_MISMATCH.
func Lists[T any](ctx context.Context, s *DB, lists []Listing[T], query store.ListQuery, of func(T) int) ([]*store.Slice[T], error) {
	p, err := newListPage(ctx, s, query)
	if err != nil {
		return nil, err
	}
	if len(lists) == 1 {
		slice, err := List(ctx, s, lists[0], query)
		if err != nil {
			return nil, err
		}
		return []*store.Slice[T]{slice}, nil
	}
	var parts []string
	var bound []any
	for i, l := range lists {
		var condition []string
		if condition, bound, err = l.pageConditions(p, bound); err != nil {
			return nil, err
		}
		name := "list" + strconv.Itoa(i)
		parts = append(parts, `SELECT `+name+`.* FROM (`+l.SQL(query.Sort, condition, query.Sort.Descending != p.Backward, len(bound))+`) AS `+name)
		bound = append(bound, p.Limit+1, p.Offset)
	}
	rows := make([][]T, len(lists))
	if len(lists) > 0 {
		all, err := Collect(ctx, s.Reader, lists[0].Scan, strings.Join(parts, " UNION ALL "), bound...)
		if err != nil {
			return nil, err
		}
		for _, row := range all {
			rows[of(row)] = append(rows[of(row)], row)
		}
	}
	pages, totals := make([]*store.Slice[T], len(lists)), totalsOf(s, lists, query.Ranges)
	for i, l := range lists {
		pages[i] = l.slice(rows[i], p, totals(i))
	}
	return pages, nil
}

// listPage is a checked query.
type listPage struct {
	store.CheckedPage
	query   store.ListQuery
	cursors *store.CursorKey
}

// newListPage checks the page and the ranges of a query.
func newListPage(ctx context.Context, s *DB, query store.ListQuery) (p listPage, err error) {
	settings, err := s.shopSettings(ctx)
	if err != nil {
		return p, err
	}
	p.query, p.cursors = query, settings.cursors
	if p.CheckedPage, err = query.Page.Check(settings.PageLength); err != nil {
		return p, err
	}
	for _, r := range query.Ranges {
		if err := r.Check(); err != nil {
			return p, err
		}
	}
	return p, nil
}

// total returns what counts the rows that match.
func (l Listing[T]) total(s *DB, ranges []store.Range) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		query, args := l.totalSQL(ranges, nil)
		n, _, err := One(ctx, s.Reader, Scalar[int], query, args...)
		return n, err
	}
}

// totalsOf returns what counts the rows that match of each list. The first call counts those of all lists in one statement.
func totalsOf[T any](s *DB, lists []Listing[T], ranges []store.Range) func(list int) func(context.Context) (int, error) {
	var once sync.Once
	var counts []int
	var failed error
	count := func(ctx context.Context) {
		queries, args := make([]string, len(lists)), []any(nil)
		for i, l := range lists {
			queries[i], args = l.totalSQL(ranges, args)
			queries[i] = `SELECT ` + strconv.Itoa(i) + `, COALESCE((` + queries[i] + `), 0)`
		}
		counts = make([]int, len(lists))
		_, failed = Collect(ctx, s.Reader, func(rows *sql.Rows) (list int, err error) {
			n := 0
			if err = rows.Scan(&list, &n); err == nil {
				counts[list] = n
			}
			return list, err
		}, strings.Join(queries, " UNION ALL "), args...)
	}
	return func(list int) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) {
			once.Do(func() { count(ctx) })
			if failed != nil {
				return 0, failed
			}
			return counts[list], nil
		}
	}
}

// parameterNumbers finds the parameters of a statement.
var parameterNumbers = regexp.MustCompile(`\$\d+`)

// totalSQL returns the query of the number of rows that match, whose parameters follow args, and the values of all parameters.
func (l Listing[T]) totalSQL(ranges []store.Range, args []any) (query string, all []any) {
	if len(ranges) == 0 && l.CounterName != "" {
		return `SELECT value FROM counter WHERE name = $` + strconv.Itoa(len(args)+1), append(args, l.CounterName)
	}
	where, all := l.Where(ranges, args)
	if len(ranges) > 0 || l.TotalSQL == "" {
		return `SELECT COUNT(*) FROM ` + cmp.Or(l.CountTable, l.Table) + ` WHERE ` + strings.Join(append(where, "TRUE"), " AND "), all
	}
	return parameterNumbers.ReplaceAllStringFunc(l.TotalSQL, func(parameter string) string {
		n, _ := strconv.Atoi(parameter[1:])
		return "$" + strconv.Itoa(len(args)+n)
	}), all
}

// pageConditions returns the conditions of a page, whose parameters follow those in bound.
func (l Listing[T]) pageConditions(p listPage, bound []any) (conditions []string, all []any, err error) {
	conditions, bound = l.Where(p.query.Ranges, bound)
	list := l.ListID(p.query)
	for member, text := range p.query.Page.Cursors {
		c, err := p.cursors.Parse(*text, list, member)
		if err != nil {
			return nil, nil, err
		}
		greater := (member == "after") != p.query.Sort.Descending
		var clause string
		clause, bound = KeysetCondition(l.Order(p.query.Sort), c.Key, greater, bound)
		conditions = append(conditions, clause)
	}
	return conditions, bound, nil
}

// Where returns the conditions of a list, whose parameters follow args, and the values of all parameters.
func (l Listing[T]) Where(ranges []store.Range, args []any) (where []string, all []any) {
	for _, w := range l.Conditions {
		var clause strings.Builder
		for i, part := range strings.Split(w.Clause, "?") {
			if i > 0 {
				args = append(args, w.Values[i-1])
				clause.WriteString("$" + strconv.Itoa(len(args)))
			}
			clause.WriteString(part)
		}
		where = append(where, clause.String())
	}
	for _, r := range ranges {
		args = append(args, r.Value())
		where = append(where, fmt.Sprintf("%s %s $%d", l.column(r.Attribute), store.RangeOperators[r.Operator], len(args)))
	}
	return where, args
}

// ListID identifies the list of a query in its cursors.
func (l Listing[T]) ListID(query store.ListQuery) store.ListID {
	return store.NewListID(cachekey.New("rows"), cachekey.New(l.Name), query.Sort.Key(),
		cachekey.Each(l.Conditions, Condition.key), cachekey.Each(query.Ranges, store.Range.Key))
}

// SQL is the query of a page. Its last two parameters are limit and offset, which follow args others.
func (l Listing[T]) SQL(sort store.Sort, condition []string, descending bool, args int) string {
	text := `SELECT ` + l.Columns + ` FROM ` + l.Table
	if len(condition) > 0 {
		text += ` WHERE ` + strings.Join(condition, " AND ")
	}
	direction := " ASC"
	if descending {
		direction = " DESC"
	}
	return text + ` ORDER BY ` + strings.Join(l.Order(sort), direction+", ") + direction +
		fmt.Sprintf(` LIMIT $%d OFFSET $%d`, args+1, args+2)
}

// KeysetCondition returns the row comparison (a, b) > ($1, $2), or < if greater is false. Its parameters follow args.
func KeysetCondition(columns []string, key []any, greater bool, args []any) (clause string, all []any) {
	operator := "<"
	if greater {
		operator = ">"
	}
	places := make([]string, len(key))
	for i, value := range key {
		args = append(args, value)
		places[i] = "$" + strconv.Itoa(len(args))
	}
	return fmt.Sprintf("(%s) %s (%s)", strings.Join(columns, ", "), operator, strings.Join(places, ", ")), args
}

// slice builds the page and drops the extra row that was read to see whether there are more. In the other direction there
// are rows if a cursor or an offset says so. A page by cursor does not know its offset.
func (l Listing[T]) slice(rows []T, p listPage, total func(context.Context) (int, error)) *store.Slice[T] {
	more := len(rows) > p.Limit
	if more {
		rows = rows[:p.Limit]
	}
	slice := &store.Slice[T]{Items: rows, Limit: p.Limit, Offset: -1, Total: total}
	if p.Backward {
		slices.Reverse(rows)
		slice.HasPrevious, slice.HasNext = more, p.Before != ""
	} else {
		slice.HasNext, slice.HasPrevious = more, p.After != "" || p.Offset > 0
	}
	if p.After == "" && p.Before == "" && !p.Backward {
		slice.Offset = p.Offset
	}
	list := l.ListID(p.query)
	slice.Cursor = func(item int) string {
		return p.cursors.Sign(store.Cursor{List: list, Key: l.Key(rows[item], p.query.Sort)})
	}
	return slice
}
