package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// DecodeJSON is json.Unmarshal for client input. It compares member names exactly
// (ExactMembers) and accepts whole numbers in any form: 2.0 and 2e0 are 2. The Field of a
// *json.UnmarshalTypeError is the path of the value with indexes and keys: rows.2.amount.
func DecodeJSON(raw []byte, into any) error {
	raw, _ = ExactMembers(raw, reflect.TypeOf(into))
	err := json.Unmarshal(raw, into)
	mistyped := new(json.UnmarshalTypeError)
	if errors.As(err, &mistyped) {
		if plain := NormalizeIntegers(raw, reflect.TypeOf(into)); plain != nil {
			raw, err = plain, json.Unmarshal(plain, into)
		}
	}
	if errors.As(err, &mistyped) {
		path := pathAt(raw, mistyped.Offset)
		// The offset of a type with an UnmarshalJSON of its own is another one: then the member stays.
		if last := mistyped.Field[strings.LastIndexByte(mistyped.Field, '.')+1:]; last == "" || slices.Contains(path, last) {
			mistyped.Field = strings.Join(path, ".")
		}
	}
	return err
}

// pathAt returns the path of the value that is read at an offset.
func pathAt(raw []byte, offset int64) []string {
	d := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for d.InputOffset() < offset {
		if _, err := d.ReadToken(); err != nil {
			break
		}
	}
	return slices.Collect(d.StackPointer().Tokens())
}

// NormalizeIntegers rewrites numbers such as 2.0 as digits where shape has integers; nil if
// nothing changes. raw must be valid JSON.
func NormalizeIntegers(raw []byte, shape reflect.Type) []byte {
	s := &jsonScanner{raw: raw, integers: true}
	s.value(shape, 0)
	return s.result()
}

// indirect returns shape without pointers; nil if it implements json.Unmarshaler, unless it is Shaped.
func indirect(shape reflect.Type) reflect.Type {
	for shape != nil && shape.Kind() == reflect.Pointer {
		shape = shape.Elem()
	}
	if shape != nil && shape.Name() != "" && shape.Implements(reflect.TypeFor[Shaped]()) {
		return reflect.Zero(shape).Interface().(Shaped).Shape()
	}
	if shape == nil || reflect.PointerTo(shape).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	return shape
}

// ParseInteger parses an integer in any JSON form.
func ParseInteger(raw []byte) (int64, error) {
	digits, ok := integerDigits(string(raw))
	if !ok {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseInt(digits, 10, 64)
}

// maxExponent is larger than in any integer that fits.
const maxExponent = 100

// integerDigits returns a JSON number as digits; ok is false if it is not whole. It moves the decimal point by the exponent
// within the digits of the mantissa: only zeros may follow it then.
func integerDigits(number string) (digits string, ok bool) {
	mantissa, exponent := number, 0
	if at := strings.IndexAny(number, "eE"); at >= 0 {
		n, err := strconv.Atoi(number[at+1:])
		if err != nil || n > maxExponent || n < -maxExponent {
			return "", false
		}
		mantissa, exponent = number[:at], n
	}
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all, point := whole+fraction, len(whole)+exponent // point may be before the first digit or after the last
	switch {
	case point > len(all):
		all += strings.Repeat("0", point-len(all))
	case strings.Trim(all[max(0, point):], "0") != "":
		return "", false
	default:
		all = all[:max(0, point)]
	}
	all = strings.TrimLeft(all, "0")
	switch {
	case all == "":
		return "0", true
	case negative:
		return "-" + all, true
	}
	return all, true
}
