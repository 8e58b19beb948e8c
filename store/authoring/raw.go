package authoring

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"portico/store"
)

// Array requires an array, whose items it returns; ok is false for none.
func (f *Faults) Array(member string, raw json.RawMessage) (items []json.RawMessage, ok bool) {
	if raw == nil {
		return nil, false
	}
	if json.Unmarshal(raw, &items) != nil || items == nil {
		f.Add(member, "must be an array, not %s", JSONKind(raw))
		return nil, false
	}
	return items, true
}

// Strings requires an array of names, at least one where some is wanted.
func (f *Faults) Strings(member string, raw json.RawMessage, some bool) {
	items, ok := f.Array(member, raw)
	for i, item := range items {
		var text string
		if bytes.Equal(item, []byte("null")) || json.Unmarshal(item, &text) != nil {
			f.Add(member+"."+strconv.Itoa(i), "must be a string, not %s", JSONKind(item))
			continue
		}
		f.Required(member+"."+strconv.Itoa(i), text, MaxName)
	}
	if ok && some && len(items) == 0 {
		f.Rule(member, "must not be empty")
	}
}

// Count takes a whole number of at least 1; it is 0 where there is none.
func (f *Faults) Count(member string, raw json.RawMessage) int64 {
	if raw == nil {
		return 0
	}
	return f.Whole(member, raw, "a whole number", 1, store.MaxStock)
}

// Whole requires a whole number, called so, between two bounds. It is 0 where
// there is none.
func (f *Faults) Whole(member string, raw json.RawMessage, called string, least, most int64) int64 {
	n, err := store.ParseInteger(raw)
	switch {
	case errors.Is(err, strconv.ErrRange):
		f.Rule(member, "must be between %d and %d, not %s", least, most, store.Abbreviate(string(raw)))
	case err != nil:
		f.Add(member, "must be %s, not %s", called, JSONKind(raw))
	default:
		f.Within(member, n, least, most)
	}
	return n
}

// Rule tells that a well-formed member breaks a rule.
func (f *Faults) Rule(member, format string, args ...any) {
	f.List = append(f.List, store.Unprocessablef(strings.Split(member, "."), format, args...))
}

// Within requires a number between two bounds; UNPROCESSABLE beyond them.
func (f *Faults) Within(member string, n, least, most int64) {
	if n < least || n > most {
		f.Rule(member, "must be between %d and %d, not %d", least, most, n)
	}
}
