package limits

import (
	"portico/store"
)

// CheckJSON refuses a request with too many JSON values or too deep nesting, before it is decoded:
// a decoded value takes many times its length, and reading an input grows with the square of its
// depth. It counts the separators outside of strings.
func CheckJSON(text []byte, bounds Bounds) *store.Error {
	values, depth, deepest, quoted := 0, 0, 0, false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == ',':
			values++
		case b == '[' || b == '{':
			values++
			depth++
			deepest = max(deepest, depth)
		case b == ']' || b == '}':
			depth--
		}
	}
	for _, bound := range []limit{
		{"holds %d values", values, bounds.Values, "send less at a time"},
		{"nests lists and objects %d deep", deepest, bounds.Nesting, "nest less"},
	} {
		if bound.count > bound.max {
			return &store.Error{Code: store.Unprocessable, Detail: bound.describe("The request")}
		}
	}
	return nil
}
