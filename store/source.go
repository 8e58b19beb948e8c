package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/text/language"
)

// A source is a resource in its own shape, as a line of an import or export
// file holds it: canonical once checked.
type source interface {
	// key is the resource's id within its type.
	key() string

	// check finds every fault and makes ids and times canonical.
	check(*faults)
}

// sourceTypes makes an empty source of each resource type.
func sourceTypes() map[string]func() source {
	return map[string]func() source{
		"settings":          func() source { return &settingsSource{} },
		"file":              func() source { return &File{} },
		"product":           func() source { return &ProductSource{} },
		"hierarchy":         func() source { return &hierarchySource{} },
		"node":              func() source { return &nodeSource{} },
		"pricebook":         func() source { return &pricebookSource{} },
		"product-price":     func() source { return &priceSource{} },
		"price_modifier":    func() source { return &modifierSource{} },
		"catalog":           func() source { return &catalogSource{} },
		"catalog_rule":      func() source { return &ruleSource{} },
		"stock_transaction": func() source { return &stockTransactionSource{} },
		"stock":             func() source { return &stockSource{} },
		"promotion":         func() source { return &promotionSource{} },
		"promotion_code":    func() source { return &codeSource{} },
		"code_usage":        func() source { return &usageSource{} },
		"gateway":           func() source { return &gatewaySource{} },
		"api_client":        func() source { return &clientSource{} },
	}
}

// decoder reads lines into sources.
type decoder struct {
	types   map[string]func() source
	lenient bool // unknown members and types are passed over

	skip func(line int) bool // lines that need not be read; nil for none
}

func newDecoder(lenient bool) *decoder { return &decoder{types: sourceTypes(), lenient: lenient} }

// decoded is a line that was read.
type decoded struct {
	line   int // from 1
	kind   string
	source source // nil for a type that was passed over
	faults Errors
	passed Errors // what a lenient import passes over: the type, or members
	refs   []reference
}

// decode reads one resource. Its faults name every member that is wrong; the
// source is there even so, as far as it could be read.
func (d *decoder) decode(line []byte) decoded {
	if err := checkLine(line); err != nil {
		return decoded{faults: AsErrors(err)}
	}
	if result := d.plain(line); result.source != nil {
		result.check()
		return result
	}
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		faults, _, _ := explainJSON(line, err, reflect.TypeOf(head), true)
		return decoded{faults: faults}
	}
	result := decoded{kind: head.Type}
	create, known := d.types[head.Type]
	if !known {
		if !d.lenient || head.Type == "" {
			types := strings.Join(slices.Sorted(maps.Keys(d.types)), ", ")
			result.faults = Errors{invalid([]string{"type"}, "must be one of %s, not %q", types, short(head.Type))}
		} else {
			result.passed = Errors{invalid([]string{"type"}, "is not a known one: %q", short(head.Type))}
		}
		return result
	}
	result.source = create()
	err := readStrictly(line, result.source)
	if err != nil { // 2.0 is a whole number too
		if plain := plainNumbers(line, reflect.TypeOf(result.source)); plain != nil {
			line = plain
			err = readStrictly(line, result.source)
		}
	}
	if err != nil {
		var mistyped bool
		result.faults, result.passed, mistyped = explainJSON(line, err, reflect.TypeOf(result.source), d.lenient)
		if mistyped { // what was not read cannot be judged further
			return result
		}
		if d.lenient { // the first unknown member ended the reading
			result.source = create()
			if err := json.Unmarshal(line, result.source); err != nil {
				result.faults = append(result.faults, invalid(nil, "The line must be one JSON object."))
				return result
			}
		}
	}
	result.check()
	return result
}

// plain reads a line as nearly all are: it begins with its type, and has no
// fault of form. For any other there is no source.
func (d *decoder) plain(line []byte) (result decoded) {
	rest, begins := bytes.CutPrefix(line, []byte(`{"type":"`))
	name, _, ends := bytes.Cut(rest, []byte(`"`))
	create, known := d.types[string(name)]
	if !begins || !ends || !known {
		return result
	}
	read, reader := create(), newStrictReader(line)
	if reader.Decode(read) != nil || reader.InputOffset() != int64(len(line)) || reflect.ValueOf(read).Elem().FieldByName("Type").String() != string(name) {
		return result // of two members with one name the last counts
	}
	return decoded{kind: string(name), source: read}
}

// check finds what is wrong with a line that could be read.
func (d *decoded) check() {
	f := &faults{}
	d.source.check(f)
	for _, fault := range f.list { // a line that breaks a rule is a bad line
		fault.Code = Invalid
	}
	d.faults, d.refs = append(d.faults, f.list...), f.refs
}

// readStrictly reads a line into a source, and stops at the first member that
// is not known.
func readStrictly(line []byte, into source) error {
	return newStrictReader(line).Decode(into)
}

func newStrictReader(line []byte) *json.Decoder {
	reader := json.NewDecoder(bytes.NewReader(line))
	reader.DisallowUnknownFields()
	return reader
}

// explainJSON finds every member that does not fit the shape, which
// encoding/json names only the first of, and not always by its path. mistyped
// is false when all that is wrong is members that are not known; those that a
// lenient import passes over are apart.
func explainJSON(line []byte, err error, shape reflect.Type, lenient bool) (list, passed Errors, mistyped bool) {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return Errors{invalid(nil, "The line is not JSON: %s at byte %d.", strings.TrimPrefix(syntax.Error(), "json: "), syntax.Offset)}, nil, true
	}
	f := &faults{}
	f.shape(nil, line, shape, lenient)
	if len(f.list)+len(f.passed) == 0 {
		return Errors{invalid(nil, "The line must be one JSON object.")}, nil, true
	}
	return f.list, f.passed, f.mistyped
}

// shape holds a JSON value against a Go type.
func (f *faults) shape(path []string, raw []byte, shape reflect.Type, lenient bool) {
	for shape.Kind() == reflect.Pointer {
		shape = shape.Elem()
	}
	raw = bytes.TrimSpace(raw)
	if bytes.Equal(raw, []byte("null")) {
		return
	}
	switch {
	case shape == reflect.TypeFor[json.RawMessage](), shape.Kind() == reflect.Interface:
	case reflect.PointerTo(shape).Implements(reflect.TypeFor[json.Unmarshaler]()):
		var wrong *Error // of a form of its own
		if err := json.Unmarshal(raw, reflect.New(shape).Interface()); errors.As(err, &wrong) {
			f.mistyped = true
			f.list = append(f.list, wrong.At(path...))
		}
	case shape.Kind() == reflect.Struct, shape.Kind() == reflect.Map:
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil {
			f.mistype(path, "an object", raw)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			member, known := memberType(shape, name)
			if known {
				f.shape(append(slices.Clone(path), name), members[name], member, lenient)
			} else if lenient {
				f.passed = append(f.passed, invalid(append(slices.Clone(path), name), "is not a known member"))
			} else {
				f.list = append(f.list, invalid(append(slices.Clone(path), name), "is not a known member; remove it, or import with --lenient to pass over it"))
			}
		}
	case shape.Kind() == reflect.Slice:
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			f.mistype(path, "an array", raw)
			return
		}
		for i, item := range items {
			f.shape(append(slices.Clone(path), itoa(i)), item, shape.Elem(), lenient)
		}
	default:
		if json.Unmarshal(raw, reflect.New(shape).Interface()) != nil {
			f.mistype(path, goKind(shape), raw)
		}
	}
}

func (f *faults) mistype(path []string, want string, raw []byte) {
	f.mistyped = true
	f.list = append(f.list, invalid(path, "must be %s, not %s", want, jsonKind(raw)))
}

func memberType(shape reflect.Type, name string) (reflect.Type, bool) {
	if shape.Kind() == reflect.Map {
		return shape.Elem(), true
	}
	for _, field := range reflect.VisibleFields(shape) {
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if tag != "" && tag != "-" && strings.EqualFold(tag, name) {
			return field.Type, true
		}
	}
	return nil, false
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

func goKind(shape reflect.Type) string {
	switch shape.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

// encode writes a source as its canonical line, without the line's end.
func encode(resource any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(resource); err != nil {
		panic(fmt.Sprintf("encode %T: %v", resource, err)) // a checked source always encodes
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// faults collects what is wrong with a source. Members are named as the file
// spells them, parts separated by dots.
type faults struct {
	list     Errors
	passed   Errors // members that are not known, of a lenient import
	refs     []reference
	mistyped bool // a member is of the wrong JSON type
}

// reference is a use of another resource that must exist.
type reference struct{ kind, id, member string }

func (f *faults) add(member, format string, args ...any) {
	f.list = append(f.list, invalid(strings.Split(member, "."), format, args...))
}

// id requires an id and makes it canonical.
func (f *faults) id(member string, id *string) {
	canonical, ok := CanonicalID(*id)
	switch {
	case *id == "":
		f.add(member, "is required")
	case !ok:
		f.add(member, "must be %s, not %q", idRule, short(*id))
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
		f.id(member+"."+itoa(i), &ids[i])
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
	if !cleanText(text) {
		f.add(member, "must be UTF-8 text without NUL")
	}
}

func (f *faults) oneOf(member, value string, values ...string) {
	if !slices.Contains(values, value) {
		f.add(member, "must be one of %s, not %q", strings.Join(values, ", "), short(value))
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
	t, err := parseTime(*text)
	if err != nil {
		f.add(member, "must be a time such as 2012-05-30T00:00:00.000Z, not %q", short(*text))
		return
	}
	*text = formatTime(t)
}

func (f *faults) currency(member, code string) {
	letters := strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
	if len(code) != 3 || !letters {
		f.add(member, "must be a three-letter currency code such as USD, not %q", short(code))
	}
}

func (f *faults) locale(member, tag string) {
	if _, err := language.Parse(tag); err != nil {
		f.add(member, "must be a BCP 47 tag such as en or zh-Hant, not %q", short(tag))
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

// short keeps a message readable whatever it quotes.
func short(text string) string {
	if len(text) > 40 {
		return strings.ToValidUTF8(text[:40], "") + "…"
	}
	return text
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
