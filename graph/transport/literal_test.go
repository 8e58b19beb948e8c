package transport_test

import (
	"encoding/json"
	"testing"

	"portico/graph/graphtest"
	"portico/store"
	"portico/store/storetest"
)

// Half a surrogate pair and invalid UTF-8 are refused everywhere, because decoders would replace
// them by other text.
func TestInvalidUnicodeIsRefused(t *testing.T) {
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) { invalidUnicode(t, graphtest.Open(t, e, "")) })
}

func invalidUnicode(t *testing.T, s *graphtest.Service) {
	post := func(query, variables string) string {
		text, _ := json.Marshal(query)
		return `{"query":` + string(text) + `,"variables":` + variables + `}`
	}
	const settings, length = `query ($v: JSON) { settings { pageLength } }`, `{"settings":{"pageLength":25}}`
	refused := func(name, body string, status int, holds ...string) shown {
		return shown{name: name, body: body, status: status, code: store.Invalid, holds: holds}
	}
	fine := func(name, query string) shown {
		return shown{name: name, body: post(query, `{}`), data: length}
	}
	runExchanges(t, s, []shown{
		refused("a variable", post(`query ($v: String!) { promotionCode(code: $v) { code } }`, `{"v":"\ud800"}`), 400, "variables contains half"),
		refused("deep in a variable", post(settings, `{"v":{"a":[1,{"b":"\ude00\ud83d"}]}}`), 400, "variables contains half"),
		refused("a stray byte in the document", "{\"query\":\"{ settings { pageLength } } #\xff\"}", 400, "query is not valid UTF-8"),
		refused("half a pair in the document", `{"query":"{ settings { pageLength } } #\ud800"}`, 400, "query contains half"),
		refused("an escape in the document", post(`{ settings { pageLength } promotionCode(code: "\ud800") { code } }`, `{}`), 200, "half of a surrogate pair", `"line":1,"column":47`),
		refused("on another line", post("{ settings { pageLength }\n a: promotionCode(code: \"\\uDE00\\uD83D\") { code } }", `{}`), 200, `"line":2,"column":25`),
		fine("a whole pair", `{ settings { pageLength } a: promotionCode(code: "\uD83D\uDE00 \u{1F600}") @skip(if: true) { code } }`),
		refused("behind an escaped quote", post(`{ promotionCode(code: "\"\\\udfff") { code } }`, `{}`), 200, "half of a surrogate pair"),
		{name: "a variable by GET", method: "GET", target: get("query", `query ($v: String!) { promotionCode(code: $v) { code } }`, "variables", `{"v":"\ud800"}`), status: 400, code: store.Invalid, holds: []string{"variables contains half"}},
		{name: "an escape by GET", method: "GET", target: get("query", `{ promotionCode(code: "\udc00") { code } }`), code: store.Invalid, holds: []string{"half of a surrogate pair"}},
		{name: "a malformed query string", method: "GET", target: "/graphql?query=%7Bsettings%7BpageLength%7D%7D&x=%zz", status: 400, code: store.Invalid, holds: []string{"URL-encoded"}},
		fine("in a comment", "{ # \"\\ud800\n settings { pageLength } }"),
		fine("with its backslash escaped", `{ settings { pageLength } a: promotionCode(code: "\\ud800") @skip(if: true) { code } }`),
		fine("in a block string", `{ settings { pageLength } a: promotionCode(code: """ "\ud800" \""" """) @skip(if: true) { code } }`),
		fine("another character", `{ settings { pageLength } a: promotionCode(code: "\u00e9\ud7ff\ue000") @skip(if: true) { code } }`),
	})
}
