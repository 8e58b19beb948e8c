package store

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type exactInner struct {
	Name string `json:"name"`
	N    *int   `json:"n"`
}

type exactShape struct {
	exactInner
	Rows   []exactInner          `json:"rows"`
	ByName map[string]exactInner `json:"by_name"`
	Raw    json.RawMessage       `json:"raw"`
	Any    any                   `json:"any"`
	Sky    string                `json:"sky"`
}

func TestExactMembersComparesCase(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		`{"name":"a","Name":"b"}`:                                    `{"name":"a"}`,
		`{"NAME":"b","n":1}`:                                         `{"n":1}`,
		` { "Name" : "b" , "rows" : [ {"N":1} , {"n":2} ] } `:        `{"rows":[{},{"n":2}]}`,
		`{"\u004eame":"b"}`:                                          `{}`,
		`{"\u006eame":"b"}`:                                          `{"name":"b"}`,
		`{"s\u212ay":"b","\u017fky":"c"}`:                            `{}`,
		`{"by_name":{"Name":{"Name":"x","name":"y"}}}`:               `{"by_name":{"Name":{"name":"y"}}}`,
		`{"raw":{"Name":"x"},"any":{"Name":"x"}}`:                    `{"raw":{"Name":"x"},"any":{"Name":"x"}}`,
		`{"Rows":[{"name":"x"}],"unknown":[{"Name":[1,{"a":"}"}]}]}`: `{}`,
		`{"name":"a\"\\","Sky":"}","rows":[]}`:                       `{"name":"a\"\\","rows":[]}`,
		`{"N":2.0,"n":3.0}`:                                          `{"n":3}`,
	} {
		var got, wanted exactShape
		require.NoError(t, DecodeJSON([]byte(sent), &got), sent)
		require.NoError(t, json.Unmarshal([]byte(want), &wanted), want)
		require.Equal(t, wanted, got, sent)
	}
	for _, invalid := range []string{``, `{`, `{"Name`, `{"Name"`, `{"Name":`, `[`, `[{`, `}`, `{"Name":"a"`, `{"a\`, `{]`, `[}`, `{"rows":[}`, `nul`, strings.Repeat(`[`, 20_000)} {
		var got exactShape
		require.Error(t, DecodeJSON([]byte(invalid), &got), invalid)
	}
}

// TestExactMembersChangesOnlyNames: for any JSON, the length stays, and nothing changes if
// every name is exact.
func TestExactMembersChangesOnlyNames(t *testing.T) {
	t.Parallel()
	names := rapid.SampledFrom([]string{"name", "n", "rows", "by_name", "raw", "any", "sky", "Name", "N", "ROWS", "other", "ſky", "na\"me"})
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		return rapid.Custom(func(t *rapid.T) any {
			switch kind := rapid.IntRange(0, 4).Draw(t, "kind"); {
			case kind == 0 && depth > 0:
				return rapid.SliceOfN(value(depth-1), 0, 3).Draw(t, "list")
			case kind <= 2 && depth > 0:
				return rapid.MapOfN(names, value(depth-1), 0, 4).Draw(t, "object")
			case kind == 3:
				return rapid.String().Draw(t, "text")
			}
			return rapid.IntRange(-5, 5).Draw(t, "number")
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(value(4).Draw(t, "value"))
		require.NoError(t, err)
		exact, changed := ExactMembers(raw, reflect.TypeFor[exactShape]())
		require.True(t, json.Valid(exact))
		require.Len(t, exact, len(raw))
		require.Equal(t, changed, string(raw) != string(exact))
		if !strings.ContainsAny(string(raw), "NRSſ") {
			require.False(t, changed, "%s", raw)
		}
	})
}
