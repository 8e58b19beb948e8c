package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/promotion/code"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

const codesPath = "/v2/promotions/ten-off/codes"

// newIDs finds the random ids of new objects.
var newIDs = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// TestPromotions sends the captured requests of clients.
func TestPromotions(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		for _, g := range []goldenCase{
			{"promotion_codes_post", "POST", codesPath,
				`{"data":{"type":"promotion_codes","codes":[{"code":"ZXY_CBA","uses":2,"consume_unit":"per_item","user":["u1","u2"]}]}}`, nil, 201},
			{"promotion_codes_post_unit", "POST", codesPath,
				`{"data":{"codes":[{"code":"ABC","user":"u1","uses":5}],"consume_unit":"per_item","type":"promotion_codes"}}`, nil, 201},
			{"promotion_codes_post_bare", "POST", codesPath, `{"codes":[{"code":"BARE"}]}`, nil, 201},
			{"promotion_codes", "GET", codesPath, "", nil, 200},
			{"promotion_codes_filter", "GET", codesPath + "?filter=eq(code,TEN-OFF)", "", nil, 200},
			{"promotion_codes_page", "GET", codesPath + "?page[limit]=2&page[offset]=1", "", nil, 200},
			{"promotions", "GET", "/v2/promotions", "", nil, 200},
			{"promotions_none", "GET", "/v2/promotions?filter=like(name,*nothing*)", "", nil, 200},
			{"promotion", "GET", "/v2/promotions/ten-off", "", nil, 200},
			{"promotion_post", "POST", "/v2/promotions",
				`{"data":{"type":"promotion","name":"New","description":"","promotion_type":"fixed_discount","enabled":true,"start":"2024-05-30","end":"2024-06-30T12:30","schema":{"currencies":[{"currency":"USD","amount":1000}]},"conditions":{"and":[{"template":"t","field":"f","type":"integer","value":"7"}]}}}`, nil, 201},
			{"promotion_put", "PUT", "/v2/promotions/ten-off", `{"data":{"enabled":false,"unknown":1}}`, nil, 200},
		} {
			t.Run(g.name, func(t *testing.T) {
				w := s.send(t, g.method, g.path, g.body)
				require.Equal(t, g.status, w.Code, "%s", w.Body)
				requireJSON(t, g.path, w)
				requireGolden(t, g.name, newIDs.ReplaceAll(w.Body.Bytes(), []byte("NEW-ID")))
			})
		}
	})
}

func TestPromotionErrors(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		require.Equal(t, 201, s.send(t, "POST", "/v2/promotions",
			`{"id":"applies","name":"A","description":"","promotion_type":"percent_discount","automatic":true,"start":"2024-01-01","end":"2025-01-01","schema":{"percent":5}}`).Code)
		require.Equal(t, 201, s.send(t, "POST", "/v2/promotions",
			`{"id":"ended","name":"A","description":"","promotion_type":"percent_discount","start":"2023-01-01","end":"2024-01-01","schema":{"percent":5}}`).Code)
		one := `{"data":{"type":"promotion_codes","codes":[{"code":"TEN-OFF"}]}}`
		for _, g := range []goldenCase{
			{"error_codes_404", "POST", "/v2/promotions/nowhere/codes", one, nil, 404},
			{"error_codes_422_duplicate", "POST", codesPath, one, nil, 422},
			{"error_codes_422_duplicates", "POST", codesPath, `{"codes":[{"code":"A"},{"code":"TEN-OFF"},{"code":"A"}]}`, nil, 422},
			{"error_codes_422_automatic", "POST", "/v2/promotions/applies/codes", one, nil, 422},
			{"error_codes_422_expired", "POST", "/v2/promotions/ended/codes", one, nil, 422},
			{"error_codes_422_missing", "POST", codesPath, `{"data":{"type":"promotion_codes"}}`, nil, 422},
			{"error_codes_422_empty", "POST", codesPath, `{"data":{"codes":[]}}`, nil, 422},
			{"error_codes_422_type", "POST", codesPath, `{"data":{"type":"promotion","codes":[{}]}}`, nil, 422},
			{"error_codes_422_uses", "POST", codesPath, `{"data":{"codes":[{"uses":0}]}}`, nil, 422},
			{"error_codes_400_body", "POST", codesPath, `{"data":`, nil, 400},
			{"error_codes_400_codes", "POST", codesPath, `{"data":{"codes":{"code":"A"}}}`, nil, 400},
			{"error_codes_400_rows", "POST", codesPath, `{"data":{"codes":[{"code":5},null,{"user":{}},{"user":[5]},{"uses":"2"}]}}`, nil, 400},
			{"error_codes_400_unit", "POST", codesPath, `{"data":{"codes":[{"consume_unit":"per_day"}]}}`, nil, 400},
			{"error_codes_400_filter", "GET", codesPath + "?filter=gt(uses,1)", "", nil, 400},
			{"error_codes_400_sort", "GET", codesPath + "?sort=updated_at", "", nil, 400},
			{"error_code_delete_404", "DELETE", codesPath + "/none", "", nil, 404},
			{"error_promotion_404", "GET", "/v2/promotions/nowhere", "", nil, 404},
			{"error_promotion_422", "POST", "/v2/promotions",
				`{"data":{"name":"New","description":"","promotion_type":"x_for_y","start":"2024-06-01","end":"2024-05-01","schema":{"x":2,"y":2,"targets":["A"]},"min_cart_value":[{"currency":"USD","amount":-1}]}}`, nil, 422},
			{"error_promotion_400", "POST", "/v2/promotions",
				`{"data":{"name":"New","description":"","promotion_type":"x_for_y","end":"2024-06-01","start":"soon","schema":[]}}`, nil, 400},
			{"error_promotion_422_missing", "POST", "/v2/promotions", `{"data":{"min_cart_value":[{"amount":5}]}}`, nil, 422},
			{"error_promotion_422_amounts", "PUT", "/v2/promotions/ended", `{"data":{"min_cart_value":[{"currency":"USD"},null]}}`, nil, 422},
			{"error_promotion_422_maximum", "POST", "/v2/promotions",
				`{"data":{"name":"New","description":"","promotion_type":"fixed_discount","start":"2024-05-01","end":"2024-06-01","schema":{"currencies":[{"currency":"USD","amount":1000}]},"max_discount_value":[{"currency":"USD","amount":900}]}}`, nil, 422},
		} {
			g.run(t, s)
		}
	})
}

func TestDeleteCodes(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		require.Equal(t, 201, s.send(t, "POST", codesPath,
			`{"codes":[{"code":"A"},{"code":"B"},{"code":"C"},{"code":"a b?c"},{"code":"old"}]}`).Code)
		for _, table := range []string{"promotion_code", "code_claim"} { // such codes were once valid
			_, err := e.SQL(t).Exec(`UPDATE ` + table + ` SET code = 'old/code' WHERE code = 'old'`)
			require.NoError(t, err)
		}
		for _, c := range []struct{ path, body string }{
			{codesPath + "/A", ""}, {codesPath + "/B", `{"data":{"type":"promotion_codes"}}`}, {codesPath + "/a%20b%3Fc", ""},
			{codesPath + "/old%2Fcode", ""},
			{codesPath, `{"data":{"codes":["C",{"code":"TEN-OFF"}]}}`},
		} {
			w := s.send(t, http.MethodDelete, c.path, c.body)
			require.Equal(t, http.StatusNoContent, w.Code, "%s: %s", c.path, w.Body)
			require.Empty(t, w.Body.String())
		}
		w := s.send(t, http.MethodGet, codesPath, "")
		require.Equal(t, 1, strings.Count(w.Body.String(), `"type":"promotion_code"`), "%s", w.Body)
		require.Equal(t, http.StatusNoContent, s.send(t, http.MethodDelete, "/v2/promotions/ten-off", "").Code)
		require.Equal(t, http.StatusNotFound, s.send(t, http.MethodGet, codesPath, "").Code)
	})
}

// TestTenThousandCodesInOneRequest creates codes with all members in one request to each API.
func TestTenThousandCodesInOneRequest(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		var rows, inputs []string
		for i := range code.MaxCodesPerRequest {
			user := fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
			rows = append(rows, fmt.Sprintf(`{"code":"SUMMER-SALE-2024-REST-%05d","uses":100,"consume_unit":"per_cart","user":["%s","%s"]}`,
				i, user, user))
			inputs = append(inputs, fmt.Sprintf(`{"code":"SUMMER-SALE-2024-GRAPHQL-%05d","maxUses":100,"consumeUnit":"PER_CART","users":["%s","%s"]}`, i, user, user))
		}
		w := s.send(t, "POST", codesPath, `{"data":{"type":"promotion_codes","codes":[`+strings.Join(rows, ",")+`]}}`)
		require.Equal(t, 201, w.Code, "%.300s", w.Body)
		w = s.send(t, "POST", "/graphql", `{"query":"mutation($codes: [PromotionCodeInput!]!) { promotionCodesCreate(input: {promotionId: \"ten-off\", codes: $codes}) { userErrors { message } } }","variables":{"codes":[`+strings.Join(inputs, ",")+`]}}`)
		require.JSONEq(t, `{"data":{"promotionCodesCreate":{"userErrors":[]}}}`, w.Body.String(), "%.300s", w.Body)
		w = s.send(t, "GET", codesPath+"?page[limit]=1", "")
		var list struct {
			Meta struct{ Results struct{ Total int } }
		}
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &list))
		require.Equal(t, 2*code.MaxCodesPerRequest+2, list.Meta.Results.Total)
	})
}
