package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"portico/store"
	"portico/store/authoring"
)

// Decoder decodes lines into sources.
type Decoder struct {
	types    map[string]func() authoring.Source
	lenient  bool // unknown members and types are no errors
	maxBytes int  // longest line in bytes

	SkipLine  func(line int) bool                // whether Batch leaves out a line; nil for none
	Row       func(line int) SheetRow            // never nil; zero for a line that is no row
	CutPatch  func(line []byte) ([]byte, *Patch) // set if the lines are merged; it returns a line without its patch
	LeftTypes map[string]bool                    // types whose lines the import ignores (ImportOptions.Skip)
	Warned    map[int]store.Errors               // warnings that a merge has found, by line
}

// NewDecoder returns a decoder of lines of at most maxBytes. row may be nil; left are types whose lines the import ignores.
func NewDecoder(lenient bool, maxBytes int, row func(line int) SheetRow, left []string) *Decoder {
	types := map[string]func() authoring.Source{}
	for _, kind := range Kinds {
		types[kind.Name] = kind.Create
	}
	if row == nil {
		row = func(int) SheetRow { return SheetRow{} }
	}
	return &Decoder{types: types, lenient: lenient, maxBytes: maxBytes, Row: row, LeftTypes: store.SetOf(left), Warned: map[int]store.Errors{}}
}

// Line is a decoded line.
type Line struct {
	Number     int // from 1
	Kind       string
	Source     authoring.Source // nil if the type is unknown or left alone, and for a deletion
	Deletes    string           // the id of the resource to delete; empty for none
	Left       bool             // the type is left alone
	Row        SheetRow
	Patch      *Patch // nil if the line was not merged
	Errors     store.Errors
	Warnings   store.Errors
	Ignored    store.Errors // what a lenient import does not know: the type, or members
	References []authoring.Reference
}

// SheetRow is what an import knows of a line that may be a row of a sheet (package sheet).
type SheetRow struct {
	IsRow     bool
	Continued bool         // it adds to the resource of an earlier row
	Faults    store.Errors // what is wrong with it; then the line is blank
}

// Patch is a line before it was merged.
type Patch struct {
	Before uint64 // hash of the line that it was merged onto; 0 for none
	Text   []byte
}

// Batch decodes lines, of which the first one has the number first. Empty lines and those of SkipLine are left out. It may run
// in several goroutines at once.
func (d *Decoder) Batch(first int, lines [][]byte) []Line {
	batch := make([]Line, 0, len(lines))
	for i, line := range lines {
		var patch *Patch
		if d.CutPatch != nil {
			line, patch = d.CutPatch(line)
		}
		if len(bytes.TrimSuffix(line, []byte("\n"))) > d.maxBytes {
			batch = append(batch, Line{Number: first + i, Errors: store.Errors{store.Unprocessablef(nil, "The line is longer than %d bytes; shorten its texts and lists, or raise --line-bytes.", d.maxBytes)}})
			continue
		}
		line = bytes.TrimSpace(line)
		if i == 0 && first == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		row := d.Row(first + i)
		if len(row.Faults) > 0 {
			batch = append(batch, Line{Number: first + i, Row: row, Errors: row.Faults})
			continue
		}
		if len(line) == 0 || d.SkipLine != nil && d.SkipLine(first+i) {
			continue
		}
		result := d.Decode(line)
		result.Number, result.Row, result.Patch = first+i, row, patch
		result.Warnings = append(result.Warnings, d.Warned[result.Number]...)
		batch = append(batch, result)
	}
	return batch
}

// Decode decodes a resource and reports every wrong member. The source is set even then, as
// far as it was decoded.
func (d *Decoder) Decode(line []byte) Line {
	if err := store.CheckImportLine(line); err != nil {
		return Line{Errors: store.AsErrors(err)}
	}
	if result := d.DecodeFast(line); result.Source != nil || result.Left {
		if !result.Left {
			result.Check()
		}
		return result
	}
	return d.DecodeStrictly(line)
}

// DecodeStrictly is Decode for any line, several times slower than DecodeFast. It reads the type, then a deletion, then the
// source. If that fails, it tries whole numbers in another form, and then explains each wrong member.
func (d *Decoder) DecodeStrictly(line []byte) Line {
	var head struct {
		Type string `json:"type"`
	}
	if err := store.DecodeJSON(line, &head); err != nil {
		faults, _, _ := explainJSON(line, reflect.TypeOf(head), true)
		return Line{Errors: faults}
	}
	result := Line{Kind: head.Type}
	create, known := d.types[head.Type]
	if d.LeftTypes[head.Type] {
		result.Left = true
		return result
	}
	if !known {
		if !d.lenient || head.Type == "" {
			types := strings.Join(slices.Sorted(maps.Keys(d.types)), ", ")
			result.Errors = store.Errors{store.Invalidf([]string{"type"}, "must be one of %s, got %q", types, store.Abbreviate(head.Type))}
		} else {
			result.Ignored = store.Errors{store.Invalidf([]string{"type"}, "is unknown: %q", store.Abbreviate(head.Type))}
		}
		return result
	}
	if deleting, ok := decodeDeletion(line, head.Type); ok {
		return deleting
	}
	result.Source = create()
	result.Warnings = RepeatedMembers(line)
	err := readStrictly(line, result.Source)
	if err != nil { // 2.0 is a whole number too
		if plain := store.NormalizeIntegers(line, reflect.TypeOf(result.Source)); plain != nil {
			line = plain
			err = readStrictly(line, result.Source)
		}
	}
	if err != nil {
		var mistyped bool
		result.Errors, result.Ignored, mistyped = explainJSON(line, reflect.TypeOf(result.Source), d.lenient)
		if mistyped { // nothing more can be checked
			return result
		}
		if d.lenient { // strict decoding stopped at the first unknown member
			result.Source = create()
			if err := store.DecodeJSON(line, result.Source); err != nil {
				result.Errors = append(result.Errors, store.Invalidf(nil, "The line must be a single JSON object."))
				return result
			}
		}
	}
	result.Check()
	return result
}

// DecodeFast decodes the usual line, which begins with its type, has each member once and fits the
// type exactly. It does not check the source. For another line it returns no source, and the strict decoder explains what is
// wrong.
func (d *Decoder) DecodeFast(line []byte) (result Line) {
	rest, begins := bytes.CutPrefix(line, []byte(`{"type":"`))
	name, _, ends := bytes.Cut(rest, []byte(`"`))
	create, known := d.types[string(name)]
	if !begins || !ends || !known {
		return result
	}
	if d.LeftTypes[string(name)] && json.Valid(line) {
		return Line{Kind: string(name), Left: true}
	}
	read := create()
	if jsonv2.Unmarshal(line, read, exactLine) != nil {
		return result
	}
	return Line{Kind: string(name), Source: read}
}

// decodeDeletion decodes a line with the member deleted; ok is false for another line.
func decodeDeletion(line []byte, kind string) (result Line, ok bool) {
	var members map[string]json.RawMessage
	if !bytes.Contains(line, []byte(`"deleted"`)) || json.Unmarshal(line, &members) != nil || members["deleted"] == nil {
		return result, false
	}
	f := &authoring.Validator{}
	switch {
	case KindByName(kind).Delete == nil:
		f.Add("deleted", "is not possible for a %s; the types that an import deletes are %s", kind, strings.Join(DeletableKinds(), ", "))
	case string(members["deleted"]) != "true":
		f.Add("deleted", "must be true, or absent")
	default:
		var id string
		if raw := members["id"]; raw != nil && json.Unmarshal(raw, &id) != nil {
			f.Add("id", "must be a string, got %s", authoring.JSONKind(raw))
		} else {
			f.ID("id", &id)
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if name != "type" && name != "id" && name != "deleted" {
				f.Add(name, "must be absent from a line that deletes a resource")
			}
		}
		result.Deletes = id
	}
	result.Kind, result.Errors = kind, f.Errors
	return result, true
}

// DeletableKinds returns the types that an import can delete.
func DeletableKinds() (names []string) {
	for _, kind := range Kinds {
		if kind.Delete != nil {
			names = append(names, kind.Name)
		}
	}
	return names
}

// RepeatedMembers warns of the first member that an object has twice; the last one counts.
func RepeatedMembers(line []byte) store.Errors {
	var value jsontext.Value
	err := jsonv2.Unmarshal(line, &value)
	var found *jsontext.SyntacticError
	if !errors.As(err, &found) || !errors.Is(err, jsontext.ErrDuplicateName) {
		return nil
	}
	return store.Errors{store.Invalidf(slices.Collect(found.JSONPointer.Tokens()), "is in the object twice; the last one counts")}
}

// exactLine rejects unknown members. Names are compared exactly, and a member must not be repeated.
var exactLine = jsonv2.RejectUnknownMembers(true)

// Check validates the source, and sets the errors, warnings and references of the line.
func (l *Line) Check() {
	f := &authoring.Validator{}
	l.Source.Check(f)
	for _, fault := range f.Errors { // in a file, a broken rule is an invalid line
		fault.Code = store.Invalid
	}
	l.Errors, l.References = append(l.Errors, f.Errors...), f.References
	l.Warnings = append(l.Warnings, f.Warnings...)
}

// readStrictly decodes a line and fails at the first unknown member.
func readStrictly(line []byte, into authoring.Source) error {
	return newStrictReader(line, into).Decode(into)
}

// newStrictReader returns a decoder that compares names exactly and refuses unknown members.
func newStrictReader(line []byte, into authoring.Source) *json.Decoder {
	line, _ = store.ExactMembers(line, reflect.TypeOf(into))
	reader := json.NewDecoder(bytes.NewReader(line))
	reader.DisallowUnknownFields()
	return reader
}
