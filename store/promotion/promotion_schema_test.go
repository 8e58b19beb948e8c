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
)

func promotionRequired(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		_, err := d.Promotions.Create(t.Context(), storetest.Actor, "", promotion.PromotionChange{})
		requireErrors(t, err, "UNPROCESSABLE name", "UNPROCESSABLE promotion_type", "UNPROCESSABLE start", "UNPROCESSABLE end",
			"UNPROCESSABLE description", "UNPROCESSABLE schema")
		change := storetest.TenPercentOff(storetest.Noon)
		change.Description = nil
		_, err = d.Promotions.Create(t.Context(), storetest.Actor, "", change)
		storetest.RequireError(t, err, store.Unprocessable, "description", "required", "may be empty")
		usd := []store.CurrencyAmount{{Currency: "USD", Minor: 500}}
		for _, kind := range []rule.PromotionType{rule.FixedDiscount, rule.ItemFixedDiscount} {
			change = storetest.TenPercentOff(storetest.Noon)
			change.Type, change.Schema = &kind, json.RawMessage(`{"currencies":[{"currency":"USD","amount":5}]}`)
			change.MaxDiscountValue = givenAmounts()
			p, err := d.Promotions.Create(t.Context(), storetest.Actor, "", change)
			require.NoError(t, err, "an empty list counts as absent")
			change.MaxDiscountValue = givenAmounts(usd...)
			_, err = d.Promotions.Create(t.Context(), storetest.Actor, "", change)
			storetest.RequireError(t, err, store.Unprocessable, "max_discount_value", string(kind))
			_, err = d.Promotions.Update(t.Context(), storetest.Actor, p.ID, promotion.PromotionChange{MaxDiscountValue: givenAmounts(usd...)}, false)
			storetest.RequireError(t, err, store.Unprocessable, "max_discount_value", string(kind))
		}
		change = storetest.TenPercentOff(storetest.Noon)
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
		update, err := d.Promotions.Update(t.Context(), storetest.Actor, "old", promotion.PromotionChange{Enabled: new(false)}, false)
		require.NoError(t, err)
		require.Equal(t, []store.CurrencyAmount{{Currency: "USD", Minor: 300}}, update.Promotion.MaxDiscountValue)
		require.EqualValues(t, 300, update.Promotion.Capped(500, "USD"), "the stored schema keeps its meaning")
		_, err = d.Promotions.Update(t.Context(), storetest.Actor, "old", promotion.PromotionChange{Name: new("")}, false)
		requireErrors(t, err, "UNPROCESSABLE name")
		update, err = d.Promotions.Update(t.Context(), storetest.Actor, "old", promotion.PromotionChange{MaxDiscountValue: givenAmounts()}, false)
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
				change := storetest.TenPercentOff(storetest.Noon)
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
