package exchange

import (
	"bytes"
	"cmp"
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

// lineDecoder decodes lines into sources.
type lineDecoder struct {
	types    map[string]func() authoring.Source
	lenient  bool // skip unknown members and types
	maxBytes int  // longest line in bytes

	skip    func(line int) bool // lines to skip; nil for none
	row     func(line int) SheetRow
	merged  bool                 // the lines are those of a lineMerger
	skipped map[string]bool      // types whose lines are left alone
	warned  map[int]store.Errors // warnings of lines that a merge has found
}

func newLineDecoder(options ImportOptions) *lineDecoder {
	types := map[string]func() authoring.Source{}
	for _, kind := range allKinds {
		types[kind.Name] = kind.Create
	}
	row := options.Row
	if row == nil {
		row = func(int) SheetRow { return SheetRow{} }
	}
	return &lineDecoder{types: types, lenient: options.Lenient, maxBytes: cmp.Or(options.LineBytes, defaultLineBytes), row: row,
		skipped: store.SetOf(options.Skip), warned: map[int]store.Errors{}}
}

// decodedLine is a decoded line.
type decodedLine struct {
	line     int // from 1
	kind     string
	source   authoring.Source // nil for an ignored or skipped type, and for a deletion
	deletes  string           // the id of the resource to delete; empty for none
	skipped  bool             // the type is left alone
	row      SheetRow
	patch    *linePatch // nil if the line was not merged
	errs     store.Errors
	warnings store.Errors
	ignored  store.Errors // what a lenient import skips: the type, or members
	refs     []authoring.Reference
}

// decode decodes a resource and reports every wrong member. The source is set even then, as
// far as it was decoded.
func (d *lineDecoder) decode(line []byte) decodedLine {
	if err := store.CheckImportLine(line); err != nil {
		return decodedLine{errs: store.AsErrors(err)}
	}
	if result := d.decodeFast(line); result.source != nil || result.skipped {
		if !result.skipped {
			result.check()
		}
		return result
	}
	return d.decodeStrictly(line)
}

// decodeStrictly is decode for any line, several times slower than decodeFast.
func (d *lineDecoder) decodeStrictly(line []byte) decodedLine {
	var head struct {
		Type string `json:"type"`
	}
	if err := store.DecodeJSON(line, &head); err != nil {
		faults, _, _ := explainJSON(line, err, reflect.TypeOf(head), true)
		return decodedLine{errs: faults}
	}
	result := decodedLine{kind: head.Type}
	create, known := d.types[head.Type]
	if result.skipped = d.skipped[head.Type]; result.skipped {
		return result
	}
	if !known {
		if !d.lenient || head.Type == "" {
			types := strings.Join(slices.Sorted(maps.Keys(d.types)), ", ")
			result.errs = store.Errors{store.Invalidf([]string{"type"}, "must be one of %s, got %q", types, store.Abbreviate(head.Type))}
		} else {
			result.ignored = store.Errors{store.Invalidf([]string{"type"}, "is unknown: %q", store.Abbreviate(head.Type))}
		}
		return result
	}
	if deleting, ok := decodeDeletion(line, head.Type); ok {
		return deleting
	}
	result.source = create()
	result.warnings = repeatedMembers(line)
	err := readStrictly(line, result.source)
	if err != nil { // 2.0 is a whole number too
		if plain := store.NormalizeIntegers(line, reflect.TypeOf(result.source)); plain != nil {
			line = plain
			err = readStrictly(line, result.source)
		}
	}
	if err != nil {
		var mistyped bool
		result.errs, result.ignored, mistyped = explainJSON(line, err, reflect.TypeOf(result.source), d.lenient)
		if mistyped { // nothing more can be checked
			return result
		}
		if d.lenient { // strict decoding stopped at the first unknown member
			result.source = create()
			if err := store.DecodeJSON(line, result.source); err != nil {
				result.errs = append(result.errs, store.Invalidf(nil, "The line must be a single JSON object."))
				return result
			}
		}
	}
	result.check()
	return result
}

// decodeFast decodes the usual line, which begins with its type, has each member once and fits the
// type exactly. Otherwise it returns no source, and the strict decoder explains what is wrong.
func (d *lineDecoder) decodeFast(line []byte) (result decodedLine) {
	rest, begins := bytes.CutPrefix(line, []byte(`{"type":"`))
	name, _, ends := bytes.Cut(rest, []byte(`"`))
	create, known := d.types[string(name)]
	if !begins || !ends || !known {
		return result
	}
	if d.skipped[string(name)] && json.Valid(line) {
		return decodedLine{kind: string(name), skipped: true}
	}
	read := create()
	if jsonv2.Unmarshal(line, read, exactLine) != nil {
		return result
	}
	return decodedLine{kind: string(name), source: read}
}

// decodeDeletion decodes a line with the member deleted; ok is false for another line.
func decodeDeletion(line []byte, kind string) (result decodedLine, ok bool) {
	var members map[string]json.RawMessage
	if !bytes.Contains(line, []byte(`"deleted"`)) || json.Unmarshal(line, &members) != nil || members["deleted"] == nil {
		return result, false
	}
	f := &authoring.Validator{}
	switch {
	case kindByName(kind).Delete == nil:
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
		result.deletes = id
	}
	result.kind, result.errs = kind, f.Errors
	return result, true
}

// DeletableKinds returns the types that an import can delete.
func DeletableKinds() (names []string) {
	for _, kind := range allKinds {
		if kind.Delete != nil {
			names = append(names, kind.Name)
		}
	}
	return names
}

// repeatedMembers warns of the first member that an object has twice; the last one counts.
func repeatedMembers(line []byte) store.Errors {
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

// check validates the source.
func (d *decodedLine) check() {
	f := &authoring.Validator{}
	d.source.Check(f)
	for _, fault := range f.Errors { // in a file, a broken rule is an invalid line
		fault.Code = store.Invalid
	}
	d.errs, d.refs = append(d.errs, f.Errors...), f.References
	d.warnings = append(d.warnings, f.Warnings...)
}

// readStrictly decodes a line and fails at the first unknown member.
func readStrictly(line []byte, into authoring.Source) error {
	return newStrictReader(line, into).Decode(into)
}

func newStrictReader(line []byte, into authoring.Source) *json.Decoder {
	line, _ = store.ExactMembers(line, reflect.TypeOf(into))
	reader := json.NewDecoder(bytes.NewReader(line))
	reader.DisallowUnknownFields()
	return reader
}

func (d *lineDecoder) batch(first int, lines [][]byte) []decodedLine {
	batch := make([]decodedLine, 0, len(lines))
	for i, line := range lines {
		var patch *linePatch
		if d.merged {
			line, patch = cutPatch(line)
		}
		if len(bytes.TrimSuffix(line, []byte("\n"))) > d.maxBytes {
			batch = append(batch, decodedLine{line: first + i, errs: store.Errors{store.Unprocessablef(nil, "The line is longer than %d bytes; shorten its texts and lists, or raise --line-bytes.", d.maxBytes)}})
			continue
		}
		line = bytes.TrimSpace(line)
		if i == 0 && first == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		row := d.row(first + i)
		if len(row.Faults) > 0 {
			batch = append(batch, decodedLine{line: first + i, row: row, errs: row.Faults})
			continue
		}
		if len(line) == 0 || d.skip != nil && d.skip(first+i) {
			continue
		}
		result := d.decode(line)
		result.line, result.row, result.patch = first+i, row, patch
		result.warnings = append(result.warnings, d.warned[result.line]...)
		batch = append(batch, result)
	}
	return batch
}
