package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"portico/store"
	"portico/store/authoring"
)

// explainJSON returns every member of a line that could not be decoded and that does not fit shape; encoding/json reports only
// the first, sometimes without its path. mistyped is false if all errors are unknown members;
// passed are those that a lenient import skips.
func explainJSON(line []byte, shape reflect.Type, lenient bool) (list, passed store.Errors, mistyped bool) {
	if problem := store.FindSyntaxProblem(line); problem != nil {
		return store.Errors{store.Invalidf(nil, "The line is not JSON at column %d: %s.", problem.Column, problem.Expected)}, nil, true
	}
	f := &formChecker{lenient: lenient}
	f.check(nil, line, shape)
	if len(f.errs)+len(f.ignored) == 0 {
		return store.Errors{store.Invalidf(nil, "The line must be a single JSON object.")}, nil, true
	}
	return f.errs, f.ignored, f.mistyped
}

// formChecker collects the members of a line that do not fit its type.
type formChecker struct {
	lenient  bool
	errs     store.Errors
	ignored  store.Errors // unknown members to skip
	mistyped bool         // a member is of the wrong JSON type
}

// check compares a JSON value with a Go type, and the members and elements in it. null fits any type.
func (f *formChecker) check(path []string, raw []byte, shape reflect.Type) {
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
		var wrong *store.Error // the type's own error
		if err := json.Unmarshal(raw, reflect.New(shape).Interface()); errors.As(err, &wrong) {
			f.mistyped = true
			f.errs = append(f.errs, wrong.At(path...))
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
				f.ignored = append(f.ignored, store.Invalidf(append(slices.Clone(path), name), "is not a known member"))
			} else {
				f.errs = append(f.errs, unknownMember(append(slices.Clone(path), name), shape))
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
			want := goKind(shape)
			if digits := bytes.TrimLeft(raw, "-"); shape.Kind() == reflect.Int || shape.Kind() == reflect.Int64 {
				if len(bytes.Trim(digits, "0123456789")) == 0 {
					want = "a whole number of at most 9223372036854775807"
				}
			}
			f.mistype(path, want, raw)
		}
	}
}

// mistype adds the error of a value that is not what want says. Of the elements of a list it adds the first.
func (f *formChecker) mistype(path []string, want string, raw []byte) {
	f.mistyped = true
	wrong := store.Invalidf(path, "must be %s, got %s", want, authoring.JSONKind(raw))
	if last := len(f.errs) - 1; last < 0 || f.errs[last].Detail != wrong.Detail || Starred(f.errs[last].Path) != Starred(path) {
		f.errs = append(f.errs, wrong)
	}
}

// goKind says what JSON a scalar Go type takes.
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

// unknownMember is the error for a member that a type does not have.
func unknownMember(path []string, shape reflect.Type) *store.Error {
	if near := store.NearMember(path[len(path)-1], shape); near != "" {
		return store.Invalidf(path, "is not a known member; did you mean %s?", near)
	}
	return store.Invalidf(path, "is not a known member; remove it, or import with --lenient to skip it")
}
