package store

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWholeNumber(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]string{
		"2": "2", "2.0": "2", "2e0": "2", "2E+0": "2", "20e-1": "2", "0.2e1": "2", "2.50e1": "25", "1e3": "1000", "-2.0": "-2", "-0.0": "0", "0e99": "0", "0": "0",
		"100e-2": "1", "0.000": "0", "9007199254740993.0": "9007199254740993",
		"2.5": "", "2e-1": "", "1e101": "", "1e999999999999999999999": "", "0.01e1": "", "-1.1": "",
	} {
		digits, ok := integerDigits(number)
		require.Equal(t, want != "", ok, number)
		if ok {
			require.Equal(t, want, digits, number)
		}
	}
}

func TestDecodeJSONAcceptsWholeNumbers(t *testing.T) {
	t.Parallel()
	type embedded struct {
		Inner *int `json:"inner"`
	}
	type shape struct {
		embedded
		N     int              `json:"n"`
		P     *int             `json:"p"`
		Big   int64            `json:"big"`
		F     float64          `json:"f"`
		List  []int            `json:"list"`
		Rows  []shape          `json:"rows"`
		Map   map[string]int   `json:"map"`
		Raw   json.RawMessage  `json:"raw"`
		Exact *json.Number     `json:"exact"`
		Any   any              `json:"any"`
		Maps  []map[string]int `json:"maps"`
	}
	const text = `{"n":%s,"unknown":{"n":2.0,"list":[2.0]},"p":%s,"big":%s,"f":2.5,"list":[1,%s,3],"rows":[{"n":%s},{"P":%s}],"map":{"a":%s},"inner":%s,"raw":{"n":2.0},"exact":2.0,"any":[2.0],"maps":[{},{"x":%s}]}`
	fill := func(number string) []byte {
		var out []byte
		for i := 0; i < len(text); i++ {
			if text[i] == '%' {
				out = append(out, number...)
				i++
				continue
			}
			out = append(out, text[i])
		}
		return out
	}
	var want shape
	require.NoError(t, DecodeJSON(fill("2"), &want))
	for _, number := range []string{"2.0", "2e0", "0.2E1", "20e-1"} {
		var got shape
		require.NoError(t, DecodeJSON(fill(number), &got))
		require.Equal(t, want, got)
		require.JSONEq(t, `{"n":2.0}`, string(got.Raw))
		require.Equal(t, "2.0", got.Exact.String(), "it is shown as it was sent")
	}
	for _, number := range []string{"2.5", `"2"`, "true", "1e200"} {
		var got shape
		var mistyped *json.UnmarshalTypeError
		require.ErrorAs(t, DecodeJSON(fill(number), &got), &mistyped, number)
		require.Equal(t, "n", mistyped.Field)
	}
	var list []int
	require.NoError(t, DecodeJSON([]byte(` [ 1.0 , 2 ] `), &list))
	require.Equal(t, []int{1, 2}, list)
	var one int
	require.NoError(t, DecodeJSON([]byte(`3.0`), &one))
	require.Equal(t, 3, one)
	require.Error(t, DecodeJSON([]byte(`{"n":2.0`), &want))
}

// TestMistypedPath: the error of a wrong type leads to the value, through lists, maps and embedded structs.
func TestMistypedPath(t *testing.T) {
	type row struct {
		Amount *int `json:"amount"`
	}
	type Shape struct {
		Name  string                    `json:"name"`
		Rows  []row                     `json:"rows"`
		ByKey map[string]map[string]int `json:"by_key"`
		row
	}
	for text, want := range map[string]string{
		`{"name":5}`:                               "name",
		`{"amount":"x"}`:                           "amount",
		`{"rows":[{"amount":1},{"amount":"x"}]}`:   "rows.1.amount",
		`{"rows":[{"amount":2.0},{"amount":2.5}]}`: "rows.1.amount",
		`{"rows":[{},5]}`:                          "rows.1",
		`{"rows":{}}`:                              "rows",
		`{"by_key":5}`:                             "by_key",
		`{"by_key":{"k":5}}`:                       "by_key.k",
		`{"by_key":{"k":{"l":1,"m":[]}}}`:          "by_key.k.m",
		`[]`:                                       "",
	} {
		var into Shape
		var mistyped *json.UnmarshalTypeError
		require.ErrorAs(t, DecodeJSON([]byte(text), &into), &mistyped, text)
		require.Equal(t, want, mistyped.Field, text)
	}
}
