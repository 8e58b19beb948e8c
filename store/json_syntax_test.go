package store_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store"
)

func TestFindSyntaxProblem(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": 1}`:               "",
		` [] `:                   "",
		``:                       "line 1, column 1: expected a value, and the text is empty",
		"\n ":                    "line 2, column 2: expected a value, and the text is empty",
		`{`:                      "line 1, column 2: expected more, since the text ends within a value",
		`{"a": "b`:               "line 1, column 9: expected more, since the text ends within a value",
		"{\n  \"a\": 1,\n}":      "line 3, column 1: expected the name of a member in double quotes",
		"{\n  'a': 1}":           "line 2, column 3: expected the name of a member in double quotes",
		`{"é" 1}`:                "line 1, column 6: expected a colon",
		`{"a": 1 "b": 2}`:        "line 1, column 9: expected a comma or }",
		`[1 2]`:                  "line 1, column 4: expected a comma or ]",
		`[1,]`:                   "line 1, column 4: expected a value",
		`{"a": undefined}`:       "line 1, column 7: expected a value",
		`{"a": nul}`:             "line 1, column 10: expected true, false or null",
		`{"a": 1.}`:              "line 1, column 9: expected a digit",
		`{"a": -}`:               "line 1, column 8: expected a digit",
		`{"a": "\x"}`:            `line 1, column 8: expected an escape such as \n, \" or \u00e9`,
		`{"a": "\u12"}`:          `line 1, column 8: expected an escape such as \n, \" or \u00e9`,
		"{\"a\": \"b\nc\"}":      `line 1, column 9: expected an escape such as \n in place of a control character`,
		`{} {}`:                  "line 1, column 4: expected the end, since the value is complete",
		`grant_type=x`:           "line 1, column 1: expected a value",
		strings.Repeat("[", 1e5): "line 1, column 10001: expected fewer levels of arrays and objects",
	} {
		got := ""
		if problem := store.FindSyntaxProblem([]byte(text)); problem != nil {
			got = problem.String()
		}
		require.Equal(t, want, got, "%.40s", text)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("{}[]:,\"\\uab1.e-+ntfé \n\x01"))).Draw(t, "text")
		problem := store.FindSyntaxProblem([]byte(text))
		require.Equal(t, json.Valid([]byte(text)), problem == nil)
		if problem != nil {
			require.NotEqual(t, "expected JSON", problem.Expected, "%q", text)
		}
	})
}
