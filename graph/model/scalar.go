// Package model has the Go types of the schema that are more than a type of the store. NewBatch and Load
// read edges for many rows at once; Connection is a page of a list, UserError an error of a payload. The
// package must not import resolvers, the executor or transports.
package model

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"portico/store"
)

// MarshalNonEmpty writes a text whose type in the schema is nullable: null if it is empty.
func MarshalNonEmpty(text string) graphql.Marshaler {
	if text == "" {
		return graphql.Null
	}
	return graphql.MarshalString(text)
}

// MarshalDateTime writes a time in UTC with milliseconds.
func MarshalDateTime(t time.Time) graphql.Marshaler {
	if t.IsZero() {
		return graphql.Null
	}
	return graphql.WriterFunc(func(w io.Writer) { _, _ = w.Write(AppendDateTime(nil, t)) })
}

// AppendDateTime is MarshalDateTime for plans. It appends nothing for null.
func AppendDateTime(dst []byte, t time.Time) []byte {
	if t.IsZero() {
		return dst
	}
	return append(store.AppendTime(append(dst, '"'), t), '"')
}

// UnmarshalDateTime reads RFC 3339. A time without a zone is UTC.
func UnmarshalDateTime(value any) (time.Time, error) {
	if value == nil {
		return time.Time{}, nil
	}
	text, ok := value.(string)
	if !ok {
		return time.Time{}, &store.Error{Code: store.Invalid, Detail: fmt.Sprintf("A time is written as 2012-05-30T00:00:00.000Z, not %v.", value)}
	}
	return store.ParseTime(text)
}

// MarshalDateTimeText writes a time that was checked.
func MarshalDateTimeText(text string) graphql.Marshaler {
	return MarshalDateTime(store.StoredTime(text))
}

// UnmarshalDateTimeText is UnmarshalDateTime for an input that is kept as given.
func UnmarshalDateTimeText(value any) (string, error) {
	if _, err := UnmarshalDateTime(value); err != nil || value == nil {
		return "", err
	}
	return value.(string), nil
}

// MarshalJSON writes a JSON value unchanged, or an empty object if it is absent.
func MarshalJSON(value json.RawMessage) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) { _, _ = w.Write(AppendJSON(nil, value)) })
}

// AppendJSON is MarshalJSON for plans.
func AppendJSON(dst []byte, value json.RawMessage) []byte {
	if len(value) == 0 {
		return append(dst, "{}"...)
	}
	return append(dst, value...)
}

// UnmarshalJSON accepts any value.
func UnmarshalJSON(value any) (json.RawMessage, error) { return store.Encode(withLists(value)), nil }

// withLists replaces nil slices by empty ones: gqlparser reads a literal [] as nil,
// which encoding/json would write as null.
func withLists(value any) any {
	switch value := value.(type) {
	case []any:
		list := make([]any, len(value))
		for i, item := range value {
			list[i] = withLists(item)
		}
		return list
	case map[string]any:
		members := make(map[string]any, len(value))
		for name, member := range value {
			members[name] = withLists(member)
		}
		return members
	}
	return value
}
