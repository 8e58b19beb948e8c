package limits

import (
	"bytes"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/store"
)

// CheckJSON returns an error for a request with too many JSON values or too deep nesting, before it is
// decoded: decoded values take many times their length, and the time to read an input grows with the
// square of its depth. It stops at the first value that is too much.
func CheckJSON(text []byte, config Config) *store.Error {
	opened := bytes.Count(text, []byte("[")) + bytes.Count(text, []byte("{"))
	if opened <= config.Nesting && opened+bytes.Count(text, []byte(",")) <= config.Values {
		return nil // even if none of them is in a string
	}
	values, depth := 0, 0 // a value for each list and object, and for each comma
	for i := 0; i < len(text) && values <= config.Values && depth <= config.Nesting; i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case ',':
			values++
		case '[', '{':
			values++
			depth++
		case ']', '}':
			depth--
		}
	}
	return describeFirst(
		limitCheck{"has %d values or more", values, config.Values, "send less at a time"},
		limitCheck{"nests lists and objects %d deep or more", depth, config.Nesting, "nest less"},
	)
}

// MaxMembers returns how many members an object of a request may have: those of the request, its variables and its extensions.
func MaxMembers(config Config) int { return max(config.Variables, 1000) }

// TooManyMembers is the error for an object with more than MaxMembers.
func TooManyMembers(config Config) *store.Error {
	return describeFirst(limitCheck{"has an object with %d members or more", MaxMembers(config) + 1, MaxMembers(config),
		"send only the variables that the operation defines"})
}

// describeFirst returns the error of a request for the first exceeded limit.
func describeFirst(checks ...limitCheck) *store.Error {
	for _, limit := range checks {
		if limit.count > limit.max {
			return &store.Error{Code: store.Unprocessable, Detail: limit.describe("The request")}
		}
	}
	return nil
}

// MaxReference is the maximum length in bytes of the document id, and of an extension, of a request.
const MaxReference = 1 << 10

// CheckTexts checks the lengths of a document, of the name of its operation and of its id, which are JSON strings, before they are
// copied.
func CheckTexts(query, operationName, documentID []byte, config Config) *gqlerror.Error {
	for _, text := range []struct {
		sent    []byte
		subject string
		limitCheck
	}{
		{query, "The document", limitCheck{"is %d bytes long", len(query) - 2, config.Bytes, "send values as variables"}},
		{operationName, "The request", limitCheck{"has an operationName of %d bytes", len(operationName) - 2, config.Name, "send a shorter one"}},
		{documentID, "The request", limitCheck{"has a documentId of %d bytes", len(documentID) - 2, MaxReference, "send a shorter one"}},
	} {
		if MinLength(text.sent) > text.max {
			return &gqlerror.Error{Message: text.describe(text.subject), Extensions: map[string]any{"code": store.Unprocessable}}
		}
	}
	return nil
}

// MinLength returns the least number of bytes of the text in a JSON string. An escape has up to six bytes for one.
func MinLength(text []byte) int {
	return max(len(text)/6, len(text)-2-5*bytes.Count(text, []byte(`\`)))
}
