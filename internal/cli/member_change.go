package cli

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"portico/store"
)

// The most changes that are printed, and the most with --json.
const (
	maxPrintedChanges = 20
	maxShownChanges   = 1000
)

// describeMembers is ": name "A" to "B", sku is removed: "C"", or empty without members.
func describeMembers(members []store.MemberChange) (text string) {
	for i, m := range members {
		separator := ", "
		if i == 0 {
			separator = ": "
		}
		text += separator + describeMember(m)
	}
	return text
}

// describeMember is "name "A" to "B"", "name is added: "B"" or "name is removed: "A"".
func describeMember(m store.MemberChange) string {
	member := strings.Join(m.Path, ".")
	switch {
	case m.Before == nil:
		return member + " is added: " + shortJSON(m.After)
	case m.After == nil:
		return member + " is removed: " + shortJSON(m.Before)
	}
	return member + " " + shortJSON(m.Before) + " to " + shortJSON(m.After)
}

// shortJSON cuts a value to 40 characters.
func shortJSON(raw json.RawMessage) string {
	text := string(raw)
	if utf8.RuneCountInString(text) > 40 {
		text = string([]rune(text)[:39]) + "…"
	}
	return text
}
