package authoring

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/language"

	"portico/store"
)

// A source is a resource in its own shape, as a line of an import or export
// file holds it: canonical once checked.
type Source interface {
	// key is the resource's id within its type.
	Key() string

	// check finds every fault and makes ids and times canonical.
	Check(*Faults)
}

// JSONKind says in words what a JSON value is.
func JSONKind(raw []byte) string {
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
	MaxName        = 1024
	MaxDescription = 64 << 10
)

// Faults collects what is wrong with a source. Members are named as the file
// spells them, parts separated by dots.
type Faults struct {
	List store.Errors
	Refs []Reference
}

// Reference is a use of another resource that must exist.
type Reference struct{ Kind, ID, Member string }

// Add tells a fault of a member: INVALID, with a detail that goes on from it.
func (f *Faults) Add(member, format string, args ...any) {
	f.List = append(f.List, store.Invalidf(strings.Split(member, "."), format, args...))
}

// ID requires an id and makes it canonical.
func (f *Faults) ID(member string, id *string) {
	canonical, ok := store.CanonicalID(*id)
	switch {
	case *id == "":
		f.Rule(member, "is required")
	case !ok:
		f.Add(member, "must be %s, not %q", store.IDRule, store.Abbreviate(*id))
	}
	*id = canonical
}

// OptionalID is id, where there is one.
func (f *Faults) OptionalID(member string, id *string) {
	if *id != "" {
		f.ID(member, id)
	}
}

// Refers requires an id of a resource that is in the file or in the store.
func (f *Faults) Refers(member, kind string, id *string) {
	f.ID(member, id)
	if *id != "" {
		f.Refs = append(f.Refs, Reference{kind, *id, member})
	}
}

// IDs is ID for each of a list.
func (f *Faults) IDs(member string, ids []string) {
	for i := range ids {
		f.ID(member+"."+strconv.Itoa(i), &ids[i])
	}
}

// Required is Text that must not be empty.
func (f *Faults) Required(member, text string, most int) {
	if text == "" {
		f.Rule(member, "is required")
	}
	f.Text(member, text, most)
}

// Text bounds a text, in bytes, and requires it to be UTF-8 without NUL.
func (f *Faults) Text(member, text string, most int) {
	if len(text) > most {
		f.Rule(member, "must be at most %d bytes, not %d", most, len(text))
	}
	if !store.IsStorableText(text) {
		f.Add(member, "must be UTF-8 text without NUL")
	}
}

// OneOf requires one of some values.
func (f *Faults) OneOf(member, value string, values ...string) {
	if !slices.Contains(values, value) {
		f.Add(member, "must be one of %s, not %q", strings.Join(values, ", "), store.Abbreviate(value))
	}
}

// Between is Within for an int.
func (f *Faults) Between(member string, n, least, most int) {
	f.Within(member, int64(n), int64(least), int64(most))
}

// Time makes a time canonical: RFC 3339, UTC, milliseconds.
func (f *Faults) Time(member string, text *string) {
	if *text == "" {
		return
	}
	t, err := store.ReadTime(*text)
	if err != nil {
		f.Add(member, "must be a time such as 2012-05-30T00:00:00.000Z, not %q", store.Abbreviate(*text))
		return
	}
	*text = store.FormatTime(t)
}

// Currency requires the form of an ISO 4217 code.
func (f *Faults) Currency(member, code string) {
	letters := strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
	if len(code) != 3 || !letters {
		f.Add(member, "must be a three-letter currency code such as USD, not %q", store.Abbreviate(code))
	}
}

// Locale requires a BCP 47 tag.
func (f *Faults) Locale(member, tag string) {
	if _, err := language.Parse(tag); err != nil {
		f.Add(member, "must be a BCP 47 tag such as en or zh-Hant, not %q", store.Abbreviate(tag))
	}
}

// Object requires an open member to be a JSON object; null is the same as
// none.
func (f *Faults) Object(member string, raw *json.RawMessage) {
	switch {
	case string(*raw) == "null":
		*raw = nil
	case len(*raw) > 0 && (*raw)[0] != '{':
		f.Add(member, "must be an object, not %s", JSONKind(*raw))
	}
}

// RefSource is a {type, id} of a relationship.
type RefSource struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// LinkSource is a relationship to one resource.
type LinkSource struct {
	Data *RefSource `json:"data"`
}

// ID is the id that it leads to; empty for none.
func (l *LinkSource) ID() string {
	if l == nil || l.Data == nil {
		return ""
	}
	return l.Data.ID
}

// Link requires the id of a link, where there is one.
func (f *Faults) Link(member string, link *LinkSource) {
	if link != nil && link.Data != nil {
		f.ID(member+".data.id", &link.Data.ID)
	}
}

// LinksSource is a relationship to several resources.
type LinksSource struct {
	Data []RefSource `json:"data"`
}

// Links requires the id of each link.
func (f *Faults) Links(member string, links *LinksSource) {
	if links == nil {
		return
	}
	for i := range links.Data {
		f.ID(fmt.Sprintf("%s.data.%d.id", member, i), &links.Data[i].ID)
	}
}

// Words requires texts that a header can hold: 1 to maxWord bytes, without
// spaces around them and without some characters.
func (f *Faults) Words(member string, list []string, without string) {
	for i, word := range list {
		switch {
		case word == "" || len(word) > maxWord || strings.TrimSpace(word) != word:
			f.Rule(member+"."+strconv.Itoa(i), "must be 1 to %d bytes without spaces around them, not %q", maxWord, store.Abbreviate(word))
		case strings.ContainsFunc(word, unicode.IsControl) || strings.ContainsAny(word, without):
			f.Add(member+"."+strconv.Itoa(i), "must have no control characters and no commas, not %q", store.Abbreviate(word))
		}
	}
}

// maxWord bounds a channel or a tag, in bytes.
const maxWord = 255
