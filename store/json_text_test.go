package store

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestCheckJSON(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ raw, want string }{
		{`{"a":"plain"}`, ""},
		{`{"a":"\u00e9 \ud83d\ude00 é 😀"}`, ""},
		{`{"a":"\\ud800 \\u0000 \\\\ud800"}`, ""},
		{`{"a":"\\\ud800"}`, "a contains half"},
		{`{"a":"\ud800"}`, "a contains half"},
		{`{"a":"\ud800x"}`, "a contains half"},
		{`{"a":"\ud83d\ud83d\ude00"}`, "a contains half"},
		{`{"a":"\ude00"}`, "a contains half"},
		{`{"a":"\uD800\u0041"}`, "a contains half"},
		{`{"a":"\u0000"}`, ""},
		{"{\"a\":\"\xff\"}", "a is not valid UTF-8"},
		{"{\"a\":\"\xed\xa0\x80\"}", "a is not valid UTF-8"},
		{`{"x":1,"data":{"codes":[{"code":"a"},{"n":[1,2],"code":"\ud800"}]}}`, "data.codes.1.code contains half"},
		{`{"x":[[],{},[true,null,"\udfff"]]}`, "x.2.2 contains"},
		{`{"data":{"\ud800":1}}`, "data has a member name that contains half"},
		{`{"\ud800":1}`, "has a member name that contains half"},
		{`["\ud800"]`, "0 contains half"},
		{`"\ud800"`, "contains half"},
		{`{"a":{"b":"x"},"c":"\ud800"}`, "c contains half"},
		{`{"a":`, ""}, {`{"a":"\ud8`, ""}, {`}\u0000`, ""}, {``, ""}, {`\u0000`, ""},
	} {
		err := CheckJSON([]byte(test.raw))
		if test.want == "" {
			require.NoError(t, err, test.raw)
			continue
		}
		require.True(t, HasCode(err, Invalid), test.raw)
		require.True(t, strings.HasPrefix(err.Error(), test.want), "%s says %s", test.raw, err)
	}
}

func TestCheckImportLineRejectsNUL(t *testing.T) {
	t.Parallel()
	require.NoError(t, CheckImportLine([]byte(`{"a":"\\u0000"}`)))
	require.ErrorContains(t, CheckImportLine([]byte(`{"a":["x","\u0000"]}`)), "a.1 contains the character U+0000")
	require.ErrorContains(t, CheckImportLine([]byte(`{"a":["x","\ud800"]}`)), "a.1 contains half")
}

// FuzzCheckJSON: accepted JSON is decoded without replacement characters that were not in it.
//
//	go test ./store -run - -fuzz FuzzCheckJSON
func FuzzCheckJSON(f *testing.F) {
	for _, seed := range []string{`{"a":["\ud83d\ude00",{"b":"\ud800"}]}`, "\"\xff\"", `"\\ud800"`, `{"\u0000":1}`, `"\ufffd"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var value any
		err := CheckJSON(raw)
		if err != nil || json.Unmarshal(raw, &value) != nil {
			return
		}
		written := strings.Count(string(raw), "\uFFFD") + strings.Count(strings.ToLower(string(raw)), `\ufffd`)
		var count func(any) int
		count = func(value any) (n int) {
			switch value := value.(type) {
			case string:
				require.True(t, utf8.ValidString(value))
				return strings.Count(value, "\uFFFD")
			case []any:
				for _, item := range value {
					n += count(item)
				}
			case map[string]any:
				for name, item := range value {
					n += count(name) + count(item)
				}
			}
			return n
		}
		require.LessOrEqual(t, count(value), written, "%q", raw)
	})
}
