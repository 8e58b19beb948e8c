package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// SortBy is what a list can be sorted by.
type SortBy string

// The sort keys (spec: Pagination). Each list ends its order with the id, so
// that no two rows tie.
const (
	SortDefault   SortBy = ""           // the list's own order
	SortID        SortBy = "id"         // ids compare byte by byte
	SortCreatedAt SortBy = "created_at" // then id
	SortUpdatedAt SortBy = "updated_at" // then id
)

// The further sort keys of products.
const (
	SortName      SortBy = "name"      // of the base text, as the base language collates it, then id; of promotions too, in no language's order
	SortPrice     SortBy = "price"     // what it costs now in the view's currency, then id; products without a price last in both directions
	SortRelevance SortBy = "relevance" // the more words of a search are in the name or SKU the earlier, then the list's own order
)

// Sort is an order of a list.
type Sort struct {
	By         SortBy
	Descending bool
}

func (s Sort) String() string {
	if s.Descending {
		return "-" + string(s.By)
	}
	return string(s.By)
}

// Range is a bound on a sort key, for paging by key as the contract describes:
// gt, ge, lt or le and a value.
type Range struct {
	Attribute SortBy
	Operator  string
	ID        string    // the value, when Attribute is id
	Time      time.Time // the value otherwise
}

// rangeOperators are SQL's words for the contract's.
var rangeOperators = map[string]string{"gt": ">", "ge": ">=", "lt": "<", "le": "<="}

// NewRange parses a bound: INVALID when the operator or the sort key is none,
// or the value is not one of its values.
func NewRange(attribute, operator, value string) (Range, error) {
	r := Range{Attribute: SortBy(attribute), Operator: operator}
	if rangeOperators[operator] == "" {
		return r, invalid([]string{"filter"}, "compares %s by %q, which is none of gt, ge, lt and le", attribute, operator)
	}
	switch r.Attribute {
	case SortID:
		r.ID = value
	case SortCreatedAt, SortUpdatedAt:
		at, err := parseTime(value)
		if err != nil {
			return r, invalid([]string{"filter"}, "compares %s with %q, which is no time; write it as 2012-05-30T00:00:00.000Z", attribute, value)
		}
		r.Time = at
	default:
		return r, invalid([]string{"filter"}, "compares %q by %s, which only takes id, created_at or updated_at", attribute, operator)
	}
	return r, r.check()
}

// check is INVALID for an id that no database keeps.
func (r Range) check() error {
	if !cleanText(r.ID) {
		return invalid([]string{"filter"}, "compares id with text that is not UTF-8 without NUL")
	}
	return nil
}

func (r Range) value() any {
	if r.Attribute == SortID {
		return r.ID
	}
	return micros(r.Time)
}

func (r Range) String() string { return fmt.Sprintf("%s(%s,%v)", r.Operator, r.Attribute, r.value()) }

// ListQuery is a page of a live list, sorted and bounded.
type ListQuery struct {
	Sort   Sort
	Ranges []Range
	Page   Page
}

// listing is a table that can be paged by key and by offset.
type listing[T any] struct {
	name, columns, table, id string
	prefix                   string // of the columns of times, where the table is several joined
	counter                  string // the stored total, for a list without bounds whose rows stay; empty where rows are counted
	counted                  string // the table whose rows are counted, where others are only joined to it; empty is table
	within                   []within
	named                    string // the column of SortName, a text; empty where that is no order of the list
	scan                     func(*sql.Rows) (T, error)
	key                      func(T, Sort) []any // the row's sort key, ending in its id
}

// within keeps a list to the rows of which a condition holds. Each ? of the
// clause stands for the next value.
type within struct {
	clause string
	values []any
}

// order is the list's sort columns, the last of which is the id.
func (l listing[T]) order(sort Sort) []string {
	switch {
	case sort.By == SortCreatedAt, sort.By == SortUpdatedAt:
		return []string{l.column(sort.By), l.id}
	case sort.By == SortName && l.named != "":
		return []string{l.named, l.id}
	}
	return []string{l.id}
}

func (l listing[T]) column(by SortBy) string {
	if by == SortID {
		return l.id
	}
	return l.prefix + string(by)
}

// list reads a page and, when asked, the total.
func list[T any](ctx context.Context, s *Store, l listing[T], query ListQuery) (*Slice[T], error) {
	settings, err := s.Settings(ctx)
	if err != nil {
		return nil, err
	}
	b, err := query.Page.check(settings.PageLength)
	if err != nil {
		return nil, err
	}
	for _, r := range query.Ranges {
		if err := r.check(); err != nil {
			return nil, err
		}
	}
	where, args := l.where(query.Ranges)
	total := func(ctx context.Context) (int, error) {
		if len(query.Ranges) == 0 && l.counter != "" {
			n, _, err := one(ctx, s.reader, scalar[int], `SELECT value FROM counter WHERE name = $1`, l.counter)
			return n, err
		}
		n, _, err := one(ctx, s.reader, scalar[int], `SELECT COUNT(*) FROM `+cmp.Or(l.counted, l.table)+` WHERE `+strings.Join(slices.Concat(where, []string{"TRUE"}), " AND "), args...)
		return n, err
	}
	name := l.called(query)
	descending := query.Sort.Descending != b.backward
	condition, bound := slices.Clone(where), slices.Clone(args)
	for member, text := range query.Page.cursors {
		key, err := l.keyOf(*text, name, member, query.Sort)
		if err != nil {
			return nil, err
		}
		greater := (member == "after") != query.Sort.Descending
		var clause string
		clause, bound = beyond(l.order(query.Sort), key, greater, bound)
		condition = append(condition, clause)
	}
	offset := b.offset
	if len(condition) == 0 && l.counter != "" && query.Sort == (Sort{}) && offset >= landmarkEvery {
		var from string
		if from, offset, err = landmark(ctx, s, l, total, offset); err != nil {
			return nil, err
		}
		bound = append(bound, from)
		condition = append(condition, l.id+" >= $1")
	}
	rows, err := collect(ctx, s.reader, l.scan, l.text(query.Sort, condition, descending, len(bound)),
		append(bound, b.limit+1, offset)...)
	if err != nil {
		return nil, err
	}
	return l.slice(rows, query, b, name, total), nil
}

// landmarkEvery is how many rows lie between two landmarks.
const landmarkEvery = 500

// landmarks are the ids at every so many rows of a list by id, as far as an
// offset reaches. They hold as long as the list has as many rows as when they
// were read, because rows are added and never removed.
type landmarks []string

func (l landmarks) size() int { return 40 * len(l) }

// landmark finds the row to count an offset from, so that a large offset
// passes over no more rows than a small one.
func landmark[T any](ctx context.Context, s *Store, l listing[T], total func(context.Context) (int, error), offset int) (from string, rest int, err error) {
	n, err := total(ctx)
	if err != nil {
		return "", 0, err
	}
	key := cacheKey{kind: cachedMarks, name: l.table, number: n}
	marks, ok := cached[landmarks](s.cache, key)
	if !ok {
		if marks, err = collect(ctx, s.reader, scalar[string], `
			SELECT `+l.id+` FROM (
			    SELECT `+l.id+`, ROW_NUMBER() OVER (ORDER BY `+l.id+`) AS place FROM `+l.table+`
			    ORDER BY `+l.id+` LIMIT $1) AS listed
			WHERE place % $2 = 1 ORDER BY place`, MaxOffset+1, landmarkEvery); err != nil {
			return "", 0, err
		}
		s.cache.keep(key, marks)
	}
	if len(marks) == 0 {
		return "", offset, nil
	}
	at := min(offset/landmarkEvery, len(marks)-1)
	return marks[at], offset - at*landmarkEvery, nil
}

func (l listing[T]) where(ranges []Range) (where []string, args []any) {
	for _, w := range l.within {
		clause := w.clause
		for _, value := range w.values {
			args = append(args, value)
			clause = strings.Replace(clause, "?", "$"+strconv.Itoa(len(args)), 1)
		}
		where = append(where, clause)
	}
	for _, r := range ranges {
		args = append(args, r.value())
		where = append(where, fmt.Sprintf("%s %s $%d", l.column(r.Attribute), rangeOperators[r.Operator], len(args)))
	}
	return where, args
}

// called is the name of the list as its cursors have it.
func (l listing[T]) called(query ListQuery) string {
	return listName(append([]string{l.name, query.Sort.String()}, l.names(query.Ranges)...)...)
}

// names are what makes the list another one than its table.
func (l listing[T]) names(ranges []Range) (names []string) {
	for _, w := range l.within {
		names = append(names, fmt.Sprint(w.clause, w.values))
	}
	return append(names, rangeNames(ranges)...)
}

func rangeNames(ranges []Range) (names []string) {
	for _, r := range ranges {
		names = append(names, r.String())
	}
	return names
}

// text is the page's query; its last two parameters are the limit and offset.
func (l listing[T]) text(sort Sort, condition []string, descending bool, args int) string {
	text := `SELECT ` + l.columns + ` FROM ` + l.table
	if len(condition) > 0 {
		text += ` WHERE ` + strings.Join(condition, " AND ")
	}
	direction := " ASC"
	if descending {
		direction = " DESC"
	}
	return text + ` ORDER BY ` + strings.Join(l.order(sort), direction+", ") + direction +
		fmt.Sprintf(` LIMIT $%d OFFSET $%d`, args+1, args+2)
}

// keyOf is the sort key that a cursor of the list with that name stands for.
func (l listing[T]) keyOf(text, name, member string, sort Sort) ([]any, error) {
	c, err := parseCursor(text, name, member)
	if err != nil {
		return nil, err
	}
	return l.cursorKey(c, sort, member)
}

// cursorKey checks the values of a cursor's key, which came from outside.
func (l listing[T]) cursorKey(c cursor, sort Sort, member string) ([]any, error) {
	columns := l.order(sort)
	bad := invalid([]string{member}, "is not a cursor of this list; take it from pageInfo or from a page's links, unchanged")
	if len(c.Key) != len(columns) {
		return nil, bad
	}
	key := make([]any, len(columns))
	for i, value := range c.Key {
		switch value := value.(type) {
		case string:
			if i != len(columns)-1 && columns[i] != l.named || !cleanText(value) {
				return nil, bad
			}
			key[i] = value
		case json.Number:
			number, err := value.Int64()
			if i == len(columns)-1 || columns[i] == l.named || err != nil {
				return nil, bad
			}
			key[i] = number
		default:
			return nil, bad
		}
	}
	return key, nil
}

// beyond is the row comparison (a, b) > ($1, $2).
func beyond(columns []string, key []any, greater bool, args []any) (clause string, all []any) {
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
func (l listing[T]) slice(rows []T, query ListQuery, b bounds, name string, total func(context.Context) (int, error)) *Slice[T] {
	more := len(rows) > b.limit
	if more {
		rows = rows[:b.limit]
	}
	slice := &Slice[T]{Items: rows, Limit: b.limit, Offset: -1, Total: total}
	if b.backward {
		slices.Reverse(rows)
		slice.HasPrevious, slice.HasNext = more, b.before != ""
	} else {
		slice.HasNext, slice.HasPrevious = more, b.after != "" || b.offset > 0
	}
	if b.after == "" && b.before == "" && !b.backward {
		slice.Offset = b.offset
	}
	for _, row := range rows {
		slice.Cursors = append(slice.Cursors, cursor{List: name, Key: l.key(row, query.Sort)}.String())
	}
	return slice
}
