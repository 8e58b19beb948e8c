package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/internal/reqctx"
	"portico/store"
	"portico/store/gateway"
)

// readData decodes the resource of a body, which clients send as {"data": …} or bare. It
// ignores unknown members, except those that are nearly a known one.
func readData(w http.ResponseWriter, r *http.Request, into any) error {
	_, err := readBody(w, r, "{", "must be an object", into)
	return err
}

// readUpdate is readData for a PUT. The returned request has the null members in its
// context.
func readUpdate(w http.ResponseWriter, r *http.Request, into any) (*http.Request, error) {
	data, err := readBody(w, r, "{", "must be an object", into)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, err // unreachable: readBody decoded it
	}
	var nulls store.Nulls
	for name, value := range members {
		if string(value) == "null" {
			nulls = append(nulls, name)
		}
	}
	slices.Sort(nulls)
	return r.WithContext(opctx.WithNulls(r.Context(), nulls)), nil
}

// readList decodes a list of resources: {"data": […]}.
func readList(w http.ResponseWriter, r *http.Request, into any) error {
	_, err := readBody(w, r, "[", "must be an array", into)
	return err
}

// readBody decodes and returns what a body has under data, or the body if it has no data. That must begin with begin, else the error
// says rule. It checks, in this order, the Content-Type, the size, the text, the form, the types of members and nearly known names.
func readBody(w http.ResponseWriter, r *http.Request, begin, rule string, into any) (data []byte, err error) {
	if err := checkContentType(r); err != nil {
		return nil, err
	}
	body, err := auth.ReadBody(w, r, reqctx.MaxBody(r.Context()), nil)
	if err != nil {
		return nil, err
	}
	if err := checkJSON(body, begin, into); err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return nil, &store.Error{Code: store.Invalid, Detail: store.NotJSON(body, "The body", `The body must be a JSON object: {"data": {…}}.`)}
	}
	shape := reflect.TypeOf(into).Elem()
	data, wrapped := members["data"]
	if wrapped {
		body = data
	} else if err := nearlyData(members, shape); err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte(begin)) {
		return nil, invalidParameter("data", "%s", rule)
	}
	var mistyped *json.UnmarshalTypeError
	if err := store.DecodeJSON(body, into); errors.As(err, &mistyped) {
		wrong := typeError(mistyped)
		if begin == "[" { // paths of a list begin with data, those of a resource do not
			wrong = wrong.At("data")
		}
		return nil, wrong
	} else if err != nil {
		return nil, &store.Error{Code: store.Invalid, Detail: "The body does not have the expected JSON structure."}
	}
	if errs := store.NearMembers(body, shape); len(errs) > 0 {
		if begin == "[" {
			for i, e := range errs {
				errs[i] = e.At("data")
			}
		}
		return nil, errs
	}
	return body, nil
}

// nearlyData returns UNPROCESSABLE if a body without data has a member that is nearly data.
func nearlyData(members map[string]json.RawMessage, shape reflect.Type) error {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if store.NearName(name, []string{"data"}) == "" {
			continue
		}
		if shape.Kind() == reflect.Struct {
			if _, known := store.MemberType(shape, name); known {
				continue
			}
		}
		return &store.Error{Code: store.Unprocessable, Path: []string{name}, Detail: "is unknown; did you mean data?"}
	}
	return nil
}

// checkContentType returns 415 unless the Content-Type is JSON or missing.
func checkContentType(r *http.Request) error {
	label := r.Header.Get("Content-Type")
	if label == "" {
		return nil
	}
	kind, _, err := mime.ParseMediaType(label)
	if err == nil && (kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json")) {
		return nil
	}
	return &auth.StatusError{Status: http.StatusUnsupportedMediaType, Err: &store.Error{Code: store.Invalid,
		Detail: fmt.Sprintf("The body must be JSON with Content-Type: application/json, got %q.", label)}}
}

// checkJSON returns INVALID for text that could not be stored unchanged. The error names members that the resource has, without
// the data around them: other names are the client's text.
func checkJSON(body []byte, begin string, into any) error {
	err := store.CheckJSON(body)
	if err == nil {
		return nil
	}
	first := store.AsErrors(err)[0]
	var around []string
	if len(first.Path) > 0 && first.Path[0] == "data" {
		around, first.Path = first.Path[:1], first.Path[1:]
	}
	if first.Path = store.KnownPath(reflect.TypeOf(into), first.Path); len(first.Path) == 0 || begin != "{" {
		first.Path = append(around, first.Path...)
	}
	return first
}

// maxQuoted is how many bytes of a number an error quotes.
const maxQuoted = 64

// typeError is the error for a member of the wrong JSON type.
func typeError(e *json.UnmarshalTypeError) *store.Error {
	var path []string
	if e.Field != "" {
		path = []string{e.Field}
	}
	if digits, ok := strings.CutPrefix(e.Value, "number "); ok && jsonName(e.Type) == wholeNumber && strings.Trim(digits, "-0123456789") == "" {
		return &store.Error{Code: store.Unprocessable, Path: path, Detail: fmt.Sprintf("is out of range: %.*s", maxQuoted, digits)}
	}
	return &store.Error{Code: store.Invalid, Path: path, Detail: fmt.Sprintf("must be %s, got %.*s", jsonName(e.Type), maxQuoted, e.Value)}
}

// wholeNumber is jsonName of integers.
const wholeNumber = "a whole number"

// jsonName returns what a member of a Go type must be in JSON, for errors. Other types than those of its cases are texts.
func jsonName(goType reflect.Type) string {
	switch goType.Kind() {
	case reflect.Int, reflect.Int64:
		return wholeNumber
	case reflect.Bool:
		return "a boolean"
	case reflect.Slice:
		return "an array"
	case reflect.Map:
		return "an object"
	case reflect.Struct:
		if goType == reflect.TypeFor[gateway.Secret]() {
			return "a string"
		}
		return "an object"
	}
	return "a string"
}
