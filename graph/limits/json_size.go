package limits

import (
	"portico/store"
)

// CheckJSON returns an error for a request with too many JSON values or too deep nesting, before it is
// decoded: decoded values take many times their length, and the time to read an input grows with the
// square of its depth.
func CheckJSON(text []byte, config Config) *store.Error {
	values, depth, deepest, quoted := 0, 0, 0, false // a value for each list and object, and for each comma
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
	for _, limit := range []limitCheck{
		{"has %d values", values, config.Values, "send less at a time"},
		{"nests lists and objects %d deep", deepest, config.Nesting, "nest less"},
	} {
		if limit.count > limit.max {
			return &store.Error{Code: store.Unprocessable, Detail: limit.describe("The request")}
		}
	}
	return nil
}
