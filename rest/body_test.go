package rest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestContentTypes accepts bodies that are JSON or have no Content-Type.
func TestContentTypes(t *testing.T) {
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		typed := func(kind string, status int) scenario {
			sc := scenario{name: kind, method: "PUT", path: "/v2/settings", body: `{"data":{"page_length":30}}`,
				headers: []string{"Content-Type", kind}, status: status}
			if status == 415 {
				sc.holds = []string{"Unsupported Media Type", "Content-Type: application/json"}
			}
			return sc
		}
		runScenarios(t, s, []scenario{
			typed("application/json", 200), typed("Application/JSON; charset=utf-8", 200), typed("application/vnd.api+json", 200), typed("", 200),
			typed("text/plain", 415), typed("application/x-www-form-urlencoded", 415), typed("multipart/form-data; boundary=x", 415),
			typed("application/xml", 415), typed("text/json", 415), typed("application/jsonx", 415), typed(";", 415), typed("text/plain+json", 415),
			{name: "a body that the route ignores", method: "DELETE", path: "/v2/promotions/ten-off/codes/NONE", body: "x",
				headers: []string{"Content-Type", "text/plain"}, status: 404},
			{name: "on GET", path: "/v2/settings", headers: []string{"Content-Type", "text/plain"}},
		})
	})
}

// TestWholeNumbers requires that each integer member accepts every JSON spelling of an integer.
func TestWholeNumbers(t *testing.T) {
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		for _, member := range []struct{ name, method, path, body, bad, shown string }{
			{"uses", "POST", "/v2/promotions/ten-off/codes", `{"data":{"codes":[{"uses":#}]}}`, "codes.0.uses", `"max_uses":60,`},
			{"quantity", "POST", "/v2/inventories/anvil/transactions", `{"data":{"action":"increment","quantity":#}}`, "quantity", `"quantity":60,`},
			{"page_length", "PUT", "/v2/settings", `{"data":{"page_length":#}}`, "page_length", `"page_length":60,`},
			{"expires_in", "POST", "/v2/shopper-tokens", `{"data":{"account_id":"a","expires_in":#}}`, "expires_in", ``},
			{"amount", "PUT", "/v2/promotions/ten-off", `{"data":{"min_cart_value":[{"currency":"USD","amount":#}]}}`,
				"min_cart_value.0.amount", `"amount":60}`},
			{"max_applications_per_cart", "PUT", "/v2/promotions/ten-off", `{"data":{"max_applications_per_cart":#}}`,
				"max_applications_per_cart", `"max_applications_per_cart":60,`},
			{"schema", "PUT", "/v2/promotions/ten-off", `{"data":{"schema":{"currencies":[{"currency":"USD","amount":#}]}}}`,
				"schema.currencies.0.amount", ``},
		} {
			for _, number := range []string{"60", "60.0", "6e1", "600e-1"} {
				body := strings.ReplaceAll(member.body, "#", number)
				w := s.send(t, member.method, member.path, body)
				require.Less(t, w.Code, 300, "%s %s returns %s", member.path, body, w.Body)
				require.Contains(t, w.Body.String(), member.shown)
			}
			for _, number := range []string{"60.5", `"60"`, "true", "6e-1"} {
				body := strings.ReplaceAll(member.body, "#", number)
				w := s.send(t, member.method, member.path, body)
				require.GreaterOrEqual(t, w.Code, 400, "%s %s", member.path, body)
				require.Less(t, w.Code, 500, "%s %s", member.path, body)
				require.Contains(t, w.Body.String(), `"detail":"`+member.bad+" must be a whole number")
			}
		}
	})
}

// TestInvalidTextIsRejected requires an error with the member for text that cannot be stored
// unchanged.
func TestInvalidTextIsRejected(t *testing.T) {
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		sent := func(method, path, body string, holds ...string) scenario {
			return scenario{name: method + " " + path, method: method, path: path, body: body, status: 400, holds: holds}
		}
		runScenarios(t, s, []scenario{
			sent("PUT", "/v2/gateways/card_processor", `{"data":{"password":"\ud800"}}`, "password contains half of a surrogate pair"),
			sent("PUT", "/v2/gateways/card_processor", "{\"data\":{\"password\":\"\xff\"}}", "password is not valid UTF-8"),
			sent("POST", "/v2/promotions", `{"data":{"name":"\udfff"}}`, "name contains half"),
			sent("POST", "/v2/promotions", `{"name":"\udfff"}`, "name contains half"),
			sent("POST", "/v2/promotions", `{"data":{"schema":{"targets":["a","\ud800"]}}}`, "schema contains half"),
			sent("POST", "/v2/promotions/ten-off/codes", `{"data":{"codes":[{"code":"A"},{"code":"\ud800"}]}}`, "codes.1.code contains half"),
			sent("DELETE", "/v2/promotions/ten-off/codes", `{"data":{"codes":["\ud800"]}}`, "codes.0 contains half"),
			sent("POST", "/v2/inventories/multiple", `{"data":[{"id":"\ud800"}]}`, "data.0.id contains half"),
			sent("POST", "/v2/inventories/new", `{"data":{"quantity":1,"\ud800":1}}`, "has a member name that contains half"),
			sent("POST", "/v2/shopper-tokens", `{"data":{"account_id":"\ud800"}}`, "account_id contains half"),
			sent("PUT", "/v2/settings", `{"data":{"unknown":"\ud800"}}`, "data contains half"),
			sent("POST", "/v2/inventories/multiple", `{"data":[{"id":"a"},{"id":null}]}`, "data.1.id must be a string"),
			sent("POST", "/v2/inventories/multiple", `{"data":[{}]}`, "data.0.id must be a string"),
			{name: "in a filter", path: "/catalog/products?filter=eq(name,%ff)", status: 400, holds: []string{"is not valid UTF-8"}},
			{name: "in a path", path: "/v2/promotions/%ff", status: 400, holds: []string{"path is not valid UTF-8"}},
			{name: "in a header that the API uses", path: "/catalog/nodes", headers: []string{"EP-Channel", "\xff"}, status: 400,
				holds: []string{"header EP-Channel"}},
			{name: "in another header", path: "/catalog/nodes", headers: []string{"X-City", "M\xfcnchen"}},
			{name: "a complete surrogate pair", method: "PUT", path: "/v2/gateways/manual", body: `{"data":{"name":"\ud83d\ude00"}}`, holds: []string{"😀"}},
		})
	})
}
