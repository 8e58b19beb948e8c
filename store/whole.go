package store

import (
	"bytes"
	"encoding/json"
	"math/big"
	"reflect"
	"strconv"
	"strings"
)

// parseWhole reads a number of JSON that is whole, in whatever form: 2, 2.0 or
// 20e-1.
func parseWhole(raw []byte) (int64, bool) {
	text := string(raw)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if len(text) > 32 || len(exponent) > len("-18") || strings.Trim(text, "-+.eE0123456789") != "" {
		return 0, false
	}
	number, ok := new(big.Rat).SetString(text)
	if !ok || !number.IsInt() || !number.Num().IsInt64() {
		return 0, false
	}
	return number.Num().Int64(), true
}

// WholeNumbers writes JSON that is to be read into a Go type with its whole
// numbers in digits: 2.0 where the type has an int becomes 2, which alone is
// what encoding/json takes. Everything else stays as it is, other than the
// order of members and the space between them.
func WholeNumbers(raw []byte, into reflect.Type) []byte {
	for into.Kind() == reflect.Pointer {
		into = into.Elem()
	}
	if reflect.PointerTo(into).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return raw // a form of its own
	}
	switch into.Kind() {
	case reflect.Int, reflect.Int64:
		if n, whole := parseWhole(bytes.TrimSpace(raw)); whole {
			return strconv.AppendInt(nil, n, 10)
		}
	case reflect.Struct, reflect.Map:
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil || members == nil {
			return raw
		}
		for name, value := range members {
			if member, known := memberType(into, name); known {
				members[name] = WholeNumbers(value, member)
			}
		}
		return encode(members)
	case reflect.Slice:
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil || items == nil {
			return raw
		}
		for i := range items {
			items[i] = WholeNumbers(items[i], into.Elem())
		}
		return encode(items)
	}
	return raw
}
