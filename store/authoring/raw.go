package authoring

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"

	"portico/store"
)

// Array requires an array and returns its items; ok is false otherwise.
func (f *Validator) Array(member string, raw json.RawMessage) (items []json.RawMessage, ok bool) {
	if raw == nil {
		return nil, false
	}
	if json.Unmarshal(raw, &items) != nil || items == nil {
		f.Add(member, "must be an array, got %s", JSONKind(raw))
		return nil, false
	}
	return items, true
}

// Strings requires an array of names of 1 to MaxName bytes. If some is true, it requires at least one.
func (f *Validator) Strings(member string, raw json.RawMessage, some bool) {
	items, ok := f.Array(member, raw)
	for i, item := range items {
		var text string
		if bytes.Equal(item, []byte("null")) || json.Unmarshal(item, &text) != nil {
			f.Add(member+"."+strconv.Itoa(i), "must be a string, got %s", JSONKind(item))
			continue
		}
		f.Required(member+"."+strconv.Itoa(i), text, MaxName)
	}
	if ok && some && len(items) == 0 {
		f.Rule(member, "must not be empty")
	}
}

// Count requires a whole number of at least 1; it returns 0 if raw is nil.
func (f *Validator) Count(member string, raw json.RawMessage) int64 {
	if raw == nil {
		return 0
	}
	return f.Whole(member, raw, "a whole number", 1, store.MaxCount)
}

// Whole requires a whole number between least and most. called describes it in errors.
func (f *Validator) Whole(member string, raw json.RawMessage, called string, least, most int64) int64 {
	n, err := store.ParseInteger(raw)
	switch {
	case errors.Is(err, strconv.ErrRange):
		f.Rule(member, "must be between %d and %d, got %s", least, most, store.Abbreviate(string(raw)))
	case err != nil:
		f.Add(member, "must be %s, got %s", called, JSONKind(raw))
	default:
		f.Within(member, n, least, most)
	}
	return n
}
