package exchange

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"portico/store"
	"portico/store/catalog"
)

// itemPatch builds what an item changes of a stored line: a JSON Merge Patch. Members of the item are named as in the input, in
// snake case and with dots, and members of the line by their path.
type itemPatch struct {
	store.MergePatch
	before []byte          // the stored line, nil for none
	nulls  map[string]bool // paths of members of the whole input that are null, not absent
	at     string          // path of the item in the input, with a dot behind: items.0.
	faults store.Errors    // of the item by itself; their paths begin in it

	product *catalog.ProductSource // the stored one, once it was decoded
}

// newItemPatch returns the empty patch of the item i, whose resource is stored as before.
func newItemPatch(i int, nulls map[string]bool, before []byte) *itemPatch {
	return &itemPatch{MergePatch: store.MergePatch{}, before: before, nulls: nulls, at: "items." + strconv.Itoa(i) + "."}
}

// line returns the patch of a resource as JSON. It sets the type and the id.
func (p *itemPatch) line(kind, id string) []byte {
	p.Set(kind, "type")
	p.Set(id, "id")
	return store.Encode(p.MergePatch)
}

// refuseRepeated adds an error for each element of a list of the item whose key an earlier one has.
func refuseRepeated[T any](p *itemPatch, list string, elements []T, key func(T) string) {
	p.faults = append(p.faults, catalog.Repeated(list, elements, key)...)
}

// null reports whether a member of the item is null, not absent.
func (p *itemPatch) null(member string) bool { return p.nulls[p.at+member] }

// texts sets texts for search engines and in other languages.
func (p *itemPatch) texts(seo *catalog.SEOChange, translations []*catalog.TranslationChange) {
	p.faults = append(p.faults, catalog.PatchTexts(seo, translations, p.null, func(value any, path ...string) { p.Set(value, append([]string{"attributes"}, path...)...) })...)
}

// put sets the member at path of the line, with dots, to value, which the item has as member: nil for null, and nothing if it is
// absent.
func put[T any](p *itemPatch, member, path string, value *T) {
	switch {
	case value != nil:
		p.Set(*value, strings.Split(path, ".")...)
	case p.null(member):
		p.Set(nil, strings.Split(path, ".")...)
	}
}

// setCreated sets when the resource was created, which absence and null keep.
func (p *itemPatch) setCreated(at *time.Time) {
	if at != nil {
		p.Set(store.FormatTime(*at), "attributes", "created_at")
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

// putLinks sets a relationship to several resources; an empty list removes it. given is false if the item does not have the list.
func putLinks(p *itemPatch, member, path string, given bool, links []any) {
	if len(links) > 0 {
		put(p, member, path+".data", &links)
	} else if given || p.null(member) {
		p.Set(nil, strings.Split(path, ".")...)
	}
}

// putWhole sets an object, at the path names of the line, so that nothing is left of the stored one: it adds to value a null for
// each stored member that value lacks. given is false if the item does not have the member, which then stays or is cleared.
func (p *itemPatch) putWhole(member string, given bool, value map[string]any, names ...string) {
	if !given {
		if p.null(member) {
			p.Set(nil, names...)
		}
		return
	}
	stored := json.RawMessage(p.before)
	for _, name := range names {
		_, members := store.ObjectMembers(stored)
		stored = members[name]
	}
	_, members := store.ObjectMembers(stored)
	for name := range members {
		if _, stays := value[name]; !stays {
			value[name] = nil
		}
	}
	p.Set(value, names...)
}

// elementPath returns a path with the position of an element in the place of its key, which follows the list: translations,
// 0, name for translations, fr, name. That of an element itself ends with leaf, the member that has its key. A key that is
// not in the list stays.
func elementPath[T any](path []string, elements []T, key func(T) string, leaf ...string) []string {
	if len(path) < 2 {
		return path
	}
	i := slices.IndexFunc(elements, func(element T) bool { return key(element) == path[1] })
	switch {
	case i < 0:
		return path
	case len(path) > 2:
		leaf = path[2:]
	}
	return append([]string{path[0], strconv.Itoa(i)}, leaf...)
}

// contentElementPath is elementPath for the lists of products, nodes and hierarchies.
func contentElementPath(path []string, translations []*catalog.TranslationChange, attributes []*AttributeValueInput) []string {
	switch path[0] {
	case "translations":
		return elementPath(path, translations, func(t *catalog.TranslationChange) string { return catalog.CanonicalTag(t.Locale) }, "locale")
	case "attributes":
		return elementPath(path, attributes, func(a *AttributeValueInput) string { return a.Key })
	}
	return path
}
