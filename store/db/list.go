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

	"portico/store"
)

// Listing is a table that can be paged by key and by offset.
type Listing[T any] struct {
	Name, Columns, Table, ID string
	Prefix                   string // of the columns of times, where the table is several joined
	Counter                  string // the stored total, for a list without bounds whose rows stay; empty where rows are counted
	Total                    string // a query of the stored total of a list without bounds, by the values of within; empty where rows are counted
	Counted                  string // the table whose rows are counted, where others are only joined to it; empty is table
	Within                   []Within
	Named                    string // the column of SortName, a text; empty where that is no order of the list
	Scan                     func(*sql.Rows) (T, error)
	Key                      func(T, store.Sort) []any // the row's sort key, ending in its id
}

// Within keeps a list to the rows of which a condition holds. Each ? of the
// clause stands for the next value.
type Within struct {
	Clause string
	Values []any

	// Name is the condition in the list's cursors, where its values change
	// between two requests, as the time does; empty for clause and values.
	Name string
}

func (w Within) name() string { return cmp.Or(w.Name, fmt.Sprint(w.Clause, w.Values)) }

// Order is the list's sort columns, the last of which is the id.
func (l Listing[T]) Order(sort store.Sort) []string {
	switch {
	case sort.By == store.SortCreatedAt, sort.By == store.SortUpdatedAt:
		return []string{l.column(sort.By), l.ID}
	case sort.By == store.SortName && l.Named != "":
		return []string{l.Named, l.ID}
	}
	return []string{l.ID}
}

func (l Listing[T]) column(by store.SortBy) string {
	if by == store.SortID {
		return l.ID
	}
	return l.Prefix + string(by)
}

// List reads a page and, when asked, the total.
func List[T any](ctx context.Context, s *DB, l Listing[T], query store.ListQuery) (*store.Slice[T], error) {
	settings, err := s.Settings(ctx)
	if err != nil {
		return nil, err
	}
	b, err := query.Page.Check(settings.PageLength)
	if err != nil {
		return nil, err
	}
	for _, r := range query.Ranges {
		if err := r.Check(); err != nil {
			return nil, err
		}
	}
	where, args := l.Where(query.Ranges)
	total := func(ctx context.Context) (int, error) {
		if len(query.Ranges) == 0 && l.Counter != "" {
			n, _, err := One(ctx, s.Reader, Scalar[int], `SELECT value FROM counter WHERE name = $1`, l.Counter)
			return n, err
		}
		if len(query.Ranges) == 0 && l.Total != "" {
			n, _, err := One(ctx, s.Reader, Scalar[int], l.Total, args...)
			return n, err
		}
		n, _, err := One(ctx, s.Reader, Scalar[int], `SELECT COUNT(*) FROM `+cmp.Or(l.Counted, l.Table)+` WHERE `+strings.Join(slices.Concat(where, []string{"TRUE"}), " AND "), args...)
		return n, err
	}
	name := l.Called(query)
	descending := query.Sort.Descending != b.Backward
	condition, bound := slices.Clone(where), slices.Clone(args)
	for member, text := range query.Page.Cursors {
		key, err := l.KeyOf(*text, name, member, query.Sort)
		if err != nil {
			return nil, err
		}
		greater := (member == "after") != query.Sort.Descending
		var clause string
		clause, bound = Beyond(l.Order(query.Sort), key, greater, bound)
		condition = append(condition, clause)
	}
	offset := b.Offset
	if len(condition) == 0 && l.Counter != "" && query.Sort == (store.Sort{}) && offset >= landmarkEvery {
		var from string
		if from, offset, err = landmark(ctx, s, l, total, offset); err != nil {
			return nil, err
		}
		bound = append(bound, from)
		condition = append(condition, l.ID+" >= $1")
	}
	rows, err := Collect(ctx, s.Reader, l.Scan, l.Text(query.Sort, condition, descending, len(bound)),
		append(bound, b.Limit+1, offset)...)
	if err != nil {
		return nil, err
	}
	return l.slice(rows, query, b, name, total), nil
}

// cachedMarks is the kind of landmarks in the cache, by table and length.
const cachedMarks = 'm'

// landmarkEvery is how many rows lie between two landmarks.
const landmarkEvery = 500

// landmarks are the ids at every so many rows of a list by id, as far as an
// offset reaches. They hold as long as the list has as many rows as when they
// were read, because rows are added and never removed.
type landmarks []string

// Size is about how many bytes they take.
func (l landmarks) Size() int { return 40 * len(l) }

// landmark finds the row to count an offset from, so that a large offset
// passes over no more rows than a small one.
func landmark[T any](ctx context.Context, s *DB, l Listing[T], total func(context.Context) (int, error), offset int) (from string, rest int, err error) {
	n, err := total(ctx)
	if err != nil {
		return "", 0, err
	}
	key := CacheKey{Kind: cachedMarks, Name: l.Table, Number: n}
	marks, ok := Cached[landmarks](s.Cache, key)
	if !ok {
		if marks, err = Collect(ctx, s.Reader, Scalar[string], `
			SELECT `+l.ID+` FROM (
			    SELECT `+l.ID+`, ROW_NUMBER() OVER (ORDER BY `+l.ID+`) AS place FROM `+l.Table+`
			    ORDER BY `+l.ID+` LIMIT $1) AS listed
			WHERE place % $2 = 1 ORDER BY place`, store.MaxOffset+1, landmarkEvery); err != nil {
			return "", 0, err
		}
		s.Cache.Keep(key, marks)
	}
	if len(marks) == 0 {
		return "", offset, nil
	}
	at := min(offset/landmarkEvery, len(marks)-1)
	return marks[at], offset - at*landmarkEvery, nil
}

// Where are the conditions of a page, and the values of their parameters.
func (l Listing[T]) Where(ranges []store.Range) (where []string, args []any) {
	for _, w := range l.Within {
		clause := w.Clause
		for _, value := range w.Values {
			args = append(args, value)
			clause = strings.Replace(clause, "?", "$"+strconv.Itoa(len(args)), 1)
		}
		where = append(where, clause)
	}
	for _, r := range ranges {
		args = append(args, r.Value())
		where = append(where, fmt.Sprintf("%s %s $%d", l.column(r.Attribute), store.RangeOperators[r.Operator], len(args)))
	}
	return where, args
}

// Called is the name of the list as its cursors have it.
func (l Listing[T]) Called(query store.ListQuery) string {
	return store.ListName(append([]string{l.Name, query.Sort.String()}, l.names(query.Ranges)...)...)
}

// names are what makes the list another one than its table.
func (l Listing[T]) names(ranges []store.Range) (names []string) {
	for _, w := range l.Within {
		names = append(names, w.name())
	}
	return append(names, store.RangeNames(ranges)...)
}

// Text is the page's query; its last two parameters are the limit and offset.
func (l Listing[T]) Text(sort store.Sort, condition []string, descending bool, args int) string {
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

// KeyOf is the sort key that a cursor of the list with that name stands for.
func (l Listing[T]) KeyOf(text, name, member string, sort store.Sort) ([]any, error) {
	c, err := store.ParseCursor(text, name, member)
	if err != nil {
		return nil, err
	}
	return l.cursorKey(c, sort, member)
}

// cursorKey checks the values of a cursor's key, which came from outside.
func (l Listing[T]) cursorKey(c store.Cursor, sort store.Sort, member string) ([]any, error) {
	columns := l.Order(sort)
	bad := store.Invalidf([]string{member}, "is not a cursor of this list; take it from pageInfo or from a page's links, unchanged")
	if len(c.Key) != len(columns) {
		return nil, bad
	}
	key := make([]any, len(columns))
	for i, value := range c.Key {
		switch value := value.(type) {
		case string:
			if i != len(columns)-1 && columns[i] != l.Named || !store.CleanText(value) {
				return nil, bad
			}
			key[i] = value
		case json.Number:
			number, err := value.Int64()
			if i == len(columns)-1 || columns[i] == l.Named || err != nil {
				return nil, bad
			}
			key[i] = number
		default:
			return nil, bad
		}
	}
	return key, nil
}

// Beyond is the row comparison (a, b) > ($1, $2).
func Beyond(columns []string, key []any, greater bool, args []any) (clause string, all []any) {
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

// slice cuts the row read too many, which only told that there is more.
func (l Listing[T]) slice(rows []T, query store.ListQuery, b store.Bounds, name string, total func(context.Context) (int, error)) *store.Slice[T] {
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
	slice.Cursor = func(item int) string { return store.Cursor{List: name, Key: l.Key(rows[item], query.Sort)}.String() }
	return slice
}
