package exchange

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"portico/store"
)

// itemPatch builds what an item changes of a stored line: a JSON Merge Patch.
type itemPatch struct {
	members map[string]any
	before  []byte // the stored line, nil for none
	nulls   map[string]bool
	at      string // path of the item in the input
	one     bool   // it is the only item
}

func newItemPatch(i, count int, nulls map[string]bool, before []byte) *itemPatch {
	return &itemPatch{members: map[string]any{}, before: before, nulls: nulls, at: "items." + strconv.Itoa(i) + ".", one: count == 1}
}

// line returns the patch of a resource.
func (p *itemPatch) line(kind, id string) []byte {
	p.members["type"], p.members["id"] = kind, id
	return store.Encode(p.members)
}

// null reports whether a member of the item is null, not absent. An object in the place of a list is its
// only element.
func (p *itemPatch) null(member string) bool {
	return p.nulls[p.at+member] || p.one && p.nulls["items."+member]
}

// set sets a member of the line by its path. nil deletes it.
func (p *itemPatch) set(value any, path ...string) {
	at := p.members
	for _, name := range path[:len(path)-1] {
		below, ok := at[name].(map[string]any)
		if !ok {
			below = map[string]any{}
			at[name] = below
		}
		at = below
	}
	at[path[len(path)-1]] = value
}

// put sets a member of the line, with dots, to that of the item: nil for null, and nothing if it is absent.
func put[T any](p *itemPatch, member, path string, value *T) {
	switch {
	case value != nil:
		p.set(*value, strings.Split(path, ".")...)
	case p.null(member):
		p.set(nil, strings.Split(path, ".")...)
	}
}

// putList is put for a list.
func putList[T any](p *itemPatch, member, path string, list []T) {
	if list != nil {
		put(p, member, path, &list)
	} else {
		put[[]T](p, member, path, nil)
	}
}

// putLink sets a relationship to one resource.
func putLink(p *itemPatch, member, path, kind string, id *string) {
	if id != nil {
		link := map[string]any{"data": map[string]any{"type": kind, "id": store.LocalID(*id)}}
		put(p, member, path, &link)
	} else {
		put[any](p, member, path, nil)
	}
}

// putLinks sets a relationship to several resources; an empty list removes it.
func putLinks(p *itemPatch, member, path string, given bool, links []any) {
	if len(links) > 0 {
		put(p, member, path+".data", &links)
	} else if given || p.null(member) {
		p.set(nil, strings.Split(path, ".")...)
	}
}

// putWhole sets an object so that nothing is left of the stored one.
func (p *itemPatch) putWhole(member string, given bool, value map[string]any, names ...string) {
	if !given {
		if p.null(member) {
			p.set(nil, names...)
		}
		return
	}
	stored := json.RawMessage(p.before)
	for _, name := range names {
		_, members := objectMembers(stored)
		stored = members[name]
	}
	_, members := objectMembers(stored)
	for name := range members {
		if _, stays := value[name]; !stays {
			value[name] = nil
		}
	}
	p.set(value, names...)
}

// positionOf returns the position of the first element that has a key, as a text; else the key.
func positionOf[T any](list []T, key string, of func(T) string) string {
	if i := slices.IndexFunc(list, func(element T) bool { return of(element) == key }); i >= 0 {
		return strconv.Itoa(i)
	}
	return key
}

// keyedPath is the path of a member of an object that the item has as a list.
func keyedPath[T any](member string, rest []string, list []T, key func(T) string) []string {
	if len(rest) == 0 {
		return []string{member}
	}
	return append([]string{member, positionOf(list, rest[0], key)}, rest[1:]...)
}
