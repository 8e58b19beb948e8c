package store

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// MemberChange is a member of a JSON object in which two versions of the object differ. A list is one member.
type MemberChange struct {
	Path   []string        `json:"path"`   // outermost first: attributes, name
	Before json.RawMessage `json:"before"` // nil if absent
	After  json.RawMessage `json:"after"`  // nil if absent
}

// ChangedMembers returns the members in which two versions of a JSON object differ, by name: those of objects within it,
// also of one that only one version has. Such an object is one member if it holds nothing but empty objects, or is a link,
// which has the member data.
func ChangedMembers(before, after []byte) []MemberChange {
	return appendChangedMembers(nil, nil, before, after)
}

func appendChangedMembers(changes []MemberChange, path []string, before, after json.RawMessage) []MemberChange {
	from, to, listed := objectOf(before), objectOf(after), len(changes)
	both := from != nil && to != nil
	if both || (before == nil || after == nil) && from["data"] == nil && to["data"] == nil {
		names := Unique(slices.Concat(slices.Collect(maps.Keys(from)), slices.Collect(maps.Keys(to))))
		slices.Sort(names)
		for _, name := range names {
			if both || string(from[name])+string(to[name]) != "{}" {
				changes = appendChangedMembers(changes, append(path[:len(path):len(path)], name), from[name], to[name])
			}
		}
	}
	if !both && len(changes) == listed && !bytes.Equal(before, after) {
		changes = append(changes, MemberChange{path, before, after})
	}
	return changes
}

// objectOf returns the members of an object; nil for another value.
func objectOf(raw json.RawMessage) (members map[string]json.RawMessage) {
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	return members
}

// PathRenames are paths of members with other names: {"relationships.files.data.*.id", "files.*.id"}. A * is any one name. Those
// of the first path are those of the second one, in order.
type PathRenames [][2]string

// Apply renames the beginning of a path. The first that it begins with counts.
func (r PathRenames) Apply(path []string) (renamed []string, found bool) {
	for _, names := range r {
		from := strings.Split(names[0], ".")
		if len(path) < len(from) {
			continue
		}
		var between []string
		fits := true
		for i, name := range from {
			if name == "*" {
				between = append(between, path[i])
			} else if name != path[i] {
				fits = false
			}
		}
		if !fits {
			continue
		}
		for name := range strings.SplitSeq(names[1], ".") {
			if name == "*" {
				name, between = between[0], between[1:]
			}
			renamed = append(renamed, name)
		}
		return append(renamed, path[len(from):]...), true
	}
	return path, false
}
