package db

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"portico/internal/cachekey"
	"portico/store"
)

// Listing describes a table that can be paged by cursor and by offset.
type Listing[T any] struct {
	Name, Columns, Table, ID string
	TimePrefix               string // of the time columns, where the table is a join
	CounterName              string // counter with the total of the unfiltered list; empty if none
	TotalSQL                 string // query for the stored total of the list without ranges, by the values of Within; empty to count rows
	CountTable               string // table whose rows are counted, where Table joins others; empty means Table
	Conditions               []Condition
	NameColumn               string // column of SortName; empty if the list cannot be sorted by name
	NumberColumn             string // a column of numbers that the list can be sorted by, whose name is the sort; empty if none
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

func (w Condition) key() cachekey.Key {
	if w.CursorName != (cachekey.Key{}) {
		return w.CursorName
	}
	parts := []string{w.Clause}
	for _, value := range w.Values {
		parts = append(parts, fmt.Sprintf("%T", value), fmt.Sprint(value))
	}
	return cachekey.New(parts...)
}

// Order returns the sort columns; the id is last.
func (l Listing[T]) Order(sort store.Sort) []string {
	switch {
	case sort.By == store.SortCreatedAt, sort.By == store.SortUpdatedAt:
		return []string{l.column(sort.By), l.ID}
	case l.NumberColumn != "" && string(sort.By) == l.NumberColumn:
		return []string{l.NumberColumn, l.ID}
	case sort.By == store.SortName && l.NameColumn != "":
		return []string{l.NameColumn, l.ID}
	}
	return []string{l.ID}
}

func (l Listing[T]) column(by store.SortBy) string {
	if by == store.SortID {
		return l.ID
	}
	return l.TimePrefix + string(by)
}

// List reads a page. The slice counts the total only when asked.
func List[T any](ctx context.Context, s *DB, l Listing[T], query store.ListQuery) (*store.Slice[T], error) {
	b, err := checkQuery(ctx, s, query)
	if err != nil {
		return nil, err
	}
	condition, bound, err := l.pageConditions(query, nil)
	if err != nil {
		return nil, err
	}
	rows, err := Collect(ctx, s.Reader, l.Scan, l.SQL(query.Sort, condition, query.Sort.Descending != b.Backward, len(bound)),
		append(bound, b.Limit+1, b.Offset)...)
	if err != nil {
		return nil, err
	}
	return l.slice(rows, query, b, l.total(s, query.Ranges)), nil
}

// Lists reads the same page of each list in one statement. The lists differ in the values of their conditions, and of
// tells in which of them a row is. A cursor belongs to one list: with several lists it is INVALID.
func Lists[T any](ctx context.Context, s *DB, lists []Listing[T], query store.ListQuery, of func(T) int) ([]*store.Slice[T], error) {
	b, err := checkQuery(ctx, s, query)
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
		if condition, bound, err = l.pageConditions(query, bound); err != nil {
			return nil, err
		}
		name := "list" + strconv.Itoa(i)
		parts = append(parts, `SELECT `+name+`.* FROM (`+l.SQL(query.Sort, condition, query.Sort.Descending != b.Backward, len(bound))+`) AS `+name)
		bound = append(bound, b.Limit+1, b.Offset)
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
	slices := make([]*store.Slice[T], len(lists))
	for i, l := range lists {
		slices[i] = l.slice(rows[i], query, b, l.total(s, query.Ranges))
	}
	return slices, nil
}

// checkQuery checks the page and the ranges of a query.
func checkQuery(ctx context.Context, s *DB, query store.ListQuery) (b store.CheckedPage, err error) {
	settings, err := s.Settings(ctx)
	if err != nil {
		return b, err
	}
	if b, err = query.Page.Check(settings.PageLength); err != nil {
		return b, err
	}
	for _, r := range query.Ranges {
		if err := r.Check(); err != nil {
			return b, err
		}
	}
	return b, nil
}

// total returns what counts the rows that match.
func (l Listing[T]) total(s *DB, ranges []store.Range) func(context.Context) (int, error) {
	return func(ctx context.Context) (n int, err error) {
		where, args := l.Where(ranges, nil)
		switch {
		case len(ranges) == 0 && l.CounterName != "":
			n, _, err = One(ctx, s.Reader, Scalar[int], `SELECT value FROM counter WHERE name = $1`, l.CounterName)
		case len(ranges) == 0 && l.TotalSQL != "":
			n, _, err = One(ctx, s.Reader, Scalar[int], l.TotalSQL, args...)
		default:
			n, _, err = One(ctx, s.Reader, Scalar[int], `SELECT COUNT(*) FROM `+cmp.Or(l.CountTable, l.Table)+` WHERE `+strings.Join(append(where, "TRUE"), " AND "), args...)
		}
		return n, err
	}
}

// pageConditions returns the conditions of a page, whose parameters follow those in bound.
func (l Listing[T]) pageConditions(query store.ListQuery, bound []any) (conditions []string, all []any, err error) {
	conditions, bound = l.Where(query.Ranges, bound)
	name := l.CursorName(query)
	for member, text := range query.Page.Cursors {
		key, err := l.CursorKey(*text, name, member, query.Sort)
		if err != nil {
			return nil, nil, err
		}
		greater := (member == "after") != query.Sort.Descending
		var clause string
		clause, bound = KeysetCondition(l.Order(query.Sort), key, greater, bound)
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

// CursorName returns the name of the list in its cursors.
func (l Listing[T]) CursorName(query store.ListQuery) string {
	return store.ListName(cachekey.New("rows"), cachekey.New(l.Name), query.Sort.Key(),
		cachekey.Each(l.Conditions, Condition.key), cachekey.Each(query.Ranges, store.Range.Key))
}

// SQL is the query of a page. Its last two parameters are limit and offset.
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

// CursorKey returns the sort key of a cursor of the list called name.
func (l Listing[T]) CursorKey(text, name, member string, sort store.Sort) ([]any, error) {
	c, err := store.ParseCursor(text, name, member)
	if err != nil {
		return nil, err
	}
	return l.cursorKey(c, sort, member)
}

// cursorKey checks the values of a cursor's key, which a client sent.
func (l Listing[T]) cursorKey(c store.Cursor, sort store.Sort, member string) ([]any, error) {
	columns := l.Order(sort)
	bad := store.Invalidf([]string{member}, "is not a cursor of this list; use one from pageInfo or from a page's links, unchanged")
	if len(c.Key) != len(columns) {
		return nil, bad
	}
	key := make([]any, len(columns))
	for i, value := range c.Key {
		switch value := value.(type) {
		case string:
			if i != len(columns)-1 && columns[i] != l.NameColumn || !store.IsStorableText(value) {
				return nil, bad
			}
			key[i] = value
		case json.Number:
			number, err := value.Int64()
			if i == len(columns)-1 || columns[i] == l.NameColumn || err != nil {
				return nil, bad
			}
			key[i] = number
		default:
			return nil, bad
		}
	}
	return key, nil
}

// KeysetCondition returns the row comparison (a, b) > ($1, $2), or < if greater is false.
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

// slice builds the page and drops the extra row that was read to see whether there
// are more.
func (l Listing[T]) slice(rows []T, query store.ListQuery, b store.CheckedPage, total func(context.Context) (int, error)) *store.Slice[T] {
	more := len(rows) > b.Limit
	if more {
		rows = rows[:b.Limit]
	}
	slice := &store.Slice[T]{Items: rows, Limit: b.Limit, Offset: -1, Total: total}
	if b.Backward {
		slices.Reverse(rows)
		slice.HasPrevious, slice.HasNext = more, b.Before != ""
	} else {
		slice.HasNext, slice.HasPrevious = more, b.After != "" || b.Offset > 0
	}
	if b.After == "" && b.Before == "" && !b.Backward {
		slice.Offset = b.Offset
	}
	name := l.CursorName(query)
	slice.Cursor = func(item int) string { return store.Cursor{List: name, Key: l.Key(rows[item], query.Sort)}.String() }
	return slice
}
