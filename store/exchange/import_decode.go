package exchange

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"portico/store"
	"portico/store/authoring"
)

// decoder reads lines into sources.
type decoder struct {
	types   map[string]func() authoring.Source
	lenient bool // unknown members and types are passed over
	most    int  // bytes of a line

	skip func(line int) bool // lines that need not be read; nil for none
}

func newDecoder(lenient bool) *decoder {
	types := map[string]func() authoring.Source{}
	for _, kind := range kinds {
		types[kind.Name] = kind.Create
	}
	return &decoder{types: types, lenient: lenient, most: lineBytes}
}

// decoded is a line that was read.
type decoded struct {
	line   int // from 1
	kind   string
	source authoring.Source // nil for a type that was passed over
	faults store.Errors
	passed store.Errors // what a lenient import passes over: the type, or members
	refs   []authoring.Reference
}

// decode reads one resource. Its faults name every member that is wrong; the
// source is there even so, as far as it could be read.
func (d *decoder) decode(line []byte) decoded {
	if err := store.CheckImportLine(line); err != nil {
		return decoded{faults: store.AsErrors(err)}
	}
	if result := d.plain(line); result.source != nil {
		result.check()
		return result
	}
	var head struct {
		Type string `json:"type"`
	}
	if err := store.DecodeJSON(line, &head); err != nil {
		faults, _, _ := explainJSON(line, err, reflect.TypeOf(head), true)
		return decoded{faults: faults}
	}
	result := decoded{kind: head.Type}
	create, known := d.types[head.Type]
	if !known {
		if !d.lenient || head.Type == "" {
			types := strings.Join(slices.Sorted(maps.Keys(d.types)), ", ")
			result.faults = store.Errors{store.Invalidf([]string{"type"}, "must be one of %s, not %q", types, store.Abbreviate(head.Type))}
		} else {
			result.passed = store.Errors{store.Invalidf([]string{"type"}, "is not a known one: %q", store.Abbreviate(head.Type))}
		}
		return result
	}
	result.source = create()
	err := readStrictly(line, result.source)
	if err != nil { // 2.0 is a whole number too
		if plain := store.NormalizeIntegers(line, reflect.TypeOf(result.source)); plain != nil {
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
			if err := store.DecodeJSON(line, result.source); err != nil {
				result.faults = append(result.faults, store.Invalidf(nil, "The line must be one JSON object."))
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
	read := create()
	reader := newStrictReader(line, read)
	if reader.Decode(read) != nil || reader.InputOffset() != int64(len(line)) || reflect.ValueOf(read).Elem().FieldByName("Type").String() != string(name) {
		return result // of two members with one name the last counts
	}
	return decoded{kind: string(name), source: read}
}

// check finds what is wrong with a line that could be read.
func (d *decoded) check() {
	f := &authoring.Faults{}
	d.source.Check(f)
	for _, fault := range f.List { // a line that breaks a rule is a bad line
		fault.Code = store.Invalid
	}
	d.faults, d.refs = append(d.faults, f.List...), f.Refs
}

// readStrictly reads a line into a source, and stops at the first member that
// is not known.
func readStrictly(line []byte, into authoring.Source) error {
	return newStrictReader(line, into).Decode(into)
}

func newStrictReader(line []byte, into authoring.Source) *json.Decoder {
	line, _ = store.ExactMembers(line, reflect.TypeOf(into))
	reader := json.NewDecoder(bytes.NewReader(line))
	reader.DisallowUnknownFields()
	return reader
}
