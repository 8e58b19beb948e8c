package authoring

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bojanz/currency"
	"golang.org/x/text/language"

	"portico/store"
)

// A Source is a resource as a line of an import or export file holds it. Check makes it
// canonical.
type Source interface {
	// Key returns the resource's id within its type.
	Key() string

	// Check adds every error, and makes ids and times canonical.
	Check(*Validator)
}

// UndeletableSource is a source that may be a part of another.
type UndeletableSource interface {
	Source

	// Undeletable returns why it cannot be deleted by itself; empty if it can.
	Undeletable() string
}

// JSONKind describes a JSON value in words.
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
	case 'n':
		return "null"
	}
	return "the number " + string(raw[:min(len(raw), 24)])
}

// The limits of texts in bytes. Indexed ones fit an index page of both databases.
const (
	MaxName        = 1024
	MaxDescription = 64 << 10
)

// Validator collects the errors of a source, and its likely mistakes. Members are dotted
// paths, as in the file.
type Validator struct {
	Errors     store.Errors
	Warnings   store.Errors
	References []Reference
}

// Reference is a use of another resource, which must exist.
type Reference struct{ Kind, ID, Member string }

// Add adds an INVALID error for a member.
func (f *Validator) Add(member, format string, args ...any) {
	f.Errors = append(f.Errors, store.Invalidf(strings.Split(member, "."), format, args...))
}

// Rule adds an UNPROCESSABLE error: a well-formed member breaks a rule.
func (f *Validator) Rule(member, format string, args ...any) {
	f.Errors = append(f.Errors, store.Unprocessablef(strings.Split(member, "."), format, args...))
}

// Warn adds a likely mistake.
func (f *Validator) Warn(member, format string, args ...any) {
	f.Warnings = append(f.Warnings, store.Invalidf(strings.Split(member, "."), format, args...))
}

// ID requires an id and makes it canonical.
func (f *Validator) ID(member string, id *string) { f.IDOf(member, "", id) }

// idRules say what an id must be, by the type of what it names, where people write something else.
var idRules = map[string]string{
	"file":   "the id of a file; the URL of a picture belongs into the href of the file, in CSV into files.csv",
	"option": "the id of an option in the variations of the parent, such as size-s",
}

// IDOf is ID for the id of a resource of a type.
func (f *Validator) IDOf(member, kind string, id *string) {
	canonical, ok := store.CanonicalID(*id)
	switch {
	case *id == "":
		f.Rule(member, "is required")
	case !ok:
		f.Add(member, "must be %s, got %q", cmp.Or(idRules[kind], store.IDRule), store.Abbreviate(*id))
	}
	*id = canonical
}

// OptionalID is ID unless the id is empty.
func (f *Validator) OptionalID(member string, id *string) {
	if *id != "" {
		f.ID(member, id)
	}
}

// Refers requires the id of a resource that exists, in the file or the store.
func (f *Validator) Refers(member, kind string, id *string) {
	f.ID(member, id)
	if *id != "" {
		f.References = append(f.References, Reference{kind, *id, member})
	}
}

// IDs requires a list of ids.
func (f *Validator) IDs(member string, ids []string) {
	for i := range ids {
		f.ID(member+"."+strconv.Itoa(i), &ids[i])
	}
}

// Required is Text, and not empty.
func (f *Validator) Required(member, text string, most int) {
	if text == "" {
		f.Rule(member, "is required")
	}
	f.Text(member, text, most)
}

// Name requires a key of an object that is a name of 1 to MaxName bytes, and reports whether it is one.
func (f *Validator) Name(member, what, name string) bool {
	switch {
	case name == "":
		f.Rule(member, "must have a name for each %s, got an empty one", what)
	case len(name) > MaxName:
		f.Rule(member, "must have names of at most %d bytes for each %s, got %d", MaxName, what, len(name))
	default:
		f.Text(member, name, MaxName)
	}
	return name != "" && len(name) <= MaxName
}

// Texts requires a list of texts that are not empty.
func (f *Validator) Texts(member string, texts []string, most int) {
	for i, text := range texts {
		f.Required(member+"."+strconv.Itoa(i), text, most)
	}
}

// Text requires at most so many bytes of valid UTF-8 without NUL.
func (f *Validator) Text(member, text string, most int) {
	if len(text) > most {
		f.Rule(member, "must be at most %d bytes, got %d", most, len(text))
	}
	if !store.IsStorableText(text) {
		f.Add(member, "must be UTF-8 text without NUL")
	}
	if found := misread(text); found != "" {
		f.Warn(member, "has %q, which another encoding made of a letter; save the file as UTF-8 and correct it, got %q", found, store.Abbreviate(text))
	}
	if slices.Contains(spreadsheetErrors, strings.TrimSpace(text)) {
		f.Warn(member, "is an error of a spreadsheet; correct the formula of the cell, got %q", store.Abbreviate(text))
	}
	if at := strings.IndexFunc(text, isUnprintable); at >= 0 {
		f.Warn(member, "has the control character %+q, which pages do not show; remove it, got %q", []rune(text[at:])[0], store.Abbreviate(text))
	}
}

// spreadsheetErrors are what spreadsheets write in the place of a value that a formula failed to find.
var spreadsheetErrors = []string{"#N/A", "#NAME?", "#REF!", "#VALUE!", "#DIV/0!", "#NUM!", "#NULL!", "#SPILL!", "#CALC!", "#ERROR!", "#NV", "#BEZUG!", "#WERT!"}

// isUnprintable reports whether a character is a control character that texts do not need.
func isUnprintable(c rune) bool {
	return unicode.IsControl(c) && c != '\n' && c != '\r' && c != '\t'
}

// misread returns characters of a text that show that UTF-8 was read as another encoding, or the reverse, before;
// empty if there are none.
func misread(text string) string {
	if strings.Contains(text, "\ufffd") {
		return "\ufffd"
	}
	if strings.Contains(text, "â€") {
		return "â€"
	}
	for at := strings.Index(text, "Ã"); at >= 0; {
		rest := text[at+len("Ã"):]
		if c, _ := utf8.DecodeRuneInString(rest); c >= 0x80 && c <= 0xbf && c != 0xa0 { // a no-break space may follow the letter
			return "Ã" + string(c)
		}
		next := strings.Index(rest, "Ã")
		if next < 0 {
			break
		}
		at += len("Ã") + next
	}
	return ""
}

// OneOf requires one of values.
func (f *Validator) OneOf(member, value string, values ...string) {
	if !slices.Contains(values, value) {
		f.Add(member, "must be one of %s, got %q", strings.Join(values, ", "), store.Abbreviate(value))
	}
}

// Within requires a number between least and most.
func (f *Validator) Within(member string, n, least, most int64) {
	if n < least || n > most {
		f.Rule(member, "must be between %d and %d, got %d", least, most, n)
	}
}

// Between is Within for an int.
func (f *Validator) Between(member string, n, least, most int) {
	f.Within(member, int64(n), int64(least), int64(most))
}

// Time makes a time canonical: RFC 3339 in UTC with milliseconds. It warns of a time without a time of day or zone. An empty
// text stays empty.
func (f *Validator) Time(member string, text *string) {
	if *text == "" {
		return
	}
	t, err := store.ReadTime(*text)
	if err != nil {
		f.Add(member, "must be a time such as 2012-05-30T00:00:00.000Z, got %q", store.Abbreviate(*text))
		return
	}
	switch {
	case len(*text) <= len("2012-05-30"):
		f.Warn(member, "is a date without a time, and counts as 00:00 of that day in UTC; write %sT00:00:00Z", *text)
	case !hasZone(*text):
		f.Warn(member, "has no time zone, and counts as UTC; write %sZ", strings.Replace(*text, " ", "T", 1))
	}
	var canonical [len("2012-05-30T00:00:00.000Z")]byte
	if store.AppendTime(canonical[:0], t); *text != string(canonical[:]) {
		*text = string(canonical[:])
	}
}

// hasZone reports whether a valid time ends in Z or an offset.
func hasZone(text string) bool {
	return strings.HasSuffix(text, "Z") || strings.LastIndexAny(text, "+-") > len("2012-05-30")
}

// Currency requires the form of an ISO 4217 code, and warns of one that ISO 4217 does not have.
func (f *Validator) Currency(member, code string) {
	if f.currencyForm(member, code) && !currency.IsValid(code) {
		f.Warn(member, "is not a currency of ISO 4217: %q", code)
	}
}

// IsLocale reports whether a text is a BCP 47 tag.
func IsLocale(tag string) bool {
	_, err := language.Parse(tag)
	return err == nil
}

// KnownCurrency requires an ISO 4217 code.
func (f *Validator) KnownCurrency(member, code string) {
	if f.currencyForm(member, code) && !currency.IsValid(code) {
		f.Rule(member, "must be an ISO 4217 code such as USD, got %q", code)
	}
}

// currencyForm requires three capital letters, and reports whether the code has them.
func (f *Validator) currencyForm(member, code string) bool {
	if store.IsCurrencyCode(code) {
		return true
	}
	f.Add(member, "must be a three-letter currency code such as USD, got %q", store.Abbreviate(code))
	return false
}

// Locale requires a BCP 47 tag.
func (f *Validator) Locale(member, tag string) {
	if !IsLocale(tag) {
		f.Add(member, "must be a BCP 47 tag such as en or zh-Hant, got %q", store.Abbreviate(tag))
	}
}

// Object requires a JSON object; null counts as absent.
func (f *Validator) Object(member string, raw *json.RawMessage) {
	switch {
	case string(*raw) == "null":
		*raw = nil
	case len(*raw) > 0 && (*raw)[0] != '{':
		f.Add(member, "must be an object, got %s", JSONKind(*raw))
	}
}

// RefSource is a reference in a relationship.
type RefSource struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// LinkSource is a relationship to one resource.
type LinkSource struct {
	Data *RefSource `json:"data"`
}

// ID returns the target's id, or "".
func (l *LinkSource) ID() string {
	if l == nil || l.Data == nil {
		return ""
	}
	return l.Data.ID
}

// Link requires a valid id in a link, if present. types are as in LinkType.
func (f *Validator) Link(member string, link *LinkSource, types ...string) {
	if link != nil && link.Data != nil {
		f.LinkType(member+".data.type", link.Data.Type, types...)
		f.IDOf(member+".data.id", types[0], &link.Data.ID)
	}
}

// LinkType warns if the type of a link is none of types. It may be absent.
func (f *Validator) LinkType(member, got string, types ...string) {
	if got != "" && !slices.Contains(types, got) {
		f.Warn(member, "should be %s, got %q; it counts as %[1]s", types[0], store.Abbreviate(got))
	}
}

// LinksSource is a relationship to several resources.
type LinksSource struct {
	Data []RefSource `json:"data"`
}

// Links requires a valid id in each link to a resource of a type.
func (f *Validator) Links(member string, links *LinksSource, linked string) {
	if links == nil {
		return
	}
	for i := range links.Data {
		at := fmt.Sprintf("%s.data.%d", member, i)
		f.LinkType(at+".type", links.Data[i].Type, linked)
		f.ID(at+".id", &links.Data[i].ID)
	}
}

// Words requires texts that a header can hold: 1 to maxWord bytes, without surrounding spaces and control characters. commas
// says that commas separate them in the header, so that none has one.
func (f *Validator) Words(member string, list []string, commas bool) {
	for i, word := range list {
		switch {
		case word == "" || len(word) > maxWord || strings.TrimSpace(word) != word:
			f.Rule(member+"."+strconv.Itoa(i), "must have 1 to %d bytes and no surrounding spaces, got %q", maxWord, store.Abbreviate(word))
		case strings.ContainsFunc(word, unicode.IsControl) || commas && strings.Contains(word, ","):
			what := "no control characters"
			if commas {
				what += " and no commas"
			}
			f.Add(member+"."+strconv.Itoa(i), "must have %s, got %q", what, store.Abbreviate(word))
		}
	}
}

// maxWord is the longest channel or tag in bytes.
const maxWord = 255
