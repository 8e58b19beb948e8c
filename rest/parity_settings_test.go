package rest_test

import (
	"encoding/json"
	"portico/store"
	"strconv"

	"github.com/stretchr/testify/require"
)

// drawSettings draws a request for the settings.
func drawSettings(d *dice) *parityCase {
	q := &parityCase{method: "GET", target: pick(d, "/v2/settings", "/v2/settings/"), document: `{ settings { ...settings } }`}
	if d.chance(20) {
		q.client = d.rejectedClient()
	}
	q.same = func(t require.TestingT, rest, data map[string]any) {
		require.Equal(t, wireSettings(data["settings"].(map[string]any)), rest["data"])
	}
	return q
}

// wireSettings converts the settings of GraphQL to REST's shape.
func wireSettings(s map[string]any) map[string]any {
	return map[string]any{"type": "settings", "id": "settings", "page_length": s["pageLength"], "currency": s["currency"],
		"locale": s["locale"], "codes_ignore_case": s["codesIgnoreCase"],
		"page_length_max": json.Number(strconv.Itoa(store.MaxPageLength)), "page_offset_limit": json.Number(strconv.Itoa(store.MaxOffset))}
}

// drawSettingsUpdate changes some settings to valid or invalid values.
func drawSettingsUpdate(d *dice) *parityCase {
	q := &parityCase{method: "PUT", target: "/v2/settings"}
	const document = `mutation($input: SettingsUpdateInput!) { settingsUpdate(input: $input) { settings { ...settings } userErrors { field code message } } }`
	good := map[string][]any{"page_length": {1, 2, 25, 100, 1 + d.IntN(100), nil}, "currency": {"USD", "EUR", "JPY", nil},
		"locale": {"en", "fr", "fr-CA", nil}, "codes_ignore_case": {false, nil}}
	broken := map[string][]any{"page_length": {0, 101, -1, 1 << 30}, "currency": {"dollars", "", "usd"}, "locale": {"!", "not a tag"}, "codes_ignore_case": {nil}}
	mistyped := map[string][]any{"page_length": {"abc", 1.5, true, []any{}, map[string]any{}},
		"currency": {map[string]any{}, []any{map[string]any{}}}, "locale": {map[string]any{}}, "codes_ignore_case": {"yes", 1}}
	from, wrong := good, false
	switch {
	case d.chance(15):
		from = broken
	case d.chance(10):
		from, wrong = mistyped, true
	case d.chance(10):
		q.client = d.rejectedClient()
	}
	data, input := map[string]any{}, map[string]any{}
	for _, name := range []string{"page_length", "currency", "locale", "codes_ignore_case"} {
		if d.chance(60) || wrong && name == "page_length" {
			data[name] = pick(d, from[name]...)
			input[graphqlMember(name)] = data[name]
		}
		if wrong {
			break
		}
	}
	if d.chance(30) { // read-only members are ignored
		data["type"], data["page_length_max"], data["unknown"] = "settings", 7, true
	}
	body := any(map[string]any{"data": data})
	if d.chance(20) && len(data) > 0 {
		body = data
	}
	text, _ := json.Marshal(body) // cannot fail
	q.body, q.document, q.variables = string(text), document, map[string]any{"input": input}
	if q.client == asAdmin && d.chance(8) {
		q.body, q.raw = pick(d, "", "{", "[]", `"settings"`, `{"data":[]}`, `{"data":5}`), "{"
	}
	q.same = func(t require.TestingT, rest, data map[string]any) {
		payload := data["settingsUpdate"].(map[string]any)
		require.Equal(t, wireSettings(payload["settings"].(map[string]any)), rest["data"])
	}
	return q
}
