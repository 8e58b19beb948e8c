package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
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

// FindSyntaxProblem returns the first problem of a text that must be one JSON value; nil if it has none. It copies nothing.
func FindSyntaxProblem(text []byte) *SyntaxProblem {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), encodedText)
	_, err := d.ReadValue()
	at, expected := len(text), ""
	var syntax *jsontext.SyntacticError
	switch {
	case err == nil:
		rest := bytes.TrimLeft(text[d.InputOffset():], " \t\r\n")
		if len(rest) == 0 {
			return nil
		}
		at, expected = len(text)-len(rest), "expected the end, since the value is complete"
	case err == io.EOF:
		expected = "expected a value, and the text is empty"
	case errors.Is(err, io.ErrUnexpectedEOF):
		expected = "expected more, since the text ends within a value"
	case errors.As(err, &syntax):
		at, expected = int(syntax.ByteOffset), expectedJSON(syntax.Err.Error())
	}
	before := text[:at]
	return &SyntaxProblem{bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1, expected}
}

// expectedJSON says what must stand where jsontext found another character. Its messages quote it.
func expectedJSON(message string) string {
	for _, state := range []struct{ context, expected string }{
		{"at start of value", "expected a value"},
		{"at start of string", "expected the name of a member in double quotes"},
		{"after object value", "expected a comma or }"},
		{"after object name", "expected a colon"},
		{"after array element", "expected a comma or ]"},
		{"escape", `expected an escape such as \n, \" or \u00e9`},
		{"non-control", `expected an escape such as \n in place of a control character`},
		{"in number", "expected a digit"},
		{"in literal", "expected true, false or null"},
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
