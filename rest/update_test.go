package rest_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"portico/rest/resttest"
	"portico/store"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// fullPromotion is a promotion with a value for every member.
const fullPromotion = `{"data":{"type":"promotion","id":"full","name":"A & B <C>","description":"D & E","promotion_type":"percent_discount","enabled":true,"automatic":false,"start":"2024-01-01","end":"2100-01-01",` +
	`"min_cart_value":[{"currency":"USD","amount":5}],"max_discount_value":[{"currency":"USD","amount":5}],"max_applications_per_cart":3,` +
	`"schema":{"percent":5,"currencies":[{"currency":"USD","percentage":5}],"target_catalogs":["a & b"],"conditions":{"and":[{"template":"x & y","field":"f","type":"string","value":"<z>"}]}}}}`

// TestNullInEveryPUT requires that null clears the nullable members of openapi.yaml and is 422
// for the rest.
func TestNullInEveryPUT(t *testing.T) {
	t.Parallel()
	contract, err := resttest.LoadContract()
	require.NoError(t, err)
	resources := map[string]string{"/v2/promotions/{id}": "/v2/promotions/full", "/v2/gateways/{slug}": "/v2/gateways/card_processor",
		"/v2/settings": "/v2/settings"}
	empty := map[string]string{ // if not null
		"min_cart_value": `[]`, "max_discount_value": `[]`, "currencies": `[]`, "name": `"Card Processor"`, "enabled": `false`, "test": `false`,
	}
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		require.Equal(t, 201, s.send(t, "POST", "/v2/promotions", fullPromotion).Code)
		require.Equal(t, 200, s.send(t, "PUT", "/v2/gateways/card_processor",
			`{"data":{"name":"A & B","enabled":true,"test":true,"merchant_id":"m & n","username":"u","password":"p"}}`).Code)
		for address, item := range contract.Document.Paths.Map() {
			if item.Put == nil {
				continue
			}
			path, known := resources[address]
			require.True(t, known, "say which resource %s is tried with", address)
			read := func() map[string]json.RawMessage {
				var body struct{ Data map[string]json.RawMessage }
				require.NoError(t, json.Unmarshal(s.send(t, "GET", path, "").Body.Bytes(), &body))
				delete(body.Data, "meta")
				return body.Data
			}
			before := read()
			whole := string(store.Encode(map[string]any{"data": before}))
			require.Equal(t, 200, s.send(t, "PUT", path, whole).Code, "a GET response can be sent back")
			require.Equal(t, 200, s.send(t, "PUT", path, `{"data":{}}`).Code)
			require.Equal(t, before, read(), "absent members keep their values")
			members := changeOf(item.Put)
			for _, name := range slices.Sorted(maps.Keys(members)) {
				t.Run(path+" "+name, func(t *testing.T) {
					before := read()
					answer := s.send(t, "PUT", path, fmt.Sprintf(`{"data":{%q:null}}`, name))
					switch {
					case !allowsNull(members[name].Value):
						require.Equal(t, 422, answer.Code, "%s", answer.Body)
						require.Contains(t, answer.Body.String(), `"detail":"`+name+` must `)
						require.Equal(t, before, read())
					case name == "type" || name == "id":
						require.Equal(t, 200, answer.Code, "%s", answer.Body)
						require.Equal(t, before, read(), "null is ignored")
					default:
						require.Equal(t, 200, answer.Code, "%s", answer.Body)
						want := empty[name]
						if want == "" {
							want = "null"
						}
						require.JSONEq(t, want, string(read()[name]))
						require.NotEqual(t, before, read(), "it had a value")
					}
				})
			}
		}
	})
}

// changeOf returns the members in the body of a PUT.
func changeOf(put *openapi3.Operation) openapi3.Schemas {
	body := put.RequestBody.Value.Content.Get("application/json").Schema.Value
	return body.AnyOf[0].Value.Properties["data"].Value.Properties
}

// TestNearlyKnownMembers requires that every write names the member that a client nearly sent, at any depth. It sends each
// known name with a typo.
func TestNearlyKnownMembers(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		redeemCode(t, s)
		bodies := map[string]writeCase{"POST /v2/inventories/multiple": {path: "/v2/inventories/multiple", body: `{"data":[{"id":"anvil"},{"id":"chalk"}]}`},
			"POST /catalog/products/:id/configure": {path: "/catalog/products/kit/configure", body: `{"data":{"selected_options":{"power":{}}}}`},
			"all of a transaction":                 {path: "/v2/inventories/anvil/transactions", body: `{"data":{"attributes":{"action":"decrement","quantity":5,"reason":"x","reference":"y","location":"default","product_id":"anvil"}}}`},
			"all of a new stock":                   {path: "/v2/inventories/none", body: `{"data":{"attributes":{"locations":{"default":{"available":1}}}}}`},
			"all of a token":                       {path: "/v2/shopper-tokens", body: `{"data":{"account_id":"a","account_tags":["b"],"customer_id":"c","expires_in":60}}`},
			"all of the settings":                  {path: "/v2/settings", body: `{"data":{"page_length":7,"currency":"USD","locale":"en"}}`},
			"all of a gateway":                     {path: "/v2/gateways/manual", body: `{"data":{"name":"a","enabled":true,"test":true,"merchant_id":"m","username":"u","password":"p","slug":"manual","type":"gateway"}}`},
			"more of a promotion": {path: "/v2/promotions/spring", body: `{"data":{"min_cart_value":[{"currency":"USD","amount":1}],"max_discount_value":[],"currencies":[],"target_catalogs":[],"conditions":{},
				"schema":{"percent":1,"x":3,"y":2,"gifts":[],"targets":[],"quantities":[],"requirements":[{"targets":[],"quantity":1}],"currencies":[{"currency":"USD","amount":1,"percentage":2}],"target_catalogs":[],"conditions":{"and":[{"template":"a","field":"b","type":"string","value":"c"}]}}}}`},
			"a code with all": {path: "/v2/promotions/spring/codes", body: `{"data":{"type":"promotion_codes","consume_unit":"per_cart","codes":[{"code":"A","uses":5,"user":"u","consume_unit":"per_item"}]}}`}}
		methods := map[string]string{"all of the settings": "PUT", "all of a gateway": "PUT", "more of a promotion": "PUT"}
		maps.Copy(bodies, writeCases())
		for coordinate, w := range bodies {
			method, _, isRoute := strings.Cut(coordinate, " /")
			if !isRoute {
				method = cmp.Or(methods[coordinate], "POST")
			}
			if w.body == "" {
				continue
			}
			for _, place := range memberNames(w.body) {
				for _, typo := range typosOf(place.name) {
					body := w.body[:place.at] + typo + w.body[place.at+len(place.name):]
					answer := s.send(t, method, w.path, body)
					require.Equal(t, 422, answer.Code, "%s %s: %s", method, body, answer.Body)
					require.Contains(t, answer.Body.String(), typo+" is unknown; ", body)
					require.Contains(t, answer.Body.String(), "; did you mean ", body)
				}
			}
		}
	})
}

// member is the name of a member in a body, and where it is.
type member struct {
	name string
	at   int
}

var memberPattern = regexp.MustCompile(`"(\w+)":`)

// memberNames returns the members of a body that the server knows: not keys that clients choose, nor the type of most bodies.
func memberNames(body string) (list []member) {
	for _, at := range memberPattern.FindAllStringSubmatchIndex(body, -1) {
		name := body[at[2]:at[3]]
		if !slices.Contains([]string{"type", "default", "power", "x", "y"}, name) {
			list = append(list, member{name, at[2]})
		}
	}
	return list
}

// typosOf returns names that people send in place of another.
func typosOf(name string) []string {
	typos := []string{name[:len(name)-1], name[:1] + name, name[1:2] + name[:1] + name[2:], strings.ToUpper(name)}
	if plain := strings.ReplaceAll(name, "_", ""); plain != name {
		typos = append(typos, plain)
	}
	if other := strings.ReplaceAll(name, "s", "ſ"); other != name { // which encoding/json takes for s
		typos = append(typos, other)
	}
	return slices.DeleteFunc(typos, func(typo string) bool { return typo == name || typo == "i" })
}

// TestUnknownMembersAreIgnored sends what published clients and scripts send beside the members of the contract, and sends back
// what GET returns.
func TestUnknownMembersAreIgnored(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		redeemCode(t, s)
		for _, c := range []struct {
			request string
			status  int
			body    string
		}{
			// As captured of @elasticpath/js-sdk, @moltin/sdk, @epcc-sdk/sdks-shopper, @moltin/request, gomo and epcc-cli.
			{"POST /v2/promotions/spring/codes", 201, `{"data":{"type":"promotion_codes","codes":[{"code":"ZXY_CBA","uses":2,"consume_unit":"per_item","user":["u1","u2"]}]}}`},
			{"POST /v2/promotions/spring/codes", 201, `{"data":{"codes":[{"code":"ABC","user":"u1","uses":5}],"consume_unit":"per_item","type":"promotion_codes"}}`},
			{"DELETE /v2/promotions/spring/codes/ABC", 204, `{"data":{"cod":1}}`},
			{"PUT /v2/gateways/card_processor", 200, `{"data":{"enabled":true,"merchant_id":"m","username":"u","password":"p","test":true}}`},
			{"PUT /v2/gateways/card_processor", 200, `{"data":{"type":"gateway","enabled":true}}`},
			{"PUT /v2/gateways/card_processor", 200, `{"data":{"type":"gateway","name":"","slug":"","enabled":true,"test":false,"username":"u","password":"p","merchant_id":"m"}}`},
			{"POST /v2/inventories/multiple", 200, `{"data":[{"id":"a"},{"id":"b"}]}`},
			{"POST /v2/inventories/n1", 201, `{"data":{"quantity":10}}`},
			{"POST /v2/inventories/n1/transactions", 201, `{"data":{"type":"stock-transaction","action":"increment","quantity":5}}`},
			{"PUT /v2/settings", 200, `{"data":{"type":"settings","page_length":70}}`},
			{"POST /catalog/products/kit/configure", 422, `{"data":{"selected_options":{"codes":{"uses":1}},"type":"product"}}`},
			// Members of responses and of other resources.
			{"POST /v2/promotions/spring/codes", 201, `{"data":{"type":"promotion_codes","codes":[{"type":"promotion_code","id":"x","promotion_id":"spring","code":"DEF","uses":5,"max_uses":5,"valid":true,"created_at":null,"created_by":"me","is_auto":false,"stats":{}}]}}`},
			{"POST /v2/inventories/n2", 201, `{"data":{"type":"stock","id":"n2","quantity":3,"available":3,"allocated":0,"total":3,"attributes":{"total":3,"allocated":0},"meta":{"stock_id":"x","timestamps":{}}}}`},
			{"POST /v2/inventories/n2/transactions", 201, `{"data":{"type":"stock-transaction","id":"x","action":"increment","quantity":5,"product_id":"n2","timestamps":{},"meta":{},"links":{}}}`},
			{"POST /v2/inventories/multiple", 200, `{"data":[{"id":"n1","type":"stock","sku":"A","name":"B"}],"meta":{},"links":{}}`},
			{"POST /v2/shopper-tokens", 201, `{"data":{"type":"shopper_token","account_id":"a","token":"x","token_type":"Bearer","scopes":[],"email":"a@b.example"}}`},
		} {
			method, path, _ := strings.Cut(c.request, " ")
			answer := s.send(t, method, path, c.body)
			require.Equal(t, c.status, answer.Code, "%s: %s", c.body, answer.Body)
			require.NotContains(t, answer.Body.String(), "did you mean", c.body)
		}
		for _, path := range []string{"/v2/settings", "/v2/gateways/card_processor", "/v2/gateways/manual", "/v2/promotions/spring", "/v2/promotions/ten-off"} {
			read := s.send(t, "GET", path, "")
			answer := s.send(t, "PUT", path, read.Body.String())
			require.Equal(t, 200, answer.Code, "%s: %s", read.Body, answer.Body)
		}
	})
}

// TestErrorsNameMembersAsSent requires the path and the value of a member as the client sent them.
func TestErrorsNameMembersAsSent(t *testing.T) {
	t.Parallel()
	const whole = "99999999999999999999"
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		require.Equal(t, 201, s.send(t, "POST", "/v2/promotions", fullPromotion).Code)
		long := strings.Repeat("x", 2000)
		for _, c := range []struct {
			method, path, body string
			status             int
			detail             string // prefix
		}{
			{"GET", "/v2/inventories?page[limit]=" + whole, "", 422, "page[limit] must be between 1 and 100, got " + whole},
			{"GET", "/v2/inventories?page[limit]=-" + whole, "", 422, "page[limit] must be between 1 and 100, got -" + whole},
			{"GET", "/v2/inventories?page[offset]=" + whole, "", 422, "page[offset] must be between 0 and 10000, got " + whole},
			{"POST", "/v2/inventories", `{"data":{"id":"a b","quantity":5}}`, 400, "id must be "},
			{"POST", "/v2/inventories", `{"data":{"quantity":5}}`, 400, "id must be "},
			{"POST", "/v2/inventories/x", `{"data":{"id":"x"}}`, 422, "quantity is required"},
			{"POST", "/v2/inventories/x", `{"data":{"quantity":-1}}`, 422, "quantity must be "},
			{"POST", "/v2/inventories/x", `{"data":{"attributes":{"available":-1}}}`, 422, "attributes.available must be "},
			{"POST", "/v2/inventories/x", `{"data":{"attributes":{"locations":{"default":{"available":-1}}}}}`, 422,
				"attributes.locations.default.available must be "},
			{"POST", "/v2/inventories/x", `{"data":{"quantity":` + whole + `}}`, 422, "quantity is out of range: " + whole},
			{"POST", "/v2/inventories/multiple", `{"data":[{"id":"a"},{"id":5}]}`, 400, "data.1.id must be a string"},
			{"POST", "/v2/inventories/multiple", `{"data":[{"id":"a"},5]}`, 400, "data.1 must be an object"},
			{"POST", "/v2/inventories/multiple", `{"data":[{"id":"a"},{}]}`, 400, "data.1.id must be a string"},
			{"POST", "/v2/inventories/anvil/transactions", `{"data":{"action":"decrement"}}`, 422, "quantity is required"},
			{"POST", "/v2/inventories/anvil/transactions", `{"data":{"attributes":{"action":"decrement"}}}`, 422, "attributes.quantity is required"},
			{"POST", "/v2/inventories/anvil/transactions", `{"data":{"attributes":{"action":"decrement","quantity":-1}}}`, 422,
				"attributes.quantity must be "},
			{"POST", "/v2/inventories/anvil/transactions", `{"data":{"action":"decrement","quantity":1,"reason":"` + long + `"}}`, 422,
				"reason must be at most 255 bytes, got 2000"},
			{"POST", "/catalog/products/anvil/configure", `{"data":{}}`, 422, "selected_options is required"},
			{"POST", "/catalog/products/anvil/configure", `{"data":{"selected_options":5}}`, 400, "selected_options must be "},
			{"POST", "/catalog/products/anvil/configure", `{"data":{"selected_options":{"a":{"b":"c"}}}}`, 400, "selected_options"},
			{"PUT", "/v2/promotions/full", `{"data":{"currencies":[{"currency":"usd"}]}}`, 400, "currencies.0.currency must be "},
			{"PUT", "/v2/promotions/full", `{"data":{"schema":{"currencies":[{"currency":"usd"}]}}}`, 400, "schema.currencies.0.currency must be "},
			{"PUT", "/v2/promotions/full", `{"data":{"promotion_type":"fixed_discount","schema":{}}}`, 422, "schema.currencies is required"},
			{"PUT", "/v2/promotions/full", `{"data":{"promotion_type":"x_for_y","schema":{"x":` + whole + `,"y":1,"targets":["a"]}}}`, 422,
				"schema.x must be between 1 and 2147483647, got " + whole},
			{"PUT", "/v2/promotions/full", `{"data":{"name":"` + long + `"}}`, 422, "name must be at most 1024 bytes, got 2000"},
			{"PUT", "/v2/promotions/full", `{"data":{"target_catalogs":["` + long + `"]}}`, 422, "target_catalogs.0 must be at most "},
			{"POST", "/v2/promotions/full/codes", `{"data":{"codes":[{"code":"` + long + `"}]}}`, 422, "codes.0.code must be at most "},
			{"POST", "/v2/promotions/full/codes", `{"data":{"codes":[{"user":"` + long + `"}]}}`, 422, "codes.0.user must be at most "},
			{"POST", "/v2/shopper-tokens", `{"data":{"account_id":"` + long + `"}}`, 422, "account_id must be at most "},
			{"PUT", "/v2/gateways/card_processor", `{"data":{"merchant_id":"` + long + `"}}`, 422, "merchant_id must be at most "},
		} {
			t.Run(c.method+" "+c.path+" "+fmt.Sprintf("%.60s", c.body), func(t *testing.T) {
				answer := s.send(t, c.method, c.path, c.body)
				require.Equal(t, c.status, answer.Code, "%s", answer.Body)
				var body struct{ Errors []struct{ Detail string } }
				require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &body))
				require.True(t, strings.HasPrefix(body.Errors[0].Detail, c.detail), "%s", body.Errors[0].Detail)
			})
		}
	})
}

// TestLinksOfEmptyPages requires links to valid pages. All links under /v2 are query strings.
func TestLinksOfEmptyPages(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		redeemCode(t, s)
		for _, path := range []string{"/v2/promotions", "/v2/promotions/spring/codes", "/v2/promotions/spring/usages", "/v2/inventories",
			"/v2/inventories/anvil/transactions", "/v2/files", "/catalog/products", "/catalog/nodes"} {
			for _, query := range []string{"", "&sort=-created_at"} {
				if query != "" && (strings.HasPrefix(path, "/catalog/nodes") || path == "/v2/files" || strings.HasSuffix(path, "transactions")) {
					continue
				}
				for _, offset := range []int{500, 9975, 9976, 10000} {
					answer := s.send(t, http.MethodGet, fmt.Sprintf("%s?page[offset]=%d&page[limit]=25%s", path, offset, query), "")
					require.Equal(t, 200, answer.Code, "%s %s", path, answer.Body)
					page := readListBody(t, answer)
					require.Empty(t, page.Data)
					require.NotNil(t, page.Links["prev"], "%s from %d on", path, offset)
					for name, link := range page.Links {
						if link != nil && strings.HasPrefix(path, "/v2") {
							require.True(t, strings.HasPrefix(*link, "?"), "%s of %s is %s", name, path, *link)
						}
					}
					prev := *page.Links["prev"]
					if strings.HasPrefix(prev, "?") {
						prev = path + prev
					}
					back := s.send(t, http.MethodGet, prev, "")
					require.Equal(t, 200, back.Code, "%s", back.Body)
					if page.Meta.Results.Total > 0 {
						require.NotEmpty(t, readListBody(t, back).Data, "%s leads from %d to %s", path, offset, prev)
					}
				}
			}
		}
	})
}

func TestUsagesOfADeletedPromotion(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		redeemCode(t, s)
		const spring = "/v2/promotions/spring"
		usages := s.send(t, "GET", spring+"/usages", "").Body.String()
		require.NotContains(t, usages, `"data":[]`)
		would := s.send(t, "DELETE", spring+"?dry_run=true", "")
		require.Equal(t, 200, would.Code)
		require.Contains(t, would.Body.String(), `"usages_kept":`)
		require.NotContains(t, would.Body.String(), `"usages_kept":0`)
		require.Equal(t, 200, s.send(t, "GET", spring, "").Code, "a dry run deletes nothing")
		require.Equal(t, 400, s.send(t, "DELETE", spring+"?dry_run=yes", "").Code)
		require.Equal(t, 204, s.send(t, "DELETE", spring, "").Code)
		require.Equal(t, 404, s.send(t, "GET", spring, "").Code)
		require.Equal(t, 404, s.send(t, "GET", spring+"/codes", "").Code)
		require.Equal(t, 404, s.send(t, "DELETE", spring, "").Code)
		require.Equal(t, usages, s.send(t, "GET", spring+"/usages", "").Body.String())
	})
}

// allowsNull reports whether null is one of the values of a schema.
func allowsNull(schema *openapi3.Schema) bool {
	return schema.PermitsNull() || slices.ContainsFunc(schema.OneOf, func(one *openapi3.SchemaRef) bool { return one.Value.PermitsNull() })
}
