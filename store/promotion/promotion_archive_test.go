package promotion_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/promotion"
	"portico/store/promotion/code"
	"portico/store/promotion/redeem"
	"portico/store/promotion/rule"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// redeemedOnce creates promotion "p" with codes A and B. Order 1 has redeemed A.
func redeemedOnce(t *testing.T, d *storetest.SharedStore) {
	t.Helper()
	storetest.CreatePromotion(t, d.Store, "p", d.Clock.Now())
	require.NoError(t, storetest.AddCodes(d.Store, "p", "A", "B"))
	_, err := d.Redemptions.Redeem(t.Context(), storetest.Actor, redeem.CodeUse{Code: "A", User: "u", Units: 1, Reference: "order 1"})
	require.NoError(t, err)
}

func usageReferences(t *testing.T, s *shop.Store, id string, code *string) (references []string) {
	t.Helper()
	slice, err := s.Redemptions.CodeUsages(t.Context(), redeem.UsageFilter{PromotionID: new(id), Code: code}, store.ListQuery{})
	require.NoError(t, err)
	total, err := slice.Total(t.Context())
	require.NoError(t, err)
	require.Equal(t, len(slice.Items), total)
	for _, u := range slice.Items {
		require.Equal(t, id, u.PromotionID)
		references = append(references, u.Reference)
	}
	return references
}

func promotionArchived(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s, ctx := d.Store, t.Context()
		redeemedOnce(t, d)
		would, err := s.Promotions.Delete(ctx, storetest.Actor, "p", true)
		require.NoError(t, err)
		require.Equal(t, promotion.Deletion{CodesDeleted: 2, UsagesKept: 1}, would)
		require.Equal(t, []string{"A", "B"}, codesOf(t, s, "p"), "a dry run deletes nothing")
		done, err := s.Promotions.Delete(ctx, storetest.Actor, "p", false)
		require.NoError(t, err)
		require.Equal(t, would, done, "the result equals the dry run")

		for _, swept := range []bool{false, true} {
			if swept {
				require.NoError(t, s.Sweep(ctx))
				require.Equal(t, 1, storetest.CountRows(t, d.DB, "promotion_code"), "only next's code")
			}
			_, err = s.Promotions.Get(ctx, "p")
			storetest.RequireError(t, err, store.NotFound, "", "no promotion")
			list, err := s.Promotions.List(ctx, promotion.Filter{}, store.ListQuery{})
			require.NoError(t, err)
			require.Len(t, list.Items, storetest.CountRows(t, d.DB, "promotion"))
			_, err = s.Codes.Get(ctx, "B")
			storetest.RequireError(t, err, store.NotFound, "", "no promotion code")
			require.Equal(t, []string{"order 1"}, usageReferences(t, s, "p", nil))
			require.Equal(t, []string{"order 1"}, usageReferences(t, s, "p", new("A")))
			_, err = s.Redemptions.CodeUsages(ctx, redeem.UsageFilter{PromotionID: new("p"), Code: new("B")}, store.ListQuery{})
			storetest.RequireError(t, err, store.NotFound, "", "no code")
			if !swept {
				storetest.CreatePromotion(t, s, "next", d.Clock.Now())
				require.NoError(t, storetest.AddCodes(s, "next", "A"), "its codes are free at once")
			}
		}
		_, err = s.Promotions.Create(ctx, storetest.Actor, "p", storetest.TenPercentOff(d.Clock.Now()))
		storetest.RequireError(t, err, store.Unprocessable, "id", "deleted promotion")

		usages, err := s.Redemptions.Release(ctx, storetest.Actor, "order 1", nil)
		require.NoError(t, err)
		require.Len(t, usages, 1)
		require.True(t, usages[0].Released())
		require.Equal(t, "p", usages[0].PromotionID)
		code, err := s.Codes.Get(ctx, "A")
		require.NoError(t, err)
		require.Equal(t, []any{"next", 0}, []any{code.PromotionID, code.Used}, "the other promotion's code does not get the use back")
		_, err = s.Redemptions.Release(ctx, storetest.Actor, "order 2", nil)
		storetest.RequireError(t, err, store.NotFound, "reference")
	}
}

func archiveExpired(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		redeemedOnce(t, d)
		require.NoError(t, storetest.DeletePromotion(t.Context(), s, storetest.Actor, "p"))
		require.NoError(t, s.Sweep(t.Context()))
		require.Equal(t, 1, storetest.CountRows(t, d.DB, "promotion_archive"))
		defer d.Clock.Set(d.Clock.Now())
		d.Clock.Advance(store.DefaultRetention().CodeUsages + testkit.Day)
		require.NoError(t, s.Sweep(t.Context()))
		for _, table := range []string{"promotion", "promotion_archive", "promotion_code", "code_claim", "code_usage", "code_usage_total"} {
			require.Zero(t, storetest.CountRows(t, d.DB, table), table)
		}
		_, err := s.Redemptions.CodeUsages(t.Context(), redeem.UsageFilter{PromotionID: new("p")}, store.ListQuery{})
		storetest.RequireError(t, err, store.NotFound, "", "no promotion")
		_, err = s.Redemptions.Release(t.Context(), storetest.Actor, "order 1", nil)
		storetest.RequireError(t, err, store.NotFound, "reference")
		storetest.CreatePromotion(t, s, "p", d.Clock.Now())
	}
}

func archiveRestored(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		redeemedOnce(t, d)
		before := storetest.Export(t, s)
		require.NoError(t, storetest.DeletePromotion(t.Context(), s, storetest.Actor, "p"))
		require.NotContains(t, storetest.Export(t, s), "order 1", "exports omit a deleted promotion and its usages")
		storetest.Import(t, s, before)
		require.Zero(t, storetest.CountRows(t, d.DB, "promotion_archive"))
		require.Equal(t, []string{"A", "B"}, codesOf(t, s, "p"), "the codes of the file")
		require.Equal(t, []string{"order 1"}, usageReferences(t, s, "p", nil), "once each")
		again := storetest.Import(t, s, before)
		require.Zero(t, again.Changed, "importing the same file again changes nothing")
		require.NoError(t, s.Sweep(t.Context()))
		require.Equal(t, []string{"A", "B"}, codesOf(t, s, "p"), "the sweep deletes only the old codes")
		require.Equal(t, 2, storetest.CountRows(t, d.DB, "promotion_code"))
	}
}

// codeRecreated checks that a release returns uses to the code that had them, not to a later
// code with the same text.
func codeRecreated(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s, ctx := d.Store, t.Context()
		redeemedOnce(t, d)
		_, err := s.Codes.Delete(ctx, storetest.Actor, "p", []string{"A"})
		require.NoError(t, err)
		require.Equal(t, []string{"order 1"}, usageReferences(t, s, "p", new("A")), "a deleted code keeps its usages")
		d.Clock.Advance(testkit.Day / 2)
		_, _, err = s.Codes.Create(ctx, storetest.Actor, "p", []code.NewCode{{Code: "A", MaxUses: new(1)}}, "")
		require.NoError(t, err)
		_, err = s.Redemptions.Redeem(ctx, storetest.Actor, redeem.CodeUse{Code: "A", Units: 1, Reference: "order 2"})
		require.NoError(t, err)
		_, err = s.Redemptions.Release(ctx, storetest.Actor, "order 1", nil)
		require.NoError(t, err)
		_, err = s.Redemptions.Redeem(ctx, storetest.Actor, redeem.CodeUse{Code: "A", Units: 1, Reference: "order 3"})
		storetest.RequireError(t, err, store.Unprocessable, "code", "used up")
		_, err = s.Redemptions.Release(ctx, storetest.Actor, "order 2", nil)
		require.NoError(t, err)
		_, err = s.Redemptions.Redeem(ctx, storetest.Actor, redeem.CodeUse{Code: "A", Units: 1, Reference: "order 3"})
		require.NoError(t, err)
	}
}

func promotionNulls(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		five := store.CurrencyAmount{Currency: "USD", Minor: 5}
		change := storetest.TenPercentOff(d.Clock.Now())
		change.MinCartValue, change.MaxDiscountValue, change.MaxApplicationsPerCart = givenAmounts(five), givenAmounts(five), new(3)
		change.Schema = json.RawMessage(`{"percent":10,"currencies":[{"currency":"USD","percentage":5}],"target_catalogs":["a"],"conditions":{"and":[]}}`)
		_, err := d.Promotions.Create(t.Context(), storetest.Actor, "p", change)
		require.NoError(t, err)
		null := func(member string) error {
			_, err := d.Promotions.Update(t.Context(), storetest.Actor, "p", promotion.Change{RequireDescription: true, Nulls: store.Nulls{member}}, false)
			return err
		}
		for _, member := range []string{"name", "description", "promotion_type", "enabled", "automatic", "start", "end", "schema"} {
			storetest.RequireError(t, null(member), store.Unprocessable, member, "must not be null")
		}
		p, err := d.Promotions.Get(t.Context(), "p")
		require.NoError(t, err)
		require.NotEmpty(t, p.MinCartValue, "an absent member keeps its value")
		for member, cleared := range map[string]func(*rule.Promotion) bool{
			"min_cart_value":            func(p *rule.Promotion) bool { return len(p.MinCartValue) == 0 },
			"max_discount_value":        func(p *rule.Promotion) bool { return len(p.MaxDiscountValue) == 0 },
			"max_applications_per_cart": func(p *rule.Promotion) bool { return p.MaxApplicationsPerCart == nil },
			"currencies":                func(p *rule.Promotion) bool { return len(p.Currencies) == 0 },
			"target_catalogs":           func(p *rule.Promotion) bool { return p.TargetCatalogs == nil },
			"conditions":                func(p *rule.Promotion) bool { return p.Conditions == nil },
		} {
			require.False(t, cleared(p), member)
			require.NoError(t, null(member), member)
			after, err := d.Promotions.Get(t.Context(), "p")
			require.NoError(t, err)
			require.True(t, cleared(after), member)
		}
		fixed := rule.FixedDiscount
		_, err = d.Promotions.Update(t.Context(), storetest.Actor, "p",
			promotion.Change{Type: &fixed, Schema: json.RawMessage(`{"currencies":[{"currency":"USD","amount":5}]}`)}, false)
		require.NoError(t, err)
		storetest.RequireError(t, null("currencies"), store.Unprocessable, "currencies", "is required")
	}
}

func promotionScope(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		const scope = `"target_catalogs":["a"],"conditions":{"and":[]}`
		change := storetest.TenPercentOff(d.Clock.Now())
		change.Schema = json.RawMessage(`{"percent":10,` + scope + `}`)
		_, err := d.Promotions.Create(t.Context(), storetest.Actor, "p", change)
		require.NoError(t, err)
		for _, c := range []struct {
			change promotion.Change
			want   string
		}{
			{promotion.Change{Schema: json.RawMessage(`{"percent":20}`)}, `{"percent":20,` + scope + `}`},
			{promotion.Change{Schema: json.RawMessage(`{"percent":20,"target_catalogs":["b"]}`)},
				`{"percent":20,"target_catalogs":["b"],"conditions":{"and":[]}}`},
			{promotion.Change{Schema: json.RawMessage(`{"percent":20}`), TargetCatalogs: []string{"b"}},
				`{"percent":20,"target_catalogs":["b"],"conditions":{"and":[]}}`},
			{promotion.Change{Schema: json.RawMessage(`{"percent":20}`), Nulls: store.Nulls{"target_catalogs", "conditions"}},
				`{"percent":20}`},
			{promotion.Change{Schema: json.RawMessage(`{"percent":20,"conditions":null}`)},
				`{"percent":20,"conditions":null,"target_catalogs":["a"]}`},
			{promotion.Change{Schema: json.RawMessage(`{"percent":20,` + scope + `}`),
				Nulls: store.Nulls{"target_catalogs", "conditions"}}, `{"percent":20,` + scope + `}`},
			{promotion.Change{TargetCatalogs: []string{}}, `{"percent":10,"target_catalogs":[],"conditions":{"and":[]}}`},
			{promotion.Change{Enabled: new(false)}, `{"percent":10,` + scope + `}`},
		} {
			update, err := d.Promotions.Update(t.Context(), storetest.Actor, "p", c.change, true)
			require.NoError(t, err)
			require.JSONEq(t, c.want, string(update.Promotion.Schema), "%+v", c.change)
		}
		_, err = d.Promotions.Update(t.Context(), storetest.Actor, "p",
			promotion.Change{Currencies: json.RawMessage(`[{"currency":"usd","percentage":5}]`)}, false)
		storetest.RequireError(t, err, store.Invalid, "currencies.0.currency")
		_, err = d.Promotions.Update(t.Context(), storetest.Actor, "p",
			promotion.Change{Schema: json.RawMessage(`{"currencies":[{"currency":"usd","percentage":5}]}`)}, false)
		storetest.RequireError(t, err, store.Invalid, "schema.currencies.0.currency")
	}
}
