package store

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// MergePatch is a JSON Merge Patch (RFC 7396) that is built member by member.
type MergePatch map[string]any

// Set sets the member at a path. nil deletes it.
func (p MergePatch) Set(value any, path ...string) {
	at := p
	for _, name := range path[:len(path)-1] {
		below, ok := at[name].(MergePatch)
		if !ok {
			below = MergePatch{}
			at[name] = below
		}
		at = below
	}
	at[path[len(path)-1]] = value
}

// MergeObject applies a JSON Merge Patch (RFC 7396) to a stored object, nil for none: members of objects are merged, null
// deletes one, and any other value replaces the stored one, unless it is the same list. Members keep their order, but type
// comes first. A patch that is no object is such a value itself.
//
// dropEmptied deletes an object within the resource too if that leaves it without members, unless the
// patch says so: a cleared cell of a sheet must not leave a tier without its amount.
func MergeObject(stored, patch []byte, dropEmptied bool) []byte {
	changed, changes := ObjectMembers(patch)
	if changes == nil {
		if sameList(stored, patch) {
			return stored
		}
		return patch
	}
	names, members := ObjectMembers(stored)
	if members == nil {
		members = map[string]json.RawMessage{}
	}
	for _, name := range changed {
		value := changes[name]
		if string(value) == "null" {
			delete(members, name)
			continue
		}
		if _, has := members[name]; !has {
			names = append(names, name)
		}
		merged := MergeObject(members[name], value, dropEmptied)
		if dropEmptied && string(merged) == "{}" && string(value) != "{}" {
			delete(members, name)
			continue
		}
		members[name] = merged
	}
	if i := slices.Index(names, "type"); i > 0 { // first, as in lines of an import
		names = slices.Insert(slices.Delete(names, i, i+1), 0, "type")
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for _, name := range names {
		value, has := members[name]
		if !has {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(Encode(name))
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// sameList reports whether two values are lists that differ at most in the order of members of their objects, which
// clients do not keep.
func sameList(a, b []byte) bool {
	if !bytes.HasPrefix(a, []byte("[")) || !bytes.HasPrefix(b, []byte("[")) {
		return false
	}
	if bytes.Equal(a, b) {
		return true
	}
	x, errX := DecodeNumbers(a)
	y, errY := DecodeNumbers(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

// ObjectMembers returns the members of an object, and their names in order; nil for any other value. Of a repeated
// name the last value counts.
func ObjectMembers(raw []byte) (names []string, members map[string]json.RawMessage) {
	d := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true))
	if d.PeekKind() != '{' {
		return nil, nil
	}
	members = map[string]json.RawMessage{}
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() == '"' {
		var name jsontext.Token
		if name, err = d.ReadToken(); err == nil {
			key := name.String()
			var value jsontext.Value
			if value, err = d.ReadValue(); err == nil {
				if _, twice := members[key]; !twice {
					names = append(names, key)
				}
				members[key] = json.RawMessage(bytes.Clone(value))
			}
		}
	}
	if err != nil {
		return nil, nil
	}
	return names, members
}
