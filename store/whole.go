package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
)

// DecodeJSON is json.Unmarshal for JSON from outside. It compares member names
// exactly (ExactMembers), and takes a whole number as JSON has it: 2.0 and 2e0
// are 2.
func DecodeJSON(raw []byte, into any) error {
	raw, _ = ExactMembers(raw, reflect.TypeOf(into))
	err := json.Unmarshal(raw, into)
	if mistyped := new(json.UnmarshalTypeError); errors.As(err, &mistyped) {
		if plain := PlainNumbers(raw, reflect.TypeOf(into)); plain != nil {
			return json.Unmarshal(plain, into)
		}
	}
	return err
}

// PlainNumbers writes numbers as digits where the shape takes whole numbers and
// they are; nil when there are none to change.
func PlainNumbers(raw []byte, shape reflect.Type) []byte {
	w := &shapeWalk{raw: raw, decoder: json.NewDecoder(bytes.NewReader(raw)), next: shape}
	w.decoder.UseNumber()
	for {
		token, err := w.decoder.Token()
		if err != nil { // the end; what is no JSON was refused before
			break
		}
		w.take(token)
	}
	if w.changed == nil {
		return nil
	}
	return append(w.changed, raw[w.copied:]...)
}

// shapeWalk goes through a JSON value beside its shape.
type shapeWalk struct {
	raw     []byte
	decoder *json.Decoder
	within  []shapeLevel
	next    reflect.Type // of the next value; nil for one that nobody knows

	changed []byte // raw as far as copied, with what was changed
	copied  int
}

// shapeLevel is an object or an array that the walk is in.
type shapeLevel struct {
	shape    reflect.Type
	object   bool
	valueDue bool // of a member whose name was read
}

func (w *shapeWalk) take(token json.Token) {
	switch token := token.(type) {
	case json.Delim:
		if token == '{' || token == '[' {
			w.within = append(w.within, shapeLevel{shape: transparent(w.next), object: token == '{'})
			w.expect()
			return
		}
		w.within = w.within[:len(w.within)-1]
	case string:
		if top := w.top(); top != nil && top.object && !top.valueDue {
			top.valueDue, w.next = true, nil
			if top.shape != nil && (top.shape.Kind() == reflect.Struct || top.shape.Kind() == reflect.Map) {
				w.next, _ = MemberType(top.shape, token)
			}
			return
		}
	case json.Number:
		if shape := transparent(w.next); shape != nil && shape.Kind() >= reflect.Int && shape.Kind() <= reflect.Int64 {
			w.rewrite(token.String())
		}
	}
	if top := w.top(); top != nil {
		top.valueDue = false
		w.expect()
	}
}

func (w *shapeWalk) top() *shapeLevel {
	if len(w.within) == 0 {
		return nil
	}
	return &w.within[len(w.within)-1]
}

// expect tells what an array's next element is.
func (w *shapeWalk) expect() {
	w.next = nil
	if top := w.top(); !top.object && top.shape != nil && top.shape.Kind() == reflect.Slice {
		w.next = top.shape.Elem()
	}
}

// rewrite writes the number that was just read as digits.
func (w *shapeWalk) rewrite(number string) {
	digits, ok := wholeNumber(number)
	if !ok || digits == number {
		return
	}
	end := int(w.decoder.InputOffset())
	w.changed = append(append(w.changed, w.raw[w.copied:end-len(number)]...), digits...)
	w.copied = end
}

// transparent is a shape without its pointers; nil for one that reads its JSON
// itself.
func transparent(shape reflect.Type) reflect.Type {
	for shape != nil && shape.Kind() == reflect.Pointer {
		shape = shape.Elem()
	}
	if shape == nil || reflect.PointerTo(shape).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	return shape
}

// ParseWhole reads a whole number of JSON.
func ParseWhole(raw []byte) (int64, error) {
	digits, ok := wholeNumber(string(raw))
	if !ok {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseInt(digits, 10, 64)
}

// maxExponent bounds what is written out, far beyond every whole number there
// is.
const maxExponent = 100

// wholeNumber writes a number of JSON as digits; ok is false for one that is
// not whole.
func wholeNumber(number string) (digits string, ok bool) {
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
	all, point := whole+fraction, len(whole)+exponent
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

// MemberType is the type of what a JSON object has under a name.
func MemberType(shape reflect.Type, name string) (reflect.Type, bool) {
	if shape.Kind() == reflect.Map {
		return shape.Elem(), true
	}
	found, known := membersOf(shape).types[name]
	return found, known
}
