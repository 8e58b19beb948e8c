package shop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/language"

	"portico/store"
)

// A source is a resource in its own shape, as a line of an import or export
// file holds it: canonical once checked.
type source interface {
	// key is the resource's id within its type.
	key() string

	// check finds every fault and makes ids and times canonical.
	check(*faults)
}

func jsonKind(raw []byte) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	}
	return "the number " + string(raw[:min(len(raw), 24)])
}

// The bounds of texts, in bytes. Indexed ones stay well under what an index
// page of either engine holds.
const (
	maxName        = 1024
	maxDescription = 64 << 10
)

// faults collects what is wrong with a source. Members are named as the file
// spells them, parts separated by dots.
type faults struct {
	list store.Errors
	refs []reference
}

// reference is a use of another resource that must exist.
type reference struct{ kind, id, member string }

func (f *faults) add(member, format string, args ...any) {
	f.list = append(f.list, store.Invalidf(strings.Split(member, "."), format, args...))
}

// id requires an id and makes it canonical.
func (f *faults) id(member string, id *string) {
	canonical, ok := store.CanonicalID(*id)
	switch {
	case *id == "":
		f.add(member, "is required")
	case !ok:
		f.add(member, "must be %s, not %q", store.IDRule, store.Short(*id))
	}
	*id = canonical
}

// optionalID is id, where there is one.
func (f *faults) optionalID(member string, id *string) {
	if *id != "" {
		f.id(member, id)
	}
}

// refers requires an id of a resource that is in the file or in the store.
func (f *faults) refers(member, kind string, id *string) {
	f.id(member, id)
	if *id != "" {
		f.refs = append(f.refs, reference{kind, *id, member})
	}
}

func (f *faults) ids(member string, ids []string) {
	for i := range ids {
		f.id(member+"."+strconv.Itoa(i), &ids[i])
	}
}

func (f *faults) required(member, text string, most int) {
	if text == "" {
		f.add(member, "is required")
	}
	f.text(member, text, most)
}

func (f *faults) text(member, text string, most int) {
	if len(text) > most {
		f.add(member, "must be at most %d bytes, not %d", most, len(text))
	}
	if !store.CleanText(text) {
		f.add(member, "must be UTF-8 text without NUL")
	}
}

func (f *faults) oneOf(member, value string, values ...string) {
	if !slices.Contains(values, value) {
		f.add(member, "must be one of %s, not %q", strings.Join(values, ", "), store.Short(value))
	}
}

func (f *faults) between(member string, n, least, most int) {
	if n < least || n > most {
		f.add(member, "must be between %d and %d, not %d", least, most, n)
	}
}

// time makes a time canonical: RFC 3339, UTC, milliseconds.
func (f *faults) time(member string, text *string) {
	if *text == "" {
		return
	}
	t, err := store.ReadTime(*text)
	if err != nil {
		f.add(member, "must be a time such as 2012-05-30T00:00:00.000Z, not %q", store.Short(*text))
		return
	}
	*text = store.FormatTime(t)
}

func (f *faults) currency(member, code string) {
	letters := strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
	if len(code) != 3 || !letters {
		f.add(member, "must be a three-letter currency code such as USD, not %q", store.Short(code))
	}
}

func (f *faults) locale(member, tag string) {
	if _, err := language.Parse(tag); err != nil {
		f.add(member, "must be a BCP 47 tag such as en or zh-Hant, not %q", store.Short(tag))
	}
}

// object requires an open member to be a JSON object; null is the same as
// none.
func (f *faults) object(member string, raw *json.RawMessage) {
	switch {
	case string(*raw) == "null":
		*raw = nil
	case len(*raw) > 0 && (*raw)[0] != '{':
		f.add(member, "must be an object, not %s", jsonKind(*raw))
	}
}

// refSource is a {type, id} of a relationship.
type refSource struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// linkSource is a relationship to one resource.
type linkSource struct {
	Data *refSource `json:"data"`
}

func (l *linkSource) id() string {
	if l == nil || l.Data == nil {
		return ""
	}
	return l.Data.ID
}

func (f *faults) link(member string, link *linkSource) {
	if link != nil && link.Data != nil {
		f.id(member+".data.id", &link.Data.ID)
	}
}

// linksSource is a relationship to several resources.
type linksSource struct {
	Data []refSource `json:"data"`
}

func (f *faults) links(member string, links *linksSource) {
	if links == nil {
		return
	}
	for i := range links.Data {
		f.id(fmt.Sprintf("%s.data.%d.id", member, i), &links.Data[i].ID)
	}
}
