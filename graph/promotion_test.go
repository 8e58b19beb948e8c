package graph_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store"
	"portico/store/promotion/rule"
	"portico/store/storetest"
)

func TestPromotions(t *testing.T) {
	t.Parallel()
	const codes = `mutation($codes: [PromotionCodeInput!]!) { promotionCodesCreate(input: {promotionId: "ten-off", codes: $codes, consumeUnit: PER_ITEM}) { codes { code uses maxUses consumeUnit users valid } userErrors { field code message } } }`
	many := make([]any, 18)
	for i := range many {
		many[i] = graphtest.Variables{}
	}
	many[17] = graphtest.Variables{"code": "TEN-OFF"}
	runOnTestShop(t, []scenario{
		{name: "one", query: `{ promotion(id: "ten-off") { uuid promotionType state start end minCartValue { amount currency } currencies { currency money { amount } percentage } targetCatalogUuids itemConditions { template field type value } maxApplicationsPerCart } }`,
			data: `{"promotion":{"uuid":"ten-off","promotionType":"FIXED_DISCOUNT","state":"ACTIVE","start":"2024-01-01T00:00:00.000Z","end":"2026-12-31T23:59:00.000Z","minCartValue":[{"amount":"5000","currency":"USD"}],"currencies":[{"currency":"USD","money":{"amount":"1000"},"percentage":null}],"targetCatalogUuids":null,"itemConditions":[],"maxApplicationsPerCart":1}}`},
		{name: "formatted amounts", query: `{ promotion(id: "ten-off") { minCartValue { amount currency formatted } maxDiscountValue { formatted } } }`,
			data: `{"promotion":{"minCartValue":[{"amount":"5000","currency":"USD","formatted":"$50.00"}],"maxDiscountValue":[{"formatted":"$10.00"}]}}`},
		{name: "amounts in German", headers: []string{"Accept-Language", "de"}, query: `{ promotions(filter: {id: {in: ["ten-off"]}}) { nodes { minCartValue { formatted } } } }`,
			data: `{"promotions":{"nodes":[{"minCartValue":[{"formatted":"50,00\u00a0$"}]}]}}`},
		{name: "amounts of a shop in Germany", query: `mutation { settingsUpdate(input: {locale: "de"}) { userErrors { code } } promotionUpdate(input: {id: "ten-off", maxDiscountValue: [{currency: "EUR", amount: "300"}], dryRun: true}) { preview { minCartValue { formatted } maxDiscountValue { amount formatted } } } }`,
			data: `{"settingsUpdate":{"userErrors":[]},"promotionUpdate":{"preview":{"minCartValue":[{"formatted":"50,00\u00a0$"}],"maxDiscountValue":[{"amount":"300","formatted":"3,00\u00a0€"}]}}}`},
		{name: "an unknown id", query: `{ promotion(id: "nowhere") { uuid } promotionCode(code: "none") { uuid } }`, data: `{"promotion":null,"promotionCode":null}`},
		{name: "by global id", query: `{ node(id: ` + global("Promotion", "ten-off") + `) { ... on Promotion { name } } code: node(id: ` + global("PromotionCode", "code-1") + `) { ... on PromotionCode { code promotion { name } } } none: node(id: ` + global("Promotion", "none") + `) { id } }`,
			data: `{"node":{"name":"Ten off"},"code":{"code":"TEN-OFF","promotion":{"name":"Ten off"}},"none":null}`},
		{name: "a list by state", query: `{ promotions(filter: {state: EXPIRED}) { totalCount nodes { uuid } } }`, data: `{"promotions":{"totalCount":1,"nodes":[{"uuid":"auto"}]}}`},
		{name: "a code across promotions", query: `{ promotionCode(code: "TEN-OFF") { uuid uses maxUses used consumeUnit users valid promotion { uuid } } }`,
			data: `{"promotionCode":{"uuid":"code-1","uses":3,"maxUses":5,"used":2,"consumeUnit":"PER_ITEM","users":["u1","u2"],"valid":true,"promotion":{"uuid":"ten-off"}}}`},
		{name: "codes of an unknown promotion", query: `{ promotionCodes(promotionId: "nowhere") { totalCount } }`, codes: []store.Code{store.NotFound}},
		{name: "two conditions on one text", query: `{ promotions(filter: {name: {eq: "a", in: ["b"]}}) { totalCount } }`, codes: []store.Code{store.Invalid}},
		{name: "codes with a user or several", query: codes, variables: graphtest.Variables{"codes": []any{graphtest.Variables{"code": "A", "user": "u1", "uses": 3}, graphtest.Variables{"code": "B", "user": []any{"u1", "u2"}, "consumeUnit": "PER_CART"}}},
			data: `{"promotionCodesCreate":{"codes":[{"code":"A","uses":3,"maxUses":3,"consumeUnit":"PER_ITEM","users":["u1"],"valid":true},{"code":"B","uses":null,"maxUses":null,"consumeUnit":"PER_CART","users":["u1","u2"],"valid":true}],"userErrors":[]}}`},
		{name: "an invalid row by its index", query: codes, variables: graphtest.Variables{"codes": many},
			data: `{"promotionCodesCreate":{"codes":[],"userErrors":[{"field":["input","codes","17","code"],"code":"DUPLICATE_CODE","message":"Promotion code already in use: \"TEN-OFF\""}]}}`},
		{name: "all errors of a batch", query: codes, variables: graphtest.Variables{"codes": []any{graphtest.Variables{"code": "TEN-OFF"}, graphtest.Variables{"code": "a/b", "uses": 0}, graphtest.Variables{"code": "fine"}, graphtest.Variables{"user": []any{}}}},
			data: `{"promotionCodesCreate":{"codes":[],"userErrors":[{"field":["input","codes","0","code"],"code":"DUPLICATE_CODE","message":"Promotion code already in use: \"TEN-OFF\""},
				{"field":["input","codes","1","code"],"code":"UNPROCESSABLE","message":"codes.1.code must contain only printable characters other than a slash, got \"/\" in \"a/b\"."},
				{"field":["input","codes","1","uses"],"code":"UNPROCESSABLE","message":"codes.1.uses must be between 1 and 2147483647, got 0."},
				{"field":["input","codes","3","user"],"code":"UNPROCESSABLE","message":"codes.3.user must name at least one user; omit it, or send null, for everybody."}]}}`},
		{name: "an automatic promotion takes no codes", query: `mutation { promotionUpdate(input: {id: "ten-off", automatic: true}) { userErrors { code } } promotionCodesCreate(input: {promotionId: "ten-off", codes: [{}]}) { userErrors { field code message } } }`,
			data: `{"promotionUpdate":{"userErrors":[]},"promotionCodesCreate":{"userErrors":[{"field":[],"code":"CODES_NOT_ALLOWED","message":"Cannot add codes to an automatic promotion"}]}}`},
		{name: "an unknown promotion", query: `mutation { promotionCodesCreate(input: {promotionId: "nowhere", codes: [{}]}) { userErrors { field code message } } promotionCodesGenerate(input: {promotionId: "nowhere", count: 1}) { userErrors { field code } } promotionDelete(input: {id: "nowhere"}) { userErrors { field code } } }`,
			data: `{"promotionCodesCreate":{"userErrors":[{"field":["input","promotionId"],"code":"NOT_FOUND","message":"promotionId does not exist: \"nowhere\"."}]},"promotionCodesGenerate":{"userErrors":[{"field":["input","promotionId"],"code":"NOT_FOUND"}]},"promotionDelete":{"userErrors":[{"field":["input","id"],"code":"NOT_FOUND"}]}}`},
		{name: "every invalid change of stock", query: `mutation { stockTransact(input: {changes: [{productId: "anvil", action: DECREMENT, quantity: 2000000}, {productId: "anvil", action: INCREMENT, quantity: 5}, {productId: "nothing", action: INCREMENT, quantity: 5}, {productId: "anvil", action: SET, quantity: -1}]}) { userErrors { field code } } }`,
			data: `{"stockTransact":{"userErrors":[{"field":["input","changes","3","quantity"],"code":"UNPROCESSABLE"},{"field":["input","changes","0","quantity"],"code":"UNPROCESSABLE"},{"field":["input","changes","2","productId"],"code":"NOT_FOUND"}]}}`},
		{name: "an error inside the schema", query: `mutation { promotionUpdate(input: {id: "ten-off", schema: {currencies: [{currency: "USD"}], target_catalogs: 5}}) { promotion { uuid } codesDeleted userErrors { field } } }`,
			data: `{"promotionUpdate":{"promotion":null,"codesDeleted":0,"userErrors":[{"field":["input","schema","currencies","0","amount"]},{"field":["input","schema","target_catalogs"]}]}}`},
		{name: "an invalid amount", query: `mutation { promotionUpdate(input: {id: "ten-off", minCartValue: [{currency: "USD", amount: "5.00"}]}) { userErrors { field code } } }`,
			data: `{"promotionUpdate":{"userErrors":[{"field":["input","minCartValue","0","amount"],"code":"INVALID"}]}}`},
		{name: "SKUs that no product has", query: `mutation {
			gift: promotionCreate(input: {id: "gift", name: "G", promotionType: BUNDLE_GIFT, start: "2024-01-01", end: "2030-01-01", schema: {gifts: ["ANVIL", "GFT"], requirements: [{targets: "all", quantity: 1}, {targets: ["NO", "NO", "A", "B", "C", "D", "E", "ANVIL"], quantity: 1}]}}) { warnings { field message } userErrors { message } }
			dry: promotionUpdate(input: {id: "gift", dryRun: true, schema: {gifts: ["ANVIL"], targets: [["ANVIL"], ["anvil"]], quantities: [1, 1]}}) { warnings { field message } userErrors { message } }
			known: promotionUpdate(input: {id: "gift", schema: {gifts: ["ANVIL"], targets: [["ANVIL"]], quantities: [1]}}) { warnings { field message } userErrors { message } }
			refused: promotionUpdate(input: {id: "gift", schema: {gifts: ["NO"]}}) { warnings { field } userErrors { code } } }`,
			data: `{"gift":{"warnings":[{"field":["input","schema","gifts"],"message":"schema.gifts names SKUs that no product has: GFT; import the products, or correct the SKUs."},
					{"field":["input","schema","requirements","1","targets"],"message":"schema.requirements.1.targets names SKUs that no product has: NO, A, B, C, D and 1 more; import the products, or correct the SKUs."}],"userErrors":[]},
				"dry":{"warnings":[{"field":["input","schema","targets","1"],"message":"schema.targets.1 names SKUs that no product has: anvil; import the products, or correct the SKUs."}],"userErrors":[]},
				"known":{"warnings":[],"userErrors":[]},"refused":{"warnings":[],"userErrors":[{"code":"UNPROCESSABLE"}]}}`},
		{name: "a dry run", query: `mutation { promotionUpdate(input: {id: "auto", end: "2030-01-01", dryRun: true}) { promotion { state } preview { state } codesDeleted userErrors { field } } }`,
			data: `{"promotionUpdate":{"promotion":null,"preview":{"state":"DISABLED"},"codesDeleted":1,"userErrors":[]}}`},
	})
}

func TestPromotionTypesRoundTrip(t *testing.T) {
	t.Parallel()
	schemas := map[string]string{"FIXED_DISCOUNT": `currencies: [{currency: "USD", amount: 1}]`, "PERCENT_DISCOUNT": `percent: 5`, "ITEM_FIXED_DISCOUNT": `currencies: [{currency: "USD", amount: 1}]`,
		"ITEM_PERCENT_DISCOUNT": `percent: 5`, "X_FOR_Y": `x: 3, y: 2, targets: ["A"]`, "X_FOR_AMOUNT": `x: 3, currencies: [{currency: "USD", amount: 1}], targets: ["A"]`,
		"BUNDLE_FIXED_DISCOUNT": `currencies: [{currency: "USD", amount: 1}], targets: [["A"]], quantities: [1]`, "BUNDLE_GIFT": `gifts: ["G"], targets: [["A"]], quantities: [1]`}
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		require.Len(t, schemas, len(rule.PromotionTypes()))
		for _, name := range valuesOf("PromotionType") {
			a := s.Post(t, `mutation { promotionCreate(input: {id: "`+strings.ToLower(name)+`", name: "P", promotionType: `+name+`, start: "2024-01-01", end: "2030-01-01", schema: {`+schemas[name]+`}}) { promotion { promotionType } userErrors { message } } }`, nil)
			require.JSONEq(t, `{"promotionCreate":{"promotion":{"promotionType":"`+name+`"},"userErrors":[]}}`, string(a.Data), "%s", a.Body)
			p, err := s.Store.Promotions.Get(t.Context(), strings.ToLower(name))
			require.NoError(t, err)
			require.Equal(t, rule.PromotionType(strings.ToLower(name)), p.Type, "what the store keeps")
		}
	})
}
