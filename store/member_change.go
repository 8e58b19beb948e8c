package store

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// MemberChange is a member of a JSON object in which two versions of the object differ. A list is one member.
type MemberChange struct {
	Member string          `json:"member"` // with dots, for example attributes.name
	Before json.RawMessage `json:"before"` // nil if absent
	After  json.RawMessage `json:"after"`  // nil if absent
}

// ChangedMembers returns the members in which two versions of a JSON object differ, by name. An object that only
// one version has is one member.
func ChangedMembers(before, after []byte) []MemberChange {
	return appendChangedMembers(nil, "", before, after)
}

func appendChangedMembers(changes []MemberChange, member string, before, after json.RawMessage) []MemberChange {
	var from, to map[string]json.RawMessage
	if json.Unmarshal(before, &from) != nil || json.Unmarshal(after, &to) != nil || from == nil || to == nil {
		if !bytes.Equal(before, after) {
			changes = append(changes, MemberChange{member, before, after})
		}
		return changes
	}
	names := Unique(slices.Concat(slices.Collect(maps.Keys(from)), slices.Collect(maps.Keys(to))))
	slices.Sort(names)
	for _, name := range names {
		path := name
		if member != "" {
			path = member + "." + name
		}
		changes = appendChangedMembers(changes, path, from[name], to[name])
	}
	return changes
}
