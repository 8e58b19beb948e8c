package graph_test

import (
	"cmp"
	"encoding/json"
	"fmt"
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
	const codes = `mutation($codes: [PromotionCodeInput!]!) { promotionCodesCreate(input: {promotionId: "ten-off", codes: $codes, consumeUnit: PER_ITEM}) { codes { code remainingUses maxUses consumeUnit users valid } userErrors { field code message } } }`
	many := make([]any, 18)
	for i := range many {
		many[i] = graphtest.Variables{}
	}
	many[17] = graphtest.Variables{"code": "TEN-OFF"}
	runOnTestShop(t, []scenario{
		{name: "one", query: `{ promotion(id: "ten-off") { uuid promotionType state start end minCartValue { amount currency } details { ... on PromotionFixedDiscount { amounts { amount currency formatted } } } restDetails targetCatalogUuids itemConditions { template field type value } maxApplicationsPerCart } }`,
			data: `{"promotion":{"uuid":"ten-off","promotionType":"FIXED_DISCOUNT","state":"ACTIVE","start":"2024-01-01T00:00:00.000Z","end":"2026-12-31T23:59:00.000Z","minCartValue":[{"amount":"5000","currency":"USD"}],"details":{"amounts":[{"amount":"1000","currency":"USD","formatted":"$10.00"}]},"restDetails":{"promotion_type":"fixed_discount","schema":{"currencies":[{"currency":"USD","amount":1000}]}},"targetCatalogUuids":null,"itemConditions":[],"maxApplicationsPerCart":1}}`},
		{name: "formatted amounts", query: `{ promotion(id: "ten-off") { minCartValue { amount currency formatted } maxDiscountValue { formatted } } }`,
			data: `{"promotion":{"minCartValue":[{"amount":"5000","currency":"USD","formatted":"$50.00"}],"maxDiscountValue":[{"formatted":"$10.00"}]}}`},
		{name: "amounts in German", headers: []string{"Accept-Language", "de"}, query: `{ promotions(filter: {ids: ["ten-off"]}) { nodes { minCartValue { formatted } } } }`,
			data: `{"promotions":{"nodes":[{"minCartValue":[{"formatted":"50,00\u00a0$"}]}]}}`},
		{name: "amounts of a shop in Germany", query: `mutation { settingsUpdate(input: {locale: "de"}) { userErrors { code } } promotionUpdate(input: {id: "ten-off", maxDiscountValue: [{currency: "EUR", amount: "300"}], dryRun: true}) { preview { minCartValue { formatted } maxDiscountValue { amount formatted } } } }`,
			data: `{"settingsUpdate":{"userErrors":[]},"promotionUpdate":{"preview":{"minCartValue":[{"formatted":"50,00\u00a0$"}],"maxDiscountValue":[{"amount":"300","formatted":"3,00\u00a0€"}]}}}`},
		{name: "by global id", query: `{ node(id: ` + global("Promotion", "ten-off") + `) { ... on Promotion { name } } code: node(id: ` + global("PromotionCode", "code-1") + `) { ... on PromotionCode { code promotion { name } } } none: node(id: ` + global("Promotion", "none") + `) { id } }`,
			data: `{"node":{"name":"Ten off"},"code":{"code":"TEN-OFF","promotion":{"name":"Ten off"}},"none":null}`},
		{name: "a code across promotions", query: `{ promotionCode(code: "TEN-OFF") { uuid remainingUses maxUses used consumeUnit users valid promotion { uuid } } }`,
			data: `{"promotionCode":{"uuid":"code-1","remainingUses":3,"maxUses":5,"used":2,"consumeUnit":"PER_ITEM","users":["u1","u2"],"valid":true,"promotion":{"uuid":"ten-off"}}}`},
		{name: "two conditions on one text", query: `{ promotions(filter: {name: {eq: "a", in: ["b"]}}) { totalCount } }`, codes: []store.Code{store.Invalid}},
		{name: "codes with a user or several", query: codes, variables: graphtest.Variables{"codes": []any{graphtest.Variables{"code": "A", "users": "u1", "maxUses": 3}, graphtest.Variables{"code": "B", "users": []any{"u1", "u2"}, "consumeUnit": "PER_CART"}}},
			data: `{"promotionCodesCreate":{"codes":[{"code":"A","remainingUses":3,"maxUses":3,"consumeUnit":"PER_ITEM","users":["u1"],"valid":true},{"code":"B","remainingUses":null,"maxUses":null,"consumeUnit":"PER_CART","users":["u1","u2"],"valid":true}],"userErrors":[]}}`},
		{name: "an invalid row by its index", query: codes, variables: graphtest.Variables{"codes": many},
			data: `{"promotionCodesCreate":{"codes":[],"userErrors":[{"field":["input","codes","17","code"],"code":"DUPLICATE_CODE","message":"Promotion code already in use: \"TEN-OFF\""}]}}`},
		{name: "an error inside the schema of REST", query: `mutation { promotionUpdate(input: {id: "ten-off", restDetails: {schema: {currencies: [{currency: "USD"}], target_catalogs: 5}}}) { promotion { uuid } codesDeleted userErrors { field } } }`,
			data: `{"promotionUpdate":{"promotion":null,"codesDeleted":0,"userErrors":[{"field":["input","restDetails","schema","currencies","0","amount"]},{"field":["input","restDetails","schema","target_catalogs"]}]}}`},
		{name: "SKUs that no product has", query: `mutation {
			gift: promotionCreate(input: {id: "gift", name: "G", start: "2024-01-01", end: "2030-01-01", details: {bundleGift: {gifts: ["ANVIL", "GFT"], requirements: [{quantity: 1}, {skus: ["NO", "NO", "A", "B", "C", "D", "E", "ANVIL"], quantity: 1}]}}}) { warnings { field message } userErrors { message } }
			dry: promotionUpdate(input: {id: "gift", dryRun: true, restDetails: {schema: {gifts: ["ANVIL"], targets: [["ANVIL"], ["anvil"]], quantities: [1, 1]}}}) { warnings { field message } userErrors { message } }
			known: promotionUpdate(input: {id: "gift", details: {bundleGift: {gifts: ["ANVIL"], requirements: [{skus: ["ANVIL"], quantity: 1}]}}}) { warnings { field message } userErrors { message } }
			parent: promotionUpdate(input: {id: "gift", details: {bundleGift: {gifts: ["ANVIL"], requirements: [{skus: ["EASEL", "EASEL-OAK"], quantity: 1}]}}}) { warnings { field message } userErrors { message } }
			refused: promotionUpdate(input: {id: "gift", restDetails: {schema: {gifts: ["NO"]}}}) { warnings { field } userErrors { code } } }`,
			data: `{"gift":{"warnings":[{"field":["input","details","bundleGift","gifts"],"message":"details.bundleGift.gifts names SKUs that no product has: GFT; create the products, or correct the SKUs."},
					{"field":["input","details","bundleGift","requirements","1","skus"],"message":"details.bundleGift.requirements.1.skus names SKUs that no product has: NO, A, B, C, D and 1 more; create the products, or correct the SKUs."}],"userErrors":[]},
				"dry":{"warnings":[{"field":["input","restDetails","schema","targets","1"],"message":"restDetails.schema.targets.1 names SKUs that no product has: anvil; create the products, or correct the SKUs."}],"userErrors":[]},
				"known":{"warnings":[],"userErrors":[]},
				"parent":{"warnings":[{"field":["input","details","bundleGift","requirements","0","skus"],"message":"details.bundleGift.requirements.0.skus names SKUs of parents: EASEL; carts have their variants, so name the SKUs of these."}],"userErrors":[]},"refused":{"warnings":[],"userErrors":[{"code":"UNPROCESSABLE"}]}}`},
		{name: "currencies that ISO 4217 does not have", query: `mutation {
			groups: promotionCreate(input: {id: "groups", name: "G", start: "2024-01-01", end: "2030-01-01", minCartValue: [{amount: "1", currency: "QQQ"}], details: {xForY: {x: 2, y: 1, skus: ["ANVIL"], currencies: ["USD", "ZZZ"]}}}) { warnings { field message } userErrors { message } }
			dry: promotionUpdate(input: {id: "groups", dryRun: true, minCartValue: [], maxDiscountValue: [{amount: "1", currency: "QQQ"}], restDetails: {promotion_type: "x_for_amount", schema: {x: 2, targets: ["ANVIL"], currencies: [{currency: "ZZZ", amount: 5}]}}}) { warnings { field } userErrors { message } }
			off: promotionUpdate(input: {id: "groups", dryRun: true, minCartValue: null, details: {fixedDiscount: {amounts: [{amount: "5", currency: "ZZZ"}]}}}) { warnings { field } userErrors { message } } }`,
			data: `{"groups":{"warnings":[{"field":["input","minCartValue","0","currency"],"message":"minCartValue.0.currency is not a currency of ISO 4217: \"QQQ\"."},
					{"field":["input","details","xForY","currencies","1"],"message":"details.xForY.currencies.1 is not a currency of ISO 4217: \"ZZZ\"."}],"userErrors":[]},
				"dry":{"warnings":[{"field":["input","maxDiscountValue","0","currency"]},{"field":["input","restDetails","schema","currencies","0","currency"]}],"userErrors":[]},
				"off":{"warnings":[{"field":["input","details","fixedDiscount","amounts","0","currency"]}],"userErrors":[]}}`},
		{name: "a time of another form", query: `mutation($at: DateTime!) { promotionUpdate(input: {id: "ten-off", start: "2024-01-02", end: $at}) { promotion { start end } userErrors { message } } }`, variables: graphtest.Variables{"at": "2030-01-01T02:00+02:00"}, codes: []store.Code{store.Invalid}},
		{name: "a date, and a time with a zone", query: `mutation($at: DateTime!) { promotionUpdate(input: {id: "ten-off", start: "2024-01-02", end: $at}) { promotion { start end } userErrors { message } } }`, variables: graphtest.Variables{"at": "2030-01-01T02:00:00+02:00"},
			data: `{"promotionUpdate":{"promotion":{"start":"2024-01-02T00:00:00.000Z","end":"2030-01-01T00:00:00.000Z"},"userErrors":[]}}`},
		{name: "a dry run", query: `mutation { promotionUpdate(input: {id: "auto", end: "2030-01-01", dryRun: true}) { promotion { state } preview { state } codesDeleted userErrors { field } } }`,
			data: `{"promotionUpdate":{"promotion":null,"preview":{"state":"DISABLED"},"codesDeleted":1,"userErrors":[]}}`},
	})
}

// detailsOfEachType are the details of each type with the schema that they are stored as.
var detailsOfEachType = []struct{ name, details, schema string }{
	{"FIXED_DISCOUNT", `{"fixedDiscount":{"amounts":[{"amount":"1000","currency":"USD"},{"amount":"0","currency":"EUR"}]}}`,
		`{"currencies":[{"currency":"USD","amount":1000},{"currency":"EUR","amount":0}]}`},
	{"PERCENT_DISCOUNT", `{"percentDiscount":{"percent":"12.50","percentByCurrency":[{"currency":"USD","percent":"5"}]}}`,
		`{"currencies":[{"currency":"USD","percentage":5}],"percent":12.50}`},
	{"ITEM_FIXED_DISCOUNT", `{"itemFixedDiscount":{"amounts":[{"amount":"1","currency":"USD"}],"skus":null}}`, `{"currencies":[{"currency":"USD","amount":1}]}`},
	{"ITEM_PERCENT_DISCOUNT", `{"itemPercentDiscount":{"percent":"5","percentByCurrency":[],"skus":[]}}`, `{"currencies":[],"percent":5,"targets":[]}`},
	{"X_FOR_Y", `{"xForY":{"x":3,"y":2,"skus":["A","B"],"currencies":["USD","EUR"]}}`, `{"currencies":[{"currency":"USD"},{"currency":"EUR"}],"x":3,"y":2,"targets":["A","B"]}`},
	{"X_FOR_AMOUNT", `{"xForAmount":{"x":3,"amounts":[{"amount":"1","currency":"USD"}],"skus":["A"]}}`, `{"currencies":[{"currency":"USD","amount":1}],"x":3,"targets":["A"]}`},
	{"BUNDLE_FIXED_DISCOUNT", `{"bundleFixedDiscount":{"amounts":[{"amount":"1","currency":"USD"}],"requirements":[{"skus":["A"],"quantity":2},{"skus":null,"quantity":1}]}}`,
		`{"currencies":[{"currency":"USD","amount":1}],"requirements":[{"targets":["A"],"quantity":2},{"quantity":1}]}`},
	{"BUNDLE_GIFT", `{"bundleGift":{"gifts":["G"],"requirements":[{"skus":["A"],"quantity":1}],"currencies":[]}}`, `{"gifts":["G"],"requirements":[{"targets":["A"],"quantity":1}]}`},
}

// readDetails selects all members of details.
const readDetails = `details { __typename
	... on PromotionFixedDiscount { amounts { amount currency } }
	... on PromotionPercentDiscount { percent percentByCurrency { currency percent } }
	... on PromotionItemFixedDiscount { amounts { amount currency } skus }
	... on PromotionItemPercentDiscount { percent percentByCurrency { currency percent } skus }
	... on PromotionXForY { x y skus currencies }
	... on PromotionXForAmount { x amounts { amount currency } skus }
	... on PromotionBundleFixedDiscount { amounts { amount currency } requirements { skus quantity } }
	... on PromotionBundleGift { gifts requirements { skus quantity } currencies } }`

// asInput returns details that were read as an input has them.
func asInput(details map[string]any) map[string]any {
	member := strings.TrimPrefix(details["__typename"].(string), "Promotion")
	delete(details, "__typename")
	return map[string]any{strings.ToLower(member[:1]) + member[1:]: details}
}

// Details of each type are read as they were written, and can be written again unchanged.
func TestPromotionDetailsRoundTrip(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		require.Len(t, detailsOfEachType, len(rule.PromotionTypes()))
		for i, name := range valuesOf("PromotionType") {
			c := detailsOfEachType[i]
			require.Equal(t, name, c.name)
			id := strings.ToLower(name)
			var details map[string]any
			require.NoError(t, json.Unmarshal([]byte(c.details), &details))
			type promotion struct {
				PromotionType string
				Details       map[string]any
				RestDetails   json.RawMessage
			}
			var written struct {
				Done struct {
					Promotion, Preview *promotion
					UserErrors         []struct{ Message string }
				}
			}
			requireWritten := func(p *promotion) {
				t.Helper()
				require.NotNil(t, p, "%v", written.Done.UserErrors)
				require.Equal(t, name, p.PromotionType)
				require.JSONEq(t, `{"promotion_type":"`+id+`","schema":`+c.schema+`}`, string(p.RestDetails))
				require.Equal(t, details, asInput(p.Details))
			}
			members := `{ promotionType restDetails ` + readDetails + ` }`
			s.Post(t, `mutation($input: PromotionCreateInput!) { done: promotionCreate(input: $input) { promotion `+members+` userErrors { message } } }`,
				graphtest.Variables{"input": map[string]any{"id": id, "name": "P", "start": "2024-01-01", "end": "2030-01-01", "details": details}}).Read(t, &written)
			requireWritten(written.Done.Promotion)
			before, err := s.Store.Promotions.Get(t.Context(), id)
			require.NoError(t, err)
			for _, again := range []map[string]any{{"details": details}, {"restDetails": written.Done.Promotion.RestDetails}, {"restDetails": map[string]any{}}, {"details": details, "dryRun": true}} {
				again["id"] = id
				written.Done.Promotion, written.Done.Preview = nil, nil
				s.Post(t, `mutation($input: PromotionUpdateInput!) { done: promotionUpdate(input: $input) { promotion `+members+` preview `+members+` userErrors { message } } }`,
					graphtest.Variables{"input": again}).Read(t, &written)
				requireWritten(cmp.Or(written.Done.Promotion, written.Done.Preview))
			}
			after, err := s.Store.Promotions.Get(t.Context(), id)
			require.NoError(t, err)
			require.JSONEq(t, string(before.Body), string(after.Body), "nothing changed")
		}
	})
}

// Errors of details name the member that was sent, with the code that the same has in a schema.
func TestErrorsOfPromotionDetails(t *testing.T) {
	t.Parallel()
	ten := `{percentDiscount: {percent: "10"}}`
	many := strings.Repeat(`{quantity: 1} `, 101)
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		for name, c := range map[string]struct {
			members string
			errors  []string
		}{
			"no details":            {``, []string{"UNPROCESSABLE details"}},
			"two forms":             {`details: ` + ten + `, restDetails: {promotion_type: "percent_discount", schema: {percent: 10}}`, []string{"INVALID details"}},
			"no type":               {`restDetails: {}`, []string{"UNPROCESSABLE restDetails.promotion_type", "UNPROCESSABLE restDetails.schema"}},
			"no object":             {`restDetails: 5`, []string{"INVALID restDetails"}},
			"a wrong type":          {`restDetails: {promotion_type: 5}`, []string{"INVALID restDetails"}},
			"an unknown member":     {`restDetails: {promotion_type: "percent_discount", schema: {percent: 10}, percent: 10}`, []string{"UNPROCESSABLE restDetails.percent"}},
			"members beside it":     {`restDetails: {promotion_type: "fixed_discount", schema: {}, currencies: [{currency: "USD"}], target_catalogs: [""]}`, []string{"UNPROCESSABLE restDetails.currencies.0.amount", "UNPROCESSABLE restDetails.target_catalogs.0"}},
			"no amounts":            {`details: {fixedDiscount: {amounts: []}}`, []string{"UNPROCESSABLE details.fixedDiscount.amounts"}},
			"amounts":               {`details: {fixedDiscount: {amounts: [{amount: "5.00", currency: "USD"}]}}`, []string{"INVALID details.fixedDiscount.amounts.0.amount"}},
			"a negative amount":     {`details: {itemFixedDiscount: {amounts: [{amount: "-1", currency: "USD"}, {amount: "1", currency: "usd"}, {amount: "1", currency: "USD"}], skus: [""]}}`, []string{"UNPROCESSABLE details.itemFixedDiscount.amounts.0.amount", "INVALID details.itemFixedDiscount.amounts.1.currency", "UNPROCESSABLE details.itemFixedDiscount.amounts.2.currency", "UNPROCESSABLE details.itemFixedDiscount.skus.0"}},
			"no percentage":         {`details: {percentDiscount: {}}`, []string{"UNPROCESSABLE details.percentDiscount.percent"}},
			"too high":              {`details: {percentDiscount: {percent: "101", percentByCurrency: [{currency: "USD", percent: "0"}]}}`, []string{"UNPROCESSABLE details.percentDiscount.percentByCurrency.0.percent", "UNPROCESSABLE details.percentDiscount.percent"}},
			"no number":             {`details: {itemPercentDiscount: {percent: "1e1", percentByCurrency: [{currency: "USD", percent: ""}, {currency: "EUR", percent: " 5"}]}}`, []string{"INVALID details.itemPercentDiscount.percent", "INVALID details.itemPercentDiscount.percentByCurrency.0.percent", "INVALID details.itemPercentDiscount.percentByCurrency.1.percent"}},
			"groups":                {`details: {xForY: {x: 2, y: 2, skus: [], currencies: ["USD", "usd", "USD"]}}`, []string{"INVALID details.xForY.currencies.1", "UNPROCESSABLE details.xForY.currencies.2", "UNPROCESSABLE details.xForY.skus", "UNPROCESSABLE details.xForY.x"}},
			"no group":              {`details: {xForAmount: {x: 0, amounts: [{amount: "1", currency: "USD"}], skus: ["A"]}}`, []string{"UNPROCESSABLE details.xForAmount.x"}},
			"parts":                 {`details: {bundleFixedDiscount: {amounts: [{amount: "1", currency: "USD"}], requirements: [{skus: [], quantity: 0}]}}`, []string{"UNPROCESSABLE details.bundleFixedDiscount.requirements.0.skus", "UNPROCESSABLE details.bundleFixedDiscount.requirements.0.quantity"}},
			"too many parts":        {`details: {bundleGift: {gifts: [], requirements: [` + many + `]}}`, []string{"UNPROCESSABLE details.bundleGift.requirements", "UNPROCESSABLE details.bundleGift.gifts"}},
			"catalogs":              {`details: ` + ten + `, targetCatalogIds: [""]`, []string{"UNPROCESSABLE targetCatalogIds.0"}},
			"a maximum":             {`details: {fixedDiscount: {amounts: [{amount: "1", currency: "USD"}]}}, maxDiscountValue: [{amount: "1", currency: "USD"}]`, []string{"UNPROCESSABLE maxDiscountValue"}},
			"another resource's id": {`details: ` + ten + `, targetCatalogIds: [` + global("Product", "anvil") + `]`, []string{"INVALID"}},
		} {
			var written struct {
				Done struct {
					UserErrors []struct {
						Code  string
						Field []string
					}
				}
			}
			a := s.Post(t, `mutation { done: promotionCreate(input: {name: "P", start: "2024-01-01", end: "2030-01-01", `+c.members+`}) { userErrors { code field } } }`, nil)
			var found []string
			for _, err := range a.Errors {
				found = append(found, string(err.Extensions.Code))
			}
			if len(a.Errors) == 0 {
				a.Read(t, &written)
			}
			for _, err := range written.Done.UserErrors {
				require.Equal(t, "input", err.Field[0], name)
				found = append(found, err.Code+" "+strings.Join(err.Field[1:], "."))
			}
			require.Equal(t, c.errors, found, name)
		}
		for _, members := range []string{`{}`, `{percentDiscount: {percent: "5"}, fixedDiscount: {amounts: []}}`, `{percentDiscount: null}`} {
			a := s.Post(t, `mutation { promotionUpdate(input: {id: "ten-off", details: `+members+`}) { userErrors { code } } }`, nil)
			require.NotEmpty(t, a.Errors, members)
		}
	})
}

// A schema that REST wrote in another form, and a stored one with unknown members, show what details
// can say. What was sent beside the schema stays when details replace it.
func TestDetailsOfOtherSchemas(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		runScenarios(t, s, []scenario{
			{name: "groups of a bundle", query: `mutation { promotionCreate(input: {id: "groups", name: "G", start: "2024-01-01", end: "2030-01-01",
				restDetails: {promotion_type: "bundle_gift", schema: {gifts: ["ANVIL"], targets: [["ANVIL"]], quantities: [2], percent: 5, conditions: {and: []}}, target_catalogs: ["main"]}}) {
				promotion { ` + readDetails + ` restDetails targetCatalogUuids } userErrors { message } } }`,
				data: `{"promotionCreate":{"promotion":{"details":{"__typename":"PromotionBundleGift","gifts":["ANVIL"],"requirements":[{"skus":["ANVIL"],"quantity":2}],"currencies":[]},
					"restDetails":{"promotion_type":"bundle_gift","schema":{"conditions":{"and":[]},"gifts":["ANVIL"],"percent":5,"quantities":[2],"targets":[["ANVIL"]],"target_catalogs":["main"]}},"targetCatalogUuids":["main"]},"userErrors":[]}}`},
			{name: "another type, with the catalogs and conditions of before", query: `mutation { promotionUpdate(input: {id: "groups", details: {percentDiscount: {percent: "5"}}}) {
				promotion { promotionType ` + readDetails + ` restDetails } userErrors { message } } }`,
				data: `{"promotionUpdate":{"promotion":{"promotionType":"PERCENT_DISCOUNT","details":{"__typename":"PromotionPercentDiscount","percent":"5","percentByCurrency":[]},
					"restDetails":{"promotion_type":"percent_discount","schema":{"percent":5,"target_catalogs":["main"],"conditions":{"and":[]}}}},"userErrors":[]}}`},
			{name: "all catalogs", query: `mutation { promotionUpdate(input: {id: "groups", targetCatalogIds: null, itemConditions: null}) { promotion { restDetails targetCatalogUuids } userErrors { message } } }`,
				data: `{"promotionUpdate":{"promotion":{"restDetails":{"promotion_type":"percent_discount","schema":{"percent":5}},"targetCatalogUuids":null},"userErrors":[]}}`},
			{name: "a catalog by its global id", query: `mutation { promotionUpdate(input: {id: "groups", targetCatalogIds: [` + global("Catalog", "main") + `]}) { promotion { targetCatalogUuids } } }`,
				data: `{"promotionUpdate":{"promotion":{"targetCatalogUuids":["main"]}}}`},
			{name: "a null of REST", query: `mutation { promotionUpdate(input: {id: "groups", restDetails: {target_catalogs: null}}) { promotion { targetCatalogUuids } } none: promotionUpdate(input: {id: "groups", restDetails: {schema: null}}) { userErrors { field message } } }`,
				data: `{"promotionUpdate":{"promotion":{"targetCatalogUuids":null}},"none":{"userErrors":[{"field":["input","restDetails","schema"],"message":"restDetails.schema must not be null; omit it to keep its value."}]}}`},
		})
		odd := rule.Promotion{Type: rule.XForY, Schema: json.RawMessage(`{"x":3,"y":2,"note":"from 2019","targets":"all"}`)}
		require.Equal(t, rule.Details{Type: rule.XForY, X: 3, Y: 2}, odd.Details())
		require.JSONEq(t, `{"promotion_type":"x_for_y","schema":{"x":3,"y":2,"note":"from 2019","targets":"all"}}`, string(odd.RestDetails()))
	})
}

// promotionCreate and promotionUpdate warn of an automatic promotion beyond those that a cart considers.
func TestAutomaticPromotionsBeyondTheLimit(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		create := func(n int, automatic bool) string {
			return s.Post(t, fmt.Sprintf(`mutation { promotionCreate(input: {id: "auto-%d", name: "A", automatic: %t, enabled: true, start: "2024-01-01", end: "2100-01-01",
				details: {fixedDiscount: {amounts: [{amount: "1", currency: "USD"}]}}}) { warnings { field message } userErrors { message } } }`, n, automatic), nil).Body.String()
		}
		const none = `{"data":{"promotionCreate":{"warnings":[],"userErrors":[]}}}`
		n := 0
		for ; n < rule.MaxAutomatic; n++ {
			if got := strings.TrimSpace(create(n, true)); got != none {
				break // the shop has automatic promotions of its own
			}
		}
		require.Greater(t, n, rule.MaxAutomatic-10)
		require.Contains(t, create(n+1, true), `"field":["input","automatic"],"message":"automatic is set on 101 promotions`)
		require.Equal(t, none, strings.TrimSpace(create(n+2, false)))
	})
}
