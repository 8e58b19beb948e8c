package graph_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph"
	"portico/graph/graphtest"
	"portico/internal/auth"
	"portico/store"
	"portico/store/shop"
	"portico/store/storetest"
)

const preview = `query($lines: [CartLineInput!]!, $codes: [String!]) { cartPreview(lines: $lines, codes: $codes) {
	lines { quantity product { sku } unitPrice { amount } price { amount } total { amount } problem { reason message } }
	subtotal { amount } discounts { promotion { name } code applications amount { amount } lines { index amount { amount } } } total { formatted }
	includesTax codesRefused { code reasons { reason } } codesUnused nextPromotion { promotion { name minCartValue { amount } } missing { amount } } } }`

// cartPromotion is a line of an import.
func cartPromotion(id, kind, schema, members string) string {
	return `{"type":"promotion","id":"` + id + `","name":"` + id + `","description":"","promotion_type":"` + kind +
		`","enabled":true,"start":"2024-01-01","end":"2100-01-01","schema":` + schema + members + `}`
}

func openCarts(t *testing.T, e storetest.Backend, options ...func(*shop.Config)) *graphtest.Service {
	t.Helper()
	s := graphtest.Open(t, e, strings.Replace(graphtest.Shop(), `"id":"brush","available":0,"allocated":3,"total":3`, `"id":"brush","available":9,"allocated":3,"total":12`, 1), options...)
	const automatic, never = `,"automatic":true`, `{"percent":90}`
	graphtest.Load(t, s.Store, storetest.JoinLines(
		cartPromotion("a-brushes", "x_for_y", `{"x":3,"y":2,"targets":["BRUSH"]}`, automatic),
		cartPromotion("b-rich", "percent_discount", `{"percent":5}`, automatic+`,"min_cart_value":[{"currency":"USD","amount":500000}]`),
		cartPromotion("c-code", "percent_discount", `{"percent":10}`, `,"max_discount_value":[{"currency":"USD","amount":20000}]`),
		cartPromotion("d-items", "item_fixed_discount", `{"currencies":[{"currency":"USD","amount":10000}],"targets":["ANVIL"]}`, ``),
		cartPromotion("e-outlet", "percent_discount", `{"percent":50,"target_catalogs":["outlet"]}`, ``),
		cartPromotion("x-outlet", "percent_discount", `{"percent":90,"target_catalogs":["outlet"]}`, automatic),
		cartPromotion("x-off", "percent_discount", never, automatic+`,"enabled":false`),
		cartPromotion("x-over", "percent_discount", never, automatic+`,"end":"2024-02-01"`),
		cartPromotion("x-soon", "percent_discount", never, automatic+`,"start":"2099-01-01"`),
		storetest.CodeLine("c-code", "TEN", ``), storetest.CodeLine("d-items", "TWICE", `,"consume_unit":"per_item","max_uses":2`),
		storetest.CodeLine("d-items", "MINE", `,"user":["bob","acme"]`), storetest.CodeLine("e-outlet", "OUTLET", ``)))
	return s
}

func TestCartPreview(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openCarts(t, e)
		line := func(id string, quantity int) graphtest.Variables {
			return graphtest.Variables{"productId": id, "quantity": quantity}
		}
		anvils := graphtest.Variables{"lines": []any{line("anvil", 3)}}
		with := func(values graphtest.Variables, codes ...string) graphtest.Variables {
			return graphtest.Variables{"lines": values["lines"], "codes": codes}
		}
		const anvil = `{"quantity":3,"product":{"sku":"ANVIL"},"unitPrice":{"amount":"99900"},"price":{"amount":"299700"},"total":{"amount":"%s"},"problem":null}`
		const next = `{"promotion":{"name":"b-rich","minCartValue":{"amount":"500000"}},"missing":{"amount":"%d"}}`
		for _, c := range []struct {
			name   string
			as     *auth.Principal
			values graphtest.Variables
			want   string
		}{
			{"no lines", nil, graphtest.Variables{"lines": []any{}},
				`{"lines":[],"subtotal":{"amount":"0"},"discounts":[],"total":{"formatted":"$0.00"},"includesTax":null,"codesRefused":[],"codesUnused":[],"nextPromotion":` + fmt.Sprintf(next, 500000) + `}`},
			{"lines of all kinds", nil, graphtest.Variables{"lines": []any{line("brush", 4), line("UHJvZHVjdDphbnZpbA", 1), line("chalk", 1), line("nothing", 1), line("easel", 1),
				graphtest.Variables{"productId": "anvil", "choices": []any{}}, graphtest.Variables{"productId": "kit", "choices": []any{}}}},
				`{"lines":[{"quantity":4,"product":{"sku":"BRUSH"},"unitPrice":{"amount":"500"},"price":{"amount":"2000"},"total":{"amount":"1500"},"problem":null},
				{"quantity":1,"product":{"sku":"ANVIL"},"unitPrice":{"amount":"99900"},"price":{"amount":"99900"},"total":{"amount":"99900"},"problem":null},
				{"quantity":1,"product":{"sku":"CHALK"},"unitPrice":null,"price":null,"total":null,"problem":{"reason":"NO_PRICE","message":"The product has no price in USD."}},
				{"quantity":1,"product":null,"unitPrice":null,"price":null,"total":null,"problem":{"reason":"UNKNOWN_PRODUCT","message":"There is no such product in this catalog."}},
				{"quantity":1,"product":{"sku":"EASEL"},"unitPrice":null,"price":null,"total":null,"problem":{"reason":"VARIANT_REQUIRED","message":"The product is sold as its variants. Put one of them into the cart."}},
				{"quantity":1,"product":{"sku":"ANVIL"},"unitPrice":null,"price":null,"total":null,"problem":{"reason":"INVALID_CHOICES","message":"The product is not a bundle. Leave out its choices."}},
				{"quantity":1,"product":{"sku":"KIT"},"unitPrice":null,"price":null,"total":null,"problem":{"reason":"INVALID_CHOICES","message":"choices must name 1 to 2 options of the component \"wood\", got 0."}}],
				"subtotal":{"amount":"101900"},"discounts":[{"promotion":{"name":"a-brushes"},"code":null,"applications":1,"amount":{"amount":"500"},"lines":[{"index":0,"amount":{"amount":"500"}}]}],
				"total":{"formatted":"$1,014.00"},"includesTax":null,"codesRefused":[],"codesUnused":[],"nextPromotion":` + fmt.Sprintf(next, 398100) + `}`},
			{"codes", nil, with(anvils, "TEN", "nope", "TWICE", "OUTLET", "TEN"),
				`{"lines":[` + fmt.Sprintf(anvil, "259700") + `],"subtotal":{"amount":"299700"},"discounts":[
				{"promotion":{"name":"c-code"},"code":"TEN","applications":1,"amount":{"amount":"20000"},"lines":[{"index":0,"amount":{"amount":"20000"}}]},
				{"promotion":{"name":"d-items"},"code":"TWICE","applications":2,"amount":{"amount":"20000"},"lines":[{"index":0,"amount":{"amount":"20000"}}]}],
				"total":{"formatted":"$2,597.00"},"includesTax":false,"codesRefused":[{"code":"nope","reasons":[{"reason":"UNKNOWN"}]},
				{"code":"OUTLET","reasons":[{"reason":"OTHER_CATALOG"}]}],"codesUnused":[],"nextPromotion":` + fmt.Sprintf(next, 200300) + `}`},
			{"a code that needs a user", nil, with(anvils, "MINE"),
				`{"lines":[` + fmt.Sprintf(anvil, "299700") + `],"subtotal":{"amount":"299700"},"discounts":[],
				"total":{"formatted":"$2,997.00"},"includesTax":false,"codesRefused":[{"code":"MINE","reasons":[{"reason":"USER_REQUIRED"}]}],"codesUnused":[],"nextPromotion":` + fmt.Sprintf(next, 200300) + `}`},
			{"one's own code, the best of a promotion", &auth.Principal{ClientID: "tester", Grant: "shopper", Scopes: []string{"catalog:read"}, AccountID: "acme"}, with(anvils, "TWICE", "MINE"),
				`{"lines":[` + fmt.Sprintf(anvil, "269700") + `],"subtotal":{"amount":"299700"},"discounts":[
				{"promotion":{"name":"d-items"},"code":"MINE","applications":3,"amount":{"amount":"30000"},"lines":[{"index":0,"amount":{"amount":"30000"}}]}],
				"total":{"formatted":"$2,697.00"},"includesTax":false,"codesRefused":[],"codesUnused":["TWICE"],"nextPromotion":` + fmt.Sprintf(next, 200300) + `}`},
			{"enough for an automatic promotion, which beats a code", nil, with(graphtest.Variables{"lines": []any{line("anvil", 6)}}, "TEN"),
				`{"lines":[{"quantity":6,"product":{"sku":"ANVIL"},"unitPrice":{"amount":"99900"},"price":{"amount":"599400"},"total":{"amount":"569430"},"problem":null}],"subtotal":{"amount":"599400"},
				"discounts":[{"promotion":{"name":"b-rich"},"code":null,"applications":1,"amount":{"amount":"29970"},"lines":[{"index":0,"amount":{"amount":"29970"}}]}],
				"total":{"formatted":"$5,694.30"},"includesTax":false,"codesRefused":[],"codesUnused":["TEN"],"nextPromotion":null}`},
		} {
			t.Run(c.name, func(t *testing.T) {
				as := c.as
				if as == nil {
					as = graphtest.PublicClient()
				}
				a := s.Send(t, graphtest.As(graphtest.NewPost(t, preview, c.values), as))
				require.Empty(t, a.Errors, "%s", a.Body)
				require.JSONEq(t, `{"cartPreview":`+c.want+`}`, string(a.Data))
			})
		}
		t.Run("a code that its check prices", func(t *testing.T) { codeCheckAmounts(t, s) })
		t.Run("limits", func(t *testing.T) { cartLimits(t, s) })
		used, err := s.Store.Codes.Get(t.Context(), "TWICE")
		require.NoError(t, err)
		require.Equal(t, 2, *used.RemainingUses(), "a preview redeems nothing")
		require.Empty(t, s.Log.String())
	})
}

func codeCheckAmounts(t *testing.T, s *graphtest.Service) {
	for _, c := range []struct{ arguments, want string }{
		{`code: "TEN"`, `{"valid":true,"unitsApplied":1,"amount":null}`},
		{`code: "TEN", cartValue: {amount: "999", currency: "USD"}`, `{"valid":true,"unitsApplied":1,"amount":{"formatted":"$1.00"}}`},
		{`code: "TWICE", cartValue: {amount: "999", currency: "USD"}`, `{"valid":true,"unitsApplied":1,"amount":null}`},
		{`code: "TWICE", lines: [{productId: "anvil", quantity: 3}]`, `{"valid":true,"unitsApplied":2,"amount":{"formatted":"$200.00"}}`},
		{`code: "TWICE", lines: [{productId: "brush", quantity: 3}]`, `{"valid":false,"unitsApplied":0,"amount":null}`},
		{`code: "OUTLET", lines: [{productId: "anvil"}]`, `{"valid":false,"unitsApplied":0,"amount":null}`},
		{`code: "MINE", user: "bob", lines: [{productId: "anvil"}]`, `{"valid":true,"unitsApplied":1,"amount":{"formatted":"$100.00"}}`},
		{`code: "none", lines: [{productId: "anvil"}]`, `{"valid":false,"unitsApplied":0,"amount":null}`},
	} {
		a := s.Post(t, `{ promotionCodeCheck(`+c.arguments+`) { valid unitsApplied amount { formatted } } }`, nil)
		require.Empty(t, a.Errors, c.arguments)
		require.JSONEq(t, `{"promotionCodeCheck":`+c.want+`}`, string(a.Data), c.arguments)
	}
	graphtest.Load(t, s.Store, storetest.JoinLines(cartPromotion("f-rich", "item_percent_discount", `{"percent":10,"targets":["ANVIL"]}`, `,"min_cart_value":[{"currency":"USD","amount":2000000}]`),
		storetest.CodeLine("f-rich", "ITEMS-RICH", `,"consume_unit":"per_item"`)))
	for arguments, want := range map[string]string{
		`code: "ITEMS-RICH", cartValue: {amount: "300", currency: "USD"}, units: 0`: `{"message":"units must be at least 1 for a code that counts per item, got 0."},
			{"message":"cartValue must be at least $20,000.00, got $3.00."}`,
		`code: "OUTLET", lines: [{productId: "anvil"}]`:            `{"message":"code cannot be used in this catalog: its promotion is limited to other catalogs."}`,
		`code: "MINE", user: "bob", lines: [{productId: "brush"}]`: `{"message":"lines must have an item that the promotion applies to."}`,
		`code: "MINE", lines: [{productId: "anvil"}]`:              `{"message":"user is required for this code, which is limited to certain users."}`,
		`code: "ITEMS-RICH", lines: [{productId: "brush"}]`: `{"message":"lines must have an item that the promotion applies to."},
			{"message":"lines must cost together at least $20,000.00, got $5.00."}`,
		`code: "ITEMS-RICH", cartValue: {amount: "300", currency: "EUR"}`: `{"message":"cartValue must be in a currency with a minimum cart value, got EUR."}`,
	} {
		a := s.Post(t, `{ promotionCodeCheck(`+arguments+`) { reasons { message } } }`, nil)
		require.JSONEq(t, `{"promotionCodeCheck":{"reasons":[`+want+`]}}`, string(a.Data), arguments)
	}
	a := s.Post(t, `{ promotionCodeCheck(code: "TEN", lines: [], cartValue: {amount: "999", currency: "USD"}) { valid } }`, nil)
	require.Equal(t, "cartValue cannot be combined with lines; use one of them.", a.Errors[0].Message)
	require.Equal(t, []store.Code{store.Invalid}, a.Codes())
	a = s.Send(t, graphtest.As(graphtest.NewPost(t, `{ promotionCodeCheck(code: "TEN", lines: []) { valid } }`, nil), graphtest.Client("checkout:write")))
	require.Equal(t, forbidden, a.Codes())
}

func cartLimits(t *testing.T, s *graphtest.Service) {
	many := func(n int, text string) string { return "[" + strings.Repeat(text+" ", n) + "]" }
	for _, c := range []struct{ arguments, message string }{
		{`lines: ` + many(101, `{productId: "anvil"}`), "lines must have at most 100 lines, got 101. Add up the quantities of lines that are alike."},
		{`lines: [{productId: "anvil", quantity: 0}]`, "lines.0.quantity must be between 1 and 1000000, got 0. Leave out lines without units."},
		{`lines: [], codes: ["1" "2" "3" "4" "5" "6" "7" "8" "9" "10" "11"]`, "codes must have at most 10 codes, got 11. Leave out those that were refused or unused before."},
		{`lines: [{productId: "kit", choices: [{component: "wood", options: ` + many(1001, `{id: "frame", quantity: 1}`) + `}]}]`,
			"lines must choose at most 1000 options in all lines, got 1001. Preview the bundles in several carts."},
	} {
		a := s.Post(t, `{ cartPreview(`+c.arguments+`) { total { amount } } }`, nil)
		require.Len(t, a.Errors, 1, c.arguments)
		require.Equal(t, c.message, a.Errors[0].Message)
		require.Equal(t, []store.Code{store.Unprocessable}, a.Codes())
	}
}

// Each code of a cart counts as a check, once however often it is sent; a cart without codes does not.
func TestCartCodesAreRateLimited(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openCarts(t, e)
		tried := 0
		s = graphtest.Serve(s.Store, graph.WithCodeLimit(func(_ context.Context, client string) error {
			require.Empty(t, client, "anyone can get the token, so the address counts")
			if tried++; tried > 3 {
				return &store.Error{Code: store.RateLimited, Detail: "Too much."}
			}
			return nil
		}))
		send := func(codes string) *graphtest.Response {
			return s.Send(t, graphtest.As(graphtest.NewPost(t, `{ cartPreview(lines: [{productId: "anvil"}], codes: `+codes+`) { total { amount } } }`, nil), graphtest.PublicClient()))
		}
		require.Empty(t, send(`[]`).Errors)
		require.Empty(t, send(`null`).Errors)
		require.Zero(t, tried)
		require.Empty(t, send(`["A", "B", "A"]`).Errors)
		require.Equal(t, 2, tried)
		a := send(`["C", "D"]`)
		require.Equal(t, []store.Code{store.RateLimited}, a.Codes())
		require.Equal(t, http.StatusTooManyRequests, a.Code)
	})
}

// The statements of a cart depend on what it has, not on how much of it.
func TestCartStatementsDoNotDependOnLines(t *testing.T) {
	t.Parallel()
	lines := graphtest.BigShop(t)
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, lines, func(c *shop.Config) { c.NoCache = true })
		promotions := []string{}
		for i := range 20 {
			promotions = append(promotions, cartPromotion(fmt.Sprint("p", i), "item_percent_discount", `{"percent":10}`, ``), storetest.CodeLine(fmt.Sprint("p", i), fmt.Sprint("C", i), ``),
				cartPromotion(fmt.Sprint("auto", i), "percent_discount", `{"percent":10}`, `,"automatic":true`))
		}
		graphtest.Load(t, s.Store, storetest.JoinLines(promotions...))
		values := func(lines, codes int) graphtest.Variables {
			var list []any
			for i := range lines {
				list = append(list, graphtest.Variables{"productId": graphtest.Whole(i)})
			}
			var texts []string
			for i := range codes {
				texts = append(texts, fmt.Sprint("C", i))
			}
			return graphtest.Variables{"lines": list, "codes": texts}
		}
		const query = `query($lines: [CartLineInput!]!, $codes: [String!]) { cartPreview(lines: $lines, codes: $codes) { total { amount } discounts { amount { amount } } lines { product { uuid mainImage { href } promotions { name } } } } }`
		few, many := cost(t, s, query, values(1, 1)), cost(t, s, query, values(100, 10))
		t.Logf("%d statements", few)
		require.Equal(t, few, many)
		require.Less(t, few, 16)
	})
}

// Shoppers see what they get without a code, and nothing of codes, drafts and other catalogs.
func TestActivePromotions(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openCarts(t, e)
		ask := func(arguments string, headers ...string) string {
			r := graphtest.As(graphtest.NewPost(t, `{ activePromotions`+arguments+` { uuid name promotionType percent x y skus amount { formatted } minCartValue { formatted } } }`, nil), graphtest.PublicClient())
			for i := 0; i < len(headers); i += 2 {
				r.Header.Set(headers[i], headers[i+1])
			}
			return s.Send(t, r).Body.String()
		}
		get, err := http.NewRequestWithContext(t.Context(), http.MethodGet, `/graphql?query={activePromotions{name}}`, nil)
		require.NoError(t, err)
		require.Equal(t, "no-store", s.Send(t, graphtest.As(get, graphtest.PublicClient())).Header().Get("Cache-Control"))
		all := ask("")
		require.Equal(t, 2, strings.Count(all, `"name"`), "not those that are off, over, for another catalog or by a code: %s", all)
		require.Contains(t, all, `"uuid":"a-brushes","name":"a-brushes","promotionType":"X_FOR_Y","percent":null,"x":3,"y":2,"skus":["BRUSH"]`)
		require.NotContains(t, ask("", "X-Moltin-Currency", "JPY"), "USD")
		require.Contains(t, ask("(first: 0)"), "between 1 and 100")
		require.Equal(t, 1, strings.Count(ask("(first: 1)"), "promotionType"))
		a := s.Post(t, `mutation { promotionUpdate(input: {id: "a-brushes", enabled: false}) { userErrors { message } } }`, nil)
		require.Empty(t, a.Errors)
		require.NotContains(t, ask(""), "a-brushes")
	})
}

// Product.promotions is current, although the product is cached with its release.
func TestProductPromotionsAreCurrent(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openCarts(t, e)
		ask := func() string {
			a := s.Send(t, graphtest.As(graphtest.NewPost(t, `{ product(by: {id: "brush"}) { sku relatedKinds promotions { name promotionType x y } } products(first: 1, filter: {sku: {eq: "ANVIL"}}) { nodes { promotions { name } } } }`, nil), graphtest.PublicClient()))
			require.Empty(t, a.Errors)
			return string(a.Data)
		}
		const other = `,"products":{"nodes":[{"promotions":[]}]}}`
		for range 3 {
			require.JSONEq(t, `{"product":{"sku":"BRUSH","relatedKinds":[],"promotions":[{"name":"a-brushes","promotionType":"X_FOR_Y","x":3,"y":2}]}`+other, ask())
		}
		a := s.Post(t, `mutation { promotionUpdate(input: {id: "a-brushes", enabled: false}) { userErrors { message } } }`, nil)
		require.Empty(t, a.Errors)
		require.JSONEq(t, `{"product":{"sku":"BRUSH","relatedKinds":[],"promotions":[]}`+other, ask())

		get, err := http.NewRequestWithContext(t.Context(), http.MethodGet, `/graphql?query={product(by:{id:"brush"}){promotions{name}}}`, nil)
		require.NoError(t, err)
		for range 2 {
			require.Equal(t, "no-store", s.Send(t, graphtest.As(get, graphtest.PublicClient())).Header().Get("Cache-Control"))
		}
	})
}
