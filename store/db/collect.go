package db

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"portico/store"
)

// InList returns an IN list, "$3,$4,…", and args with values appended. It repeats the last
// value up to a power of two, so that few texts are prepared. values must not be empty.
func InList[T any](args []any, values []T) (list string, all []any) {
	size := 1
	for size < len(values) {
		size *= 2
	}
	text := make([]byte, 0, 5*size)
	args = slices.Grow(args, size)
	for i := range size {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(append(text, '$'), int64(len(args)+1), 10)
		args = append(args, values[min(i, len(values)-1)])
	}
	return string(text), args
}

// OneOf is the condition that a column has one of the values. None matches nothing. Like InList, it repeats the
// last value up to a power of two.
func OneOf(column string, values []string) Condition {
	if len(values) == 0 {
		return Condition{Clause: "FALSE"}
	}
	_, all := InList(nil, values)
	return Condition{Clause: column + " IN (?" + strings.Repeat(", ?", len(all)-1) + ")", Values: all}
}

// Containing returns the conditions that the text of a column contains all words, none of which may be empty. They read
// each row of the list. They do not use LIKE, which ignores case on SQLite and gives % and _ a meaning.
func Containing(column string, words []string) (conditions []Condition) {
	for _, word := range words {
		conditions = append(conditions, Condition{Clause: "REPLACE(" + column + ", CAST(? AS TEXT), '') <> " + column, Values: []any{word}})
	}
	return conditions
}

// maxKeys is the number of keys in one IN list.
const maxKeys = 512

// chunkedIn calls run for up to 512 keys at a time, with query, where $in becomes the
// placeholders of the keys, and with args and the keys.
func chunkedIn[K any](keys []K, query string, args []any, run func(query string, args []any) error) error {
	return store.Chunked(keys, maxKeys, func(keys []K) error {
		list, all := InList(slices.Clone(args), keys)
		return run(strings.ReplaceAll(query, "$in", list), all)
	})
}

// CollectIn is Collect for a query with a condition such as id IN ($in), for any number of
// keys.
func CollectIn[T, K any](ctx context.Context, s Session, scan func(*sql.Rows) (T, error), keys []K, query string, args ...any) (list []T, err error) {
	err = chunkedIn(keys, query, args, func(query string, args []any) error {
		found, err := Collect(ctx, s, scan, query, args...)
		list = append(list, found...)
		return err
	})
	return list, err
}

// ExecIn is Exec for a statement with a condition such as id IN ($in), for any number of
// keys.
func ExecIn[K any](ctx context.Context, s Session, keys []K, query string, args ...any) error {
	return chunkedIn(keys, query, args, func(query string, args []any) error {
		_, err := s.Exec(ctx, query, args...)
		return err
	})
}

// Pair is a row of two columns.
type Pair[K comparable, V any] struct {
	Key   K
	Value V
}

// ScanPair scans a Pair.
func ScanPair[K comparable, V any](rows *sql.Rows) (p Pair[K, V], err error) {
	return p, rows.Scan(&p.Key, &p.Value)
}

// PairMap returns the values of rows by key.
func PairMap[K comparable, V any](rows []Pair[K, V]) map[K]V {
	values := make(map[K]V, len(rows))
	for _, row := range rows {
		values[row.Key] = row.Value
	}
	return values
}

// JSON is a scan target that decodes a column of JSON.
type JSON struct{ Into any }

// Scan implements sql.Scanner.
func (j JSON) Scan(value any) error {
	switch text := value.(type) {
	case []byte:
		return json.Unmarshal(text, j.Into)
	case string:
		return json.Unmarshal([]byte(text), j.Into)
	}
	return fmt.Errorf("scan JSON: the column has a %T", value)
}
