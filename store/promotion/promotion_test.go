package promotion_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/promotion"
	"portico/store/promotion/code"
	"portico/store/promotion/rule"
)

// TestIdempotencyInputEncoding pins the JSON of inputs, since servers of several versions compare the
// inputs of an idempotency key. REST and GraphQL inputs of the same value are equal.
func TestIdempotencyInputEncoding(t *testing.T) {
	t.Parallel()
	digits := func(text string) rule.AmountInput {
		a := rule.AmountInput{Currency: "USD"}
		a.SetDigits(text)
		return a
	}
	for want, input := range map[string]any{
		`{}`: promotion.Change{MinCartValue: []rule.AmountInput{}},
		`{"name":"n","enabled":true,"start":"n","end":"n","minCartValue":[{"amount":"5","currency":"USD"},{"amount":"05","currency":"USD"},{"amount":"none","currency":"USD"},{"amount":"","currency":""}],` +
			`"maxApplicationsPerCart":5,"details":{"xForY":{"x":3,"skus":[]}},"restDetails":{"x":3},"targetCatalogIds":["a"]}`: promotion.Change{Name: new("n"), Details: &rule.DetailsInput{XForY: &rule.Details{X: 3, SKUs: []string{}}},
			Enabled: new(true), Start: new("n"), End: new("n"), MaxApplicationsPerCart: new(5),
			MinCartValue: []rule.AmountInput{{Currency: "USD", Minor: new(int64(5))}, digits("05"), digits("none"), {}},
			RestDetails:  json.RawMessage(`{"x":3}`), TargetCatalogIDs: []string{"a"}},
		`[{},{"code":"A","users":["u"]},{"maxUses":5,"consumeUnit":"per_item","users":["u"]},{"users":[]}]`: []*code.NewCode{{},
			{Code: "A", User: code.OneCodeUser("u")},
			{MaxUses: new(5), ConsumeUnit: code.PerItem, User: code.Users([]string{"u"})}, {User: code.Users([]string{})}},
	} {
		require.JSONEq(t, want, string(store.Encode(input)))
	}
}
