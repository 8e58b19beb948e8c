package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"portico/store"
	"portico/store/authoring"
)

// explainJSON finds every member that does not fit the shape, which
// encoding/json names only the first of, and not always by its path. mistyped
// is false when all that is wrong is members that are not known; those that a
// lenient import passes over are apart.
func explainJSON(line []byte, err error, shape reflect.Type, lenient bool) (list, passed store.Errors, mistyped bool) {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return store.Errors{store.Invalidf(nil, "The line is not JSON: %s at byte %d.", strings.TrimPrefix(syntax.Error(), "json: "), syntax.Offset)}, nil, true
	}
	f := &form{lenient: lenient}
	f.check(nil, line, shape)
	if len(f.list)+len(f.passed) == 0 {
		return store.Errors{store.Invalidf(nil, "The line must be one JSON object.")}, nil, true
	}
	return f.list, f.passed, f.mistyped
}

// form collects what of a line does not fit its shape.
type form struct {
	lenient  bool
	list     store.Errors
	passed   store.Errors // members that are not known, where that is passed over
	mistyped bool         // a member is of the wrong JSON type
}

// check holds a JSON value against a Go type.
func (f *form) check(path []string, raw []byte, shape reflect.Type) {
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
		var wrong *store.Error // of a form of its own
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
			member, known := store.MemberType(shape, name)
			if known {
				f.check(append(slices.Clone(path), name), members[name], member)
			} else if f.lenient {
				f.passed = append(f.passed, store.Invalidf(append(slices.Clone(path), name), "is not a known member"))
			} else {
				f.list = append(f.list, store.Invalidf(append(slices.Clone(path), name), "is not a known member; remove it, or import with --lenient to pass over it"))
			}
		}
	case shape.Kind() == reflect.Slice:
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			f.mistype(path, "an array", raw)
			return
		}
		for i, item := range items {
			f.check(append(slices.Clone(path), strconv.Itoa(i)), item, shape.Elem())
		}
	default:
		if json.Unmarshal(raw, reflect.New(shape).Interface()) != nil {
			f.mistype(path, goKind(shape), raw)
		}
	}
}

func (f *form) mistype(path []string, want string, raw []byte) {
	f.mistyped = true
	f.list = append(f.list, store.Invalidf(path, "must be %s, not %s", want, authoring.JSONKind(raw)))
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
