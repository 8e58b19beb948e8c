package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A SyntaxProblem says where a text stops being JSON. It quotes nothing of the text, which may hold secrets.
type SyntaxProblem struct {
	Line, Column int // from 1; columns are characters
	Expected     string
}

// String is, for example, "line 3, column 7: expected a comma or }".
func (p *SyntaxProblem) String() string {
	return fmt.Sprintf("line %d, column %d: %s", p.Line, p.Column, p.Expected)
}

// FindSyntaxProblem returns the first problem of a text that must be one JSON value; nil if it has none.
func FindSyntaxProblem(text []byte) *SyntaxProblem {
	var value json.RawMessage
	err := json.Unmarshal(text, &value)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return nil
	}
	at := int(syntax.Offset) - 1 // of the byte that is wrong
	expected := ""
	switch message := syntax.Error(); {
	case len(bytes.TrimSpace(text)) == 0:
		at, expected = len(text), "expected a value, and the text is empty"
	case strings.HasPrefix(message, "unexpected end"):
		at, expected = len(text), "expected more, since the text ends within a value"
	default:
		expected = expectedJSON(message)
	}
	before := text[:min(max(0, at), len(text))]
	return &SyntaxProblem{bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1, expected}
}

// expectedJSON says what must stand where encoding/json found another character. Its messages quote it.
func expectedJSON(message string) string {
	for _, state := range []struct{ context, expected string }{
		{"beginning of value", "expected a value"},
		{"object key string", "expected the name of a member in double quotes"},
		{"after object key:value pair", "expected a comma or }"},
		{"after object key", "expected a colon"},
		{"after array element", "expected a comma or ]"},
		{"escape", `expected an escape such as \n, \" or \u00e9`},
		{"in string literal", `expected an escape such as \n in place of a control character`},
		{"numeric literal", "expected a digit"},
		{"in literal", "expected true, false or null"},
		{"after top-level value", "expected the end, since the value is complete"},
		{"exceeded max depth", "expected fewer levels of arrays and objects"},
	} {
		if strings.Contains(message, state.context) {
			return state.expected
		}
	}
	return "expected JSON"
}

// NotJSON says where a text stops being JSON. what names the text. For a text that is JSON it returns rule, which says what
// else is wrong.
func NotJSON(text []byte, what, rule string) string {
	if problem := FindSyntaxProblem(text); problem != nil {
		return what + " is not JSON at " + problem.String() + "."
	}
	return rule
}
