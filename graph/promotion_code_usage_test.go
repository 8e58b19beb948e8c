package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store"
	"portico/store/storetest"
)

// A checkout checks a code, redeems it, and releases it when the order is not paid.
func TestCheckoutRedeemsAndReleasesACode(t *testing.T) {
	t.Parallel()
	const (
		check   = `query($code: String!, $user: String, $units: Int! = 1, $cartValue: MoneyInput) { promotionCodeCheck(code: $code, user: $user, units: $units, cartValue: $cartValue) { valid reasons { reason message } unitsApplied remainingUses promotionId } }`
		redeem  = `mutation($input: PromotionCodeRedeemInput!) { promotionCodeRedeem(input: $input) { unitsApplied reasons { reason message } usage { code user reference unitsAsked unitsApplied actor releasedAt promotionId } userErrors { field code message } } }`
		release = `mutation($reference: String!) { promotionCodeRelease(input: {reference: $reference}) { usages { code unitsApplied releasedAt } userErrors { field code message } } }`
	)
	spring := `"` + store.GlobalID(store.TypePromotion, "spring") + `"`
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		graphtest.LoadCodes(t, s)
		graphtest.Load(t, s.Store, `{"type":"promotion_code","id":"spring-2","promotion_id":"spring","code":"ITEMS","max_uses":5,"consume_unit":"per_item","user":"u1"}`)
		for _, step := range []struct {
			name, document string
			values         graphtest.Variables
			want           string
		}{
			{"a look", check, graphtest.Variables{"code": "ITEMS", "user": "u1", "units": 7, "cartValue": graphtest.Variables{"currency": "USD", "amount": "1999"}},
				`{"promotionCodeCheck":{"valid":true,"reasons":[],"unitsApplied":5,"remainingUses":5,"promotionId":` + spring + `}}`},
			{"a cart in another currency", check, graphtest.Variables{"code": "ITEMS", "user": "u1", "cartValue": graphtest.Variables{"currency": "EUR", "amount": "1999"}},
				`{"promotionCodeCheck":{"valid":false,"reasons":[{"reason":"OTHER_CURRENCY","message":"cartValue must be in a currency in which the promotion gives a discount, got EUR."}],"unitsApplied":0,"remainingUses":5,"promotionId":` + spring + `}}`},
			{"what is wrong", check, graphtest.Variables{"code": "ITEMS", "user": "u2", "units": 0},
				`{"promotionCodeCheck":{"valid":false,"reasons":[{"reason":"WRONG_USER","message":"user may not use this code: it is limited to other users."},` +
					`{"reason":"NO_UNITS","message":"units must be at least 1 for a code that counts per item, got 0."}],"unitsApplied":0,"remainingUses":5,"promotionId":` + spring + `}}`},
			{"without a user", check, graphtest.Variables{"code": "ITEMS"},
				`{"promotionCodeCheck":{"valid":false,"reasons":[{"reason":"USER_REQUIRED","message":"user is required for this code, which is limited to certain users."}],"unitsApplied":0,"remainingUses":5,"promotionId":` + spring + `}}`},
			{"unknown", check, graphtest.Variables{"code": "NONE"},
				`{"promotionCodeCheck":{"valid":false,"reasons":[{"reason":"UNKNOWN","message":"code is unknown: \"NONE\"."}],"unitsApplied":0,"remainingUses":null,"promotionId":null}}`},
			{"redeemed", redeem, graphtest.Variables{"input": map[string]any{"code": "ITEMS", "user": "u1", "units": 3, "reference": "o-1"}},
				`{"promotionCodeRedeem":{"unitsApplied":3,"reasons":[],"usage":{"code":"ITEMS","user":"u1","reference":"o-1","unitsAsked":3,"unitsApplied":3,"actor":"client:tester","releasedAt":null,"promotionId":` + spring + `},"userErrors":[]}}`},
			{"as much as is left", redeem, graphtest.Variables{"input": map[string]any{"code": "ITEMS", "user": "u1", "units": 3, "reference": "o-2"}},
				`{"promotionCodeRedeem":{"unitsApplied":2,"reasons":[],"usage":{"code":"ITEMS","user":"u1","reference":"o-2","unitsAsked":3,"unitsApplied":2,"actor":"client:tester","releasedAt":null,"promotionId":` + spring + `},"userErrors":[]}}`},
			{"refused, with all reasons", redeem, graphtest.Variables{"input": map[string]any{"code": "ITEMS", "user": "u2", "units": 3, "reference": "o-3"}},
				`{"promotionCodeRedeem":{"unitsApplied":0,"reasons":[{"reason":"USED_UP","message":"code is used up: its limit is 5 uses."},` +
					`{"reason":"WRONG_USER","message":"user may not use this code: it is limited to other users."}],"usage":null,"userErrors":[{"field":["input","code"],"code":"UNPROCESSABLE","message":"code is used up: its limit is 5 uses."},` +
					`{"field":["input","user"],"code":"UNPROCESSABLE","message":"user may not use this code: it is limited to other users."}]}}`},
			{"another member", redeem, graphtest.Variables{"input": map[string]any{"code": "ITEMS", "user": "u1", "units": 4, "reference": "o-1"}},
				`{"promotionCodeRedeem":{"unitsApplied":0,"reasons":[{"reason":"REFERENCE_USED","message":"reference has already redeemed this code for 3 units, got 4. Use another reference, or release this one."}],"usage":null,"userErrors":[{"field":["input","reference"],"code":"CONFLICT",` +
					`"message":"reference has already redeemed this code for 3 units, got 4. Use another reference, or release this one."}]}}`},
			{"released", release, graphtest.Variables{"reference": "o-1"},
				`{"promotionCodeRelease":{"usages":[{"code":"ITEMS","unitsApplied":3,"releasedAt":"2024-05-30T12:00:00.000Z"}],"userErrors":[]}}`},
			{"redeemed again after that", redeem, graphtest.Variables{"input": map[string]any{"code": "ITEMS", "user": "u1", "units": 3, "reference": "o-1"}},
				`{"promotionCodeRedeem":{"unitsApplied":0,"reasons":[{"reason":"REFERENCE_RELEASED","message":"reference has redeemed this code and was released. Use another reference."}],"usage":null,` +
					`"userErrors":[{"field":["input","reference"],"code":"UNPROCESSABLE","message":"reference has redeemed this code and was released. Use another reference."}]}}`},
			{"unknown to release", release, graphtest.Variables{"reference": "o-9"},
				`{"promotionCodeRelease":{"usages":[],"userErrors":[{"field":["input","reference"],"code":"NOT_FOUND","message":"reference has no usages: \"o-9\"."}]}}`},
		} {
			a := s.Post(t, step.document, step.values)
			require.Empty(t, a.Errors, step.name)
			require.JSONEq(t, step.want, string(a.Data), step.name)
		}
		a := s.Post(t, check, graphtest.Variables{"code": "ITEMS", "cartValue": graphtest.Variables{"currency": "USD", "amount": "19.99"}})
		require.Equal(t, []store.Code{store.Invalid}, a.Codes())
		require.Contains(t, a.Errors[0].Message, "cartValue.amount must be minor units")
	})
}
