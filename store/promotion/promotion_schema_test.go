package promotion_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/exchange"
	"portico/store/promotion"
	"portico/store/promotion/rule"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

func promotionRequired(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		_, err := d.Promotions.Create(t.Context(), storetest.Actor, "", promotion.Change{RequireDescription: true})
		requireErrors(t, err, "UNPROCESSABLE name", "UNPROCESSABLE promotion_type", "UNPROCESSABLE start", "UNPROCESSABLE end",
			"UNPROCESSABLE description", "UNPROCESSABLE schema")
		change := storetest.TenPercentOff(testkit.Noon)
		change.Description, change.RequireDescription = nil, true
		_, err = d.Promotions.Create(t.Context(), storetest.Actor, "", change)
		storetest.RequireError(t, err, store.Unprocessable, "description", "required", "may be empty")
		usd := []store.CurrencyAmount{{Currency: "USD", Minor: 500}}
		for _, kind := range []rule.PromotionType{rule.FixedDiscount, rule.ItemFixedDiscount} {
			change = storetest.TenPercentOff(testkit.Noon)
			change.Type, change.Schema = &kind, json.RawMessage(`{"currencies":[{"currency":"USD","amount":5}]}`)
			change.MaxDiscountValue = givenAmounts()
			p, err := d.Promotions.Create(t.Context(), storetest.Actor, "", change)
			require.NoError(t, err, "an empty list counts as absent")
			change.MaxDiscountValue = givenAmounts(usd...)
			_, err = d.Promotions.Create(t.Context(), storetest.Actor, "", change)
			storetest.RequireError(t, err, store.Unprocessable, "max_discount_value", string(kind))
			_, err = d.Promotions.Update(t.Context(), storetest.Actor, p.ID, promotion.Change{MaxDiscountValue: givenAmounts(usd...)}, false)
			storetest.RequireError(t, err, store.Unprocessable, "max_discount_value", string(kind))
		}
		change = storetest.TenPercentOff(testkit.Noon)
		change.MaxDiscountValue, change.MinCartValue = givenAmounts(usd...),
			givenAmounts(store.CurrencyAmount{Minor: 5}, store.CurrencyAmount{Currency: "usd", Minor: -1})
		_, err = d.Promotions.Create(t.Context(), storetest.Actor, "", change)
		requireErrors(t, err, "UNPROCESSABLE min_cart_value.0.currency", "INVALID min_cart_value.1.currency",
			"UNPROCESSABLE min_cart_value.1.amount")
		for members, member := range map[string]string{
			`,"min_cart_value":[{"currency":"USD"}]`: "min_cart_value.0.amount",
			`,"min_cart_value":[{"amount":5}]`:       "min_cart_value.0.currency",
			`,"max_discount_value":[{"amount":500}]`: "max_discount_value.0.currency",
			`,"description":null`:                    "description",
			`,"max_applications_per_cart":2.5`:       "max_applications_per_cart",
		} {
			_, err := d.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(storetest.PromotionLine("bad", members)), exchange.ImportOptions{})
			require.Equal(t, member, strings.Join(storetest.ImportErrors(t, err)[0].Err.Path, "."), members)
		}
		storetest.Import(t, d.Store, storetest.JoinLines(storetest.PromotionLine("whole",
			`,"max_applications_per_cart":2.0,"min_cart_value":[{"currency":"USD","amount":5e2}]`),
			storetest.CodeLine("whole", "WHOLE", `,"max_uses":2.0,"uses":1.0`)))
		p, err := d.Promotions.Get(t.Context(), "whole")
		require.NoError(t, err)
		require.Equal(t, []any{new(2), usd}, []any{p.MaxApplicationsPerCart, p.MinCartValue})
		c, err := d.Codes.Get(t.Context(), "WHOLE")
		require.NoError(t, err)
		require.Equal(t, []any{new(2), new(1)}, []any{c.MaxUses, c.RemainingUses()})
	}
}

func promotionOldSchema(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		change := storetest.TenPercentOff(d.Clock.Now())
		change.Type, change.Schema = new(rule.FixedDiscount), json.RawMessage(`{"currencies":[{"currency":"USD","amount":500}]}`)
		_, err := d.Promotions.Create(t.Context(), storetest.Actor, "old", change)
		require.NoError(t, err)
		storetest.Import(t, d.Store, strings.Replace(storetest.Export(t, d.Store), `"schema":`,
			`"max_discount_value":[{"currency":"USD","amount":300}],"schema":`, 1))
		require.Contains(t, storetest.Export(t, d.Store), `"max_discount_value":[{"currency":"USD","amount":300}]`)
		update, err := d.Promotions.Update(t.Context(), storetest.Actor, "old", promotion.Change{Enabled: new(false)}, false)
		require.NoError(t, err)
		require.Equal(t, []store.CurrencyAmount{{Currency: "USD", Minor: 300}}, update.Promotion.MaxDiscountValue)
		require.EqualValues(t, 300, update.Promotion.Capped(500, "USD"), "the stored schema keeps its meaning")
		_, err = d.Promotions.Update(t.Context(), storetest.Actor, "old", promotion.Change{Name: new("")}, false)
		requireErrors(t, err, "UNPROCESSABLE name")
		update, err = d.Promotions.Update(t.Context(), storetest.Actor, "old", promotion.Change{MaxDiscountValue: givenAmounts()}, false)
		require.NoError(t, err)
		require.Empty(t, update.Promotion.MaxDiscountValue)
	}
}

func promotionSchemas(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		schemas := map[rule.PromotionType][]string{
			rule.ItemFixedDiscount: {`{"currencies":[{"currency":"USD","amount":5.0}],"targets":"all"}`,
				`{"currencies":[{"currency":"USD","amount":5}]}`},
			rule.BundleFixedDiscount: {`{"requirements":[{"targets":"all","quantity":2},{"quantity":1.0,"targets":["A"]}],"targets":"all","currencies":[{"currency":"USD","amount":5}]}`, `{"currencies":[{"currency":"USD","amount":5}],"quantities":[1],"targets":[["A"]]}`},
			rule.PercentDiscount:     {`{"percent":5.50}`, `{"percent":5,"currencies":[]}`},
		}
		want := map[string]string{}
		for kind, list := range schemas {
			for i, schema := range list {
				change := storetest.TenPercentOff(testkit.Noon)
				change.Type, change.Schema, change.Currencies = &kind, json.RawMessage(schema), json.RawMessage(`[]`)
				id := fmt.Sprint(kind, i)
				_, err := d.Promotions.Create(t.Context(), storetest.Actor, id, change)
				require.NoError(t, err, schema)
				want[id] = schema
			}
		}
		text := storetest.Export(t, d.Store)
		for id := range want {
			require.NoError(t, storetest.DeletePromotion(t.Context(), d.Store, storetest.Actor, id))
		}
		storetest.Import(t, d.Store, text)
		require.Equal(t, text, storetest.Export(t, d.Store))
		for id, schema := range want {
			p, err := d.Promotions.Get(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, schema, string(p.Schema))
			if len(p.Currencies) > 0 {
				require.Equal(t, new(int64(5)), p.Currencies[0].Minor)
			}
		}
	}
}

// promotionDetailsAgain tests that details which were read mean the same when they are written again, for schemas with all
// members that REST can store.
func promotionDetailsAgain(d *storetest.SharedStore) func(*testing.T) {
	const (
		usd   = `{"currency":"USD","amount":5,"percentage":7}`
		eur   = `{"currency":"EUR","amount":6,"percentage":12.50}`
		scope = `,"gifts":["G"],"quantities":[2,1],"x":3.0,"y":2,"target_catalogs":["main"],"conditions":[{"and":[{"template":"t","field":"f","type":"integer","value":1}]}]`
	)
	values := []string{``, `"currencies":[` + usd + `,` + eur + `],"percent":10,`, `"currencies":[` + eur + `],`, `"currencies":[],"percent":10,`, `"currencies":[{"currency":"USD"}],"percent":10,`}
	forms := []string{`"targets":["A","B"]` + scope, `"targets":[["A","B"],["C"]]` + scope,
		`"requirements":[{"targets":["A","B"],"quantity":2},{"targets":"all","quantity":1.0},{"quantity":3}],"targets":"all","gifts":["G"],"x":3,"y":2,"target_catalogs":[],"conditions":[]`}
	return func(t *testing.T) {
		for _, kind := range rule.PromotionTypes() {
			var schemas []string
			for _, value := range values {
				for _, form := range forms {
					schemas = append(schemas, "{"+value+form+"}")
				}
			}
			written := 0
			for _, schema := range schemas {
				change := storetest.TenPercentOff(testkit.Noon)
				change.Type, change.Schema = &kind, json.RawMessage(schema)
				before, err := d.Promotions.Create(t.Context(), storetest.Actor, "", change)
				if err != nil {
					continue // of another kind
				}
				written++
				details := before.Details()
				in := &rule.DetailsInput{}
				*map[rule.PromotionType]**rule.Details{rule.FixedDiscount: &in.FixedDiscount, rule.PercentDiscount: &in.PercentDiscount,
					rule.ItemFixedDiscount: &in.ItemFixedDiscount, rule.ItemPercentDiscount: &in.ItemPercentDiscount, rule.XForY: &in.XForY, rule.XForAmount: &in.XForAmount,
					rule.BundleFixedDiscount: &in.BundleFixedDiscount, rule.BundleGift: &in.BundleGift}[kind] = &details
				update, err := d.Promotions.Update(t.Context(), storetest.Actor, before.ID, promotion.Change{Details: in}, false)
				require.NoError(t, err, "%s %s", kind, schema)
				require.Equal(t, string(details.Schema()), string(new(update.Promotion.Details()).Schema()), "%s %s", kind, schema)
				require.Equal(t, meaning(before), meaning(update.Promotion), "%s %s", kind, schema)
			}
			require.GreaterOrEqual(t, written, 2, kind)
		}
	}
}

// meaning returns what the rule of carts reads of a promotion.
func meaning(p *rule.Promotion) (list []any) {
	terms := p.Terms()
	list = append(list, p.Type, p.InCatalog("main"), p.InCatalog("outlet"), p.Exclusion(), terms.Targets, terms.X, terms.Y, terms.Gifts)
	for _, r := range terms.Requirements {
		list = append(list, r.Targets, r.Quantity)
	}
	for _, currency := range []string{"USD", "EUR", "CHF"} {
		minor, ok := p.AmountIn(currency)
		list = append(list, p.GivesIn(currency), minor, ok, p.PercentageIn(currency))
	}
	return list
}

func promotionCurrencies(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		change := storetest.TenPercentOff(testkit.Noon)
		change.Type, change.Schema = new(rule.XForAmount), json.RawMessage(`{"x":2,"targets":["A"],"currencies":[{"currency":"USD","amount":5},{"currency":"ZZZ","amount":5}]}`)
		change.MinCartValue = givenAmounts(store.CurrencyAmount{Currency: "QQQ", Minor: 5}, store.CurrencyAmount{Currency: "JPY", Minor: 5})
		change.MaxDiscountValue = givenAmounts(store.CurrencyAmount{Currency: "QQQ", Minor: 5})
		p, err := d.Promotions.Create(t.Context(), storetest.Actor, "", change)
		require.NoError(t, err, "a shop may have one, such as of points")
		var paths []string
		for _, warning := range p.CurrencyWarnings() {
			paths = append(paths, strings.Join(warning.Path, "."))
		}
		require.Equal(t, []string{"min_cart_value.0.currency", "max_discount_value.0.currency", "schema.currencies.1.currency"}, paths)
		update, err := d.Promotions.Update(t.Context(), storetest.Actor, p.ID, promotion.Change{MinCartValue: givenAmounts(), MaxDiscountValue: givenAmounts(), Currencies: json.RawMessage(`[{"currency":"USD","amount":5}]`)}, false)
		require.NoError(t, err)
		require.Empty(t, update.Promotion.CurrencyWarnings())
	}
}
