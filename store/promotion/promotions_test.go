package promotion_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/promotion"
	"portico/store/promotion/rule"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

func TestPromotions(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		d := storetest.NewSharedStore(t, backend)
		d.Run(t, "create, update and delete", promotionLifecycle)
		d.Run(t, "schemas of each type", promotionSchemaRules)
		d.Run(t, "targetCatalogs and conditions outside the schema", promotionSchemaMembers)
		d.Run(t, "list", promotionListed)
		d.Run(t, "states over time", promotionStates)
		d.Run(t, "a dry run changes nothing", promotionDryRun)
		d.Run(t, "automatic codes", promotionAutomatic)
		d.Run(t, "a deleted promotion frees its codes and keeps its usages", promotionArchived)
		d.Run(t, "deleting a promotion without usages removes it", promotionRemoved)
		d.Run(t, "a deleted promotion disappears with its last usage", archiveExpired)
		d.Run(t, "an import restores a deleted promotion with its usages", archiveRestored)
		d.Run(t, "a release does not return uses to a later code with the same text", codeRecreated)
		d.Run(t, "null clears an optional member and is refused for a required one", promotionNulls)
		d.Run(t, "a new schema keeps catalogs and conditions", promotionScope)
		d.Run(t, "create, find, list and delete codes", codesLifecycle)
		d.Run(t, "an error reports each invalid code, and nothing is written", codesRefused)
		d.Run(t, "10,000 codes take few statements", codesMaximum)
		d.Run(t, "statements of a read do not depend on the number of codes", codesStatements)
		d.Run(t, "imported codes follow the same rules", codesImported)
		d.Run(t, "required members", promotionRequired)
		d.Run(t, "a schema stored before its rule existed can still be updated", promotionOldSchema)
		d.Run(t, "all forms of a schema survive export and import", promotionSchemas)
		d.Run(t, "details that were read can be written again", promotionDetailsAgain)
		d.Run(t, "currencies that ISO 4217 does not have", promotionCurrencies)
		d.Run(t, "an error reports all mistakes of a batch of codes", codesInvalid)
		d.Run(t, "a code's user keeps its JSON form", codeUserForms)
		d.Run(t, "rows that no request can write", codeUserRows)
		d.Run(t, "texts of codes", codeTexts)
		d.Run(t, "CSV exports contain no formulas", codeCells)
		t.Run("random writes: no two active promotions share a code", codesModel(backend))
		t.Run("concurrent promotions never share a code", codesRaced(backend))
		t.Run("re-enabling concurrently with adding codes", reenabledRaced(backend))
	})
}

func promotionLifecycle(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		now := d.Clock.Now()
		p, err := s.Promotions.Create(t.Context(), storetest.Actor, "C0FFEE00-0000-4000-8000-000000000001", promotion.Change{
			Name: new("Off"), Description: new("Something off."), Type: new(rule.FixedDiscount), Start: new("2024-06-01"),
			End:                    new("2024-06-02 "[:10] + "T09:30"),
			MinCartValue:           givenAmounts(store.CurrencyAmount{Currency: "USD", Minor: 5000}),
			MaxApplicationsPerCart: new(2), Schema: json.RawMessage(`{"currencies": [{"currency":"USD","amount":1000}], "target_catalogs": ["main"], "conditions": {"and":[{"template":"t","field":"f","type":"integer","value":"7"}]}}`)})
		require.NoError(t, err)
		require.Equal(t, "c0ffee00-0000-4000-8000-000000000001", p.ID, "canonical ID")
		require.Equal(t, []any{"Off", "Something off.", false, false, rule.PromotionDisabled, new(2)},
			[]any{p.Name, p.Description, p.Enabled, p.Automatic, p.State, p.MaxApplicationsPerCart})
		require.Equal(t, time.Date(2024, 6, 1, 0, 0, 0, 0, time.UTC), p.Start)
		require.Equal(t, time.Date(2024, 6, 2, 9, 30, 0, 0, time.UTC), p.End)
		require.Equal(t, `{"currencies":[{"currency":"USD","amount":1000}],"target_catalogs":["main"],"conditions":{"and":[{"template":"t","field":"f","type":"integer","value":"7"}]}}`, string(p.Schema), "as it was written")
		require.Equal(t, []rule.PromotionCurrency{{Currency: "USD", Minor: new(int64(1000))}}, p.Currencies)
		require.Equal(t, []string{"main"}, p.TargetCatalogs)
		require.JSONEq(t, `{"and":[{"template":"t","field":"f","type":"integer","value":"7"}]}`, string(p.Conditions))
		require.Equal(t, []time.Time{now, now}, []time.Time{p.CreatedAt, p.UpdatedAt})

		later := d.Clock.Advance(time.Minute)
		update, err := s.Promotions.Update(t.Context(), storetest.Actor, p.ID,
			promotion.Change{Enabled: new(true), MinCartValue: givenAmounts()}, false)
		require.NoError(t, err)
		changed := update.Promotion
		require.Equal(t, []any{"Off", true, rule.PromotionScheduled, 0},
			[]any{changed.Name, changed.Enabled, changed.State, len(changed.MinCartValue)})
		require.Equal(t, []time.Time{now, later}, []time.Time{changed.CreatedAt, changed.UpdatedAt})
		read, err := s.Promotions.Get(t.Context(), p.ID)
		require.NoError(t, err)
		require.Equal(t, changed, read)

		d.Clock.Advance(time.Minute)
		update, err = s.Promotions.Update(t.Context(), storetest.Actor, p.ID, promotion.Change{Enabled: new(true)}, false)
		require.NoError(t, err)
		require.Equal(t, later, update.Promotion.UpdatedAt, "no member changed")

		_, err = s.Promotions.Create(t.Context(), storetest.Actor, p.ID, storetest.TenPercentOff(now))
		storetest.RequireError(t, err, store.Unprocessable, "id", "is already used")
		require.NoError(t, storetest.DeletePromotion(t.Context(), s, storetest.Actor, p.ID))
		for _, id := range []string{p.ID, "nowhere", "\x00"} {
			_, err = s.Promotions.Get(t.Context(), id)
			storetest.RequireError(t, err, store.NotFound, "", "no promotion")
			storetest.RequireError(t, storetest.DeletePromotion(t.Context(), s, storetest.Actor, id), store.NotFound, "id", "does not exist")
			_, err = s.Promotions.Update(t.Context(), storetest.Actor, id, promotion.Change{}, false)
			storetest.RequireError(t, err, store.NotFound, "id", "does not exist")
		}
	}
}

func promotionSchemaRules(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		deep := strings.Repeat(`{"and":[`, 12) + strings.Repeat(`]}`, 12)
		leaf := func(kind, value string) string {
			return `{"percent":5,"conditions":[{"template":"t","field":"f","type":"` + kind + `","value":` + value + `}]}`
		}
		usd := `"currencies":[{"currency":"USD","amount":5}]`
		for _, c := range []struct {
			kind   rule.PromotionType
			schema string
			member string // of the error; empty for none
		}{
			{rule.FixedDiscount, `{` + usd + `}`, ""},
			{rule.FixedDiscount, `{}`, "schema.currencies"},
			{rule.FixedDiscount, `{"currencies":[]}`, "schema.currencies"},
			{rule.FixedDiscount, `{"currencies":{}}`, "schema.currencies"},
			{rule.FixedDiscount, `{"currencies":[{"currency":"USD"}]}`, "schema.currencies.0.amount"},
			{rule.FixedDiscount, `{"currencies":[{"currency":"USD","amount":1.5}]}`, "schema.currencies.0.amount"},
			{rule.FixedDiscount, `{"currencies":[{"currency":"USD","amount":-1}]}`, "schema.currencies.0.amount"},
			{rule.FixedDiscount, `{"currencies":[{"currency":"usd","amount":1}]}`, "schema.currencies.0.currency"},
			{rule.FixedDiscount, `{"currencies":[{"currency":"USD","amount":1},{"currency":"USD","amount":2}]}`, "schema.currencies.1.currency"},
			{rule.FixedDiscount, `{"currencies":[5]}`, "schema.currencies.0"},
			{rule.FixedDiscount, `[]`, "schema"},
			{rule.PercentDiscount, `{"percent":100}`, ""},
			{rule.PercentDiscount, `{"currencies":[{"currency":"USD","percentage":2.5}]}`, ""},
			{rule.PercentDiscount, `{}`, "schema.percent"},
			{rule.PercentDiscount, `{"percent":0}`, "schema.percent"},
			{rule.PercentDiscount, `{"percent":100.01}`, "schema.percent"},
			{rule.PercentDiscount, `{"percent":"5"}`, "schema.percent"},
			{rule.PercentDiscount, `{"percent":1e1}`, "schema.percent"},
			{rule.PercentDiscount, `{"currencies":[{"currency":"USD","amount":5}]}`, "schema.currencies.0.percentage"},
			{rule.PercentDiscount, `{"currencies":[]}`, "schema.currencies"},
			{rule.ItemFixedDiscount, `{` + usd + `,"targets":[]}`, ""},
			{rule.ItemFixedDiscount, `{` + usd + `,"targets":["A",5]}`, "schema.targets.1"},
			{rule.ItemPercentDiscount, `{"percent":5.0,"targets":["A"],"currencies":[]}`, ""},
			{rule.ItemPercentDiscount, `{"targets":["A"]}`, "schema.percent"},
			{rule.XForY, `{"x":3,"y":2,"targets":["A"]}`, ""},
			{rule.XForY, `{"x":2,"y":2,"targets":["A"]}`, "schema.x"},
			{rule.XForY, `{"x":2,"y":0,"targets":["A"]}`, "schema.y"},
			{rule.XForY, `{"x":3,"y":2,"targets":[]}`, "schema.targets"},
			{rule.XForY, `{"x":3,"y":2}`, "schema.targets"},
			{rule.XForAmount, `{"x":3,` + usd + `,"targets":["A"]}`, ""},
			{rule.XForAmount, `{` + usd + `,"targets":["A"]}`, "schema.x"},
			{rule.BundleFixedDiscount, `{` + usd + `,"targets":[["A","B"],["C"]],"quantities":[1,2]}`, ""},
			{rule.BundleFixedDiscount, `{` + usd + `,"targets":[["A","B"],["C"]],"quantities":[1]}`, "schema.quantities"},
			{rule.BundleFixedDiscount, `{` + usd + `,"targets":["A"],"quantities":[1]}`, "schema.targets.0"},
			{rule.BundleFixedDiscount, `{` + usd + `,"targets":[["A"]],"quantities":[0]}`, "schema.quantities.0"},
			{rule.BundleFixedDiscount, `{` + usd + `,"requirements":[{"targets":["A","B"],"quantity":1},{"targets":["C"],"quantity":2}]}`, ""},
			{rule.BundleFixedDiscount, `{` + usd + `,"requirements":[{"targets":"all","quantity":2}],"targets":"all"}`, ""},
			{rule.BundleFixedDiscount, `{` + usd + `,"requirements":[{"quantity":2.0}],"targets":null}`, ""},
			{rule.BundleFixedDiscount, `{` + usd + `}`, "schema.requirements"},
			{rule.BundleFixedDiscount, `{` + usd + `,"targets":"all","quantities":[1]}`, "schema.requirements"},
			{rule.BundleFixedDiscount, `{` + usd + `,"targets":[["A"]]}`, "schema.quantities"},
			{rule.BundleFixedDiscount, `{` + usd + `,"requirements":[]}`, "schema.requirements"},
			{rule.BundleFixedDiscount, `{` + usd + `,"requirements":{}}`, "schema.requirements"},
			{rule.BundleFixedDiscount, `{` + usd + `,"requirements":[5]}`, "schema.requirements.0"},
			{rule.BundleFixedDiscount, `{` + usd + `,"requirements":[{"targets":["A"]}]}`, "schema.requirements.0.quantity"},
			{rule.BundleFixedDiscount, `{` + usd + `,"requirements":[{"targets":["A"],"quantity":0}]}`, "schema.requirements.0.quantity"},
			{rule.BundleFixedDiscount, `{` + usd + `,"requirements":[{"targets":[],"quantity":1}]}`, "schema.requirements.0.targets"},
			{rule.BundleFixedDiscount, `{` + usd + `,"requirements":[{"targets":[""],"quantity":1}]}`, "schema.requirements.0.targets.0"},
			{rule.BundleFixedDiscount, `{` + usd + `,"requirements":[{"targets":"some","quantity":1}]}`, "schema.requirements.0.targets"},
			{rule.BundleFixedDiscount, `{` + usd + `,"requirements":[{"targets":["A"],"quantity":1}],"targets":[["A"]],"quantities":[1]}`,
				"schema.targets"},
			{rule.BundleGift, `{"gifts":["G"],"requirements":[{"targets":["A"],"quantity":1}]}`, ""},
			{rule.BundleGift, `{"gifts":["G"]}`, "schema.requirements"},
			{rule.BundleGift, `{"gifts":[` + repeated(100, `"G"`) + `],"requirements":[` + repeated(100, `{"targets":["A"],"quantity":1}`) + `]}`, ""},
			{rule.BundleGift, `{"gifts":[` + repeated(101, `"G"`) + `],"requirements":[{"targets":["A"],"quantity":1}]}`, "schema.gifts"},
			{rule.BundleGift, `{"gifts":["G"],"requirements":[` + repeated(101, `{"targets":["A"],"quantity":1}`) + `]}`, "schema.requirements"},
			{rule.BundleFixedDiscount, `{"currencies":[{"currency":"USD","amount":5}],"targets":[` + repeated(101, `["A"]`) + `],"quantities":[` + repeated(101, "1") + `]}`, "schema.targets"},
			{rule.ItemFixedDiscount, `{` + usd + `,"targets":"all"}`, ""},
			{rule.ItemPercentDiscount, `{"percent":5,"targets":"all"}`, ""},
			{rule.FixedDiscount, `{"currencies":[{"currency":"USD","amount":5.0}],"targets":"all"}`, ""},
			{rule.ItemPercentDiscount, `{"percent":5,"targets":"every"}`, "schema.targets"},
			{rule.XForY, `{"x":3.0,"y":2e0,"targets":["A"]}`, ""},
			{rule.XForY, `{"x":3,"y":2,"targets":"all"}`, "schema.targets"},
			{rule.BundleGift, `{"gifts":["G"],"targets":[["A"]],"quantities":[1]}`, ""},
			{rule.BundleGift, `{"gifts":[],"targets":[["A"]],"quantities":[1]}`, "schema.gifts"},
			{rule.BundleGift, `{"targets":[["A"]],"quantities":[1]}`, "schema.gifts"},
			{"half_price", `{}`, "promotion_type"},
			{rule.PercentDiscount, `{"percent":5,"target_catalogs":"main"}`, "schema.target_catalogs"},
			{rule.PercentDiscount, `{"percent":5,"conditions":5}`, "schema.conditions"},
			{rule.PercentDiscount, `{"percent":5,"conditions":` + deep + `}`,
				"schema.conditions.and.0.and.0.and.0.and.0.and.0.and.0.and.0.and.0.and.0.and.0"},
			{rule.PercentDiscount, leaf("integer", `"7"`), ""}, {rule.PercentDiscount, leaf("integer", `7`), ""},
			{rule.PercentDiscount, leaf("integer", `"7.5"`), "schema.conditions.0.value"},
			{rule.PercentDiscount, leaf("boolean", `"true"`), ""}, {rule.PercentDiscount, leaf("boolean", `"yes"`), "schema.conditions.0.value"},
			{rule.PercentDiscount, leaf("float", `"1.5"`), ""}, {rule.PercentDiscount, leaf("float", `"NaN"`), "schema.conditions.0.value"},
			{rule.PercentDiscount, leaf("date", `"2024-01-01"`), ""}, {rule.PercentDiscount, leaf("date", `"soon"`), "schema.conditions.0.value"},
			{rule.PercentDiscount, leaf("string", `"x"`), ""}, {rule.PercentDiscount, leaf("string", `5`), "schema.conditions.0.value"},
			{rule.PercentDiscount, leaf("colour", `"x"`), "schema.conditions.0.type"},
			{rule.PercentDiscount, `{"percent":5,"conditions":[{"field":"f","type":"string","value":"x"}]}`, "schema.conditions.0.template"},
		} {
			change := storetest.TenPercentOff(testkit.Noon)
			change.Type, change.Schema = &c.kind, json.RawMessage(c.schema)
			p, err := d.Promotions.Create(t.Context(), storetest.Actor, "", change)
			if c.member == "" {
				require.NoError(t, err, "%s %s", c.kind, c.schema)
				require.Equal(t, c.schema, string(p.Schema), "as it was sent")
				continue
			}
			require.Error(t, err, "%s %s", c.kind, c.schema)
			require.Equal(t, c.member, strings.Join(store.AsErrors(err)[0].Path, "."), "%s %s: %v", c.kind, c.schema, err)
		}
		change := storetest.TenPercentOff(testkit.Noon)
		change.Name, change.Start, change.End = new(""), new("soon"), new("2024-13-01")
		_, err := d.Promotions.Create(t.Context(), storetest.Actor, "", change)
		require.Len(t, store.AsErrors(err), 3, "all errors at once: %v", err)
		change = storetest.TenPercentOff(testkit.Noon)
		change.End = change.Start
		_, err = d.Promotions.Create(t.Context(), storetest.Actor, "", change)
		storetest.RequireError(t, err, store.Unprocessable, "end", "must be after start")
	}
}

func promotionSchemaMembers(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		change := storetest.TenPercentOff(testkit.Noon)
		change.TargetCatalogs, change.Conditions = []string{"main"}, json.RawMessage(`{}`)
		p, err := d.Promotions.Create(t.Context(), storetest.Actor, "p", change)
		require.NoError(t, err)
		require.Equal(t, `{"percent":10,"target_catalogs":["main"],"conditions":{}}`, string(p.Schema))
		update, err := d.Promotions.Update(t.Context(), storetest.Actor, "p",
			promotion.Change{TargetCatalogs: []string{"outlet"}, Nulls: store.Nulls{"conditions"}}, false)
		require.NoError(t, err)
		require.JSONEq(t, `{"percent":10,"target_catalogs":["outlet"]}`, string(update.Promotion.Schema))
		update, err = d.Promotions.Update(t.Context(), storetest.Actor, "p",
			promotion.Change{Schema: json.RawMessage(`{"percent":5,"target_catalogs":["a"]}`), TargetCatalogs: []string{"b"}}, false)
		require.NoError(t, err)
		require.Equal(t, []string{"a"}, update.Promotion.TargetCatalogs, "the schema's own member wins")

		size := rule.Condition{Template: "shoes", Field: "size", Type: rule.ConditionInteger, Value: "42"}
		update, err = d.Promotions.Update(t.Context(), storetest.Actor, "p", promotion.Change{ItemConditions: []rule.Condition{size}}, false)
		require.NoError(t, err)
		require.Equal(t, []rule.Condition{size}, update.Promotion.ItemConditions())
		require.True(t, update.Promotion.Exclusion().Excludes(rule.DecodeItemFields(json.RawMessage(`{"products(shoes)":{"size":42}}`))))
		size.Value = "large"
		for path, change := range map[string]promotion.Change{
			"item_conditions.0.value": {ItemConditions: []rule.Condition{size}},
			"item_conditions.0.field": {ItemConditions: []rule.Condition{{Template: "t", Type: rule.ConditionString}}},
		} {
			_, err = d.Promotions.Update(t.Context(), storetest.Actor, "p", change, false)
			require.Error(t, err, path)
			require.Equal(t, path, strings.Join(store.AsErrors(err)[0].Path, "."))
		}
		update, err = d.Promotions.Update(t.Context(), storetest.Actor, "p", promotion.Change{Nulls: store.Nulls{"item_conditions"}}, false)
		require.NoError(t, err)
		require.Empty(t, update.Promotion.ItemConditions())
		require.NotContains(t, string(update.Promotion.Schema), "conditions")
	}
}

func promotionListed(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		for i, name := range []string{"Étude", "apple", "Zebra", "Apple pie", "zebra 2"} {
			change := storetest.TenPercentOff(d.Clock.Now())
			change.Name, change.Enabled = &name, new(i%2 == 0)
			if i == 4 {
				change.Start = new(d.Clock.Now().Add(time.Hour).Format(storetest.TimeFormat))
			}
			_, err := d.Promotions.Create(t.Context(), storetest.Actor, fmt.Sprintf("p%d", i), change)
			require.NoError(t, err)
			d.Clock.Advance(time.Minute)
		}
		for _, c := range []struct {
			filter promotion.Filter
			sort   store.Sort
			want   string
		}{
			{promotion.Filter{}, store.Sort{}, "p0 p1 p2 p3 p4"},
			{promotion.Filter{}, store.Sort{By: store.SortName}, "p1 p3 p0 p2 p4"},
			{promotion.Filter{}, store.Sort{By: store.SortName, Descending: true}, "p4 p2 p0 p3 p1"},
			{promotion.Filter{}, store.Sort{By: store.SortCreatedAt, Descending: true}, "p4 p3 p2 p1 p0"},
			{promotion.Filter{Search: "apple"}, store.Sort{}, "p1 p3"},
			{promotion.Filter{Search: "etu"}, store.Sort{}, "p0"},
			{promotion.Filter{Search: "PIE app"}, store.Sort{}, "p3"},
			{promotion.Filter{NameLike: new("apple")}, store.Sort{}, "p1"},
			{promotion.Filter{NameLike: new("APPLE*")}, store.Sort{}, "p1 p3"},
			{promotion.Filter{NameLike: new("*apple")}, store.Sort{}, "p1"},
			{promotion.Filter{NameLike: new("*pie")}, store.Sort{}, "p3"},
			{promotion.Filter{NameLike: new("*ppl*")}, store.Sort{}, "p1 p3"},
			{promotion.Filter{NameLike: new("ppl*")}, store.Sort{}, ""},
			{promotion.Filter{NameLike: new("*longer than any name")}, store.Sort{}, ""},
			{promotion.Filter{NameLike: new("*A 2")}, store.Sort{}, "p4"},
			{promotion.Filter{NameLike: new("é*")}, store.Sort{}, "p0"},
			{promotion.Filter{NameLike: new("*DE")}, store.Sort{}, "p0"},
			{promotion.Filter{NameLike: new("*")}, store.Sort{}, "p0 p1 p2 p3 p4"},
			{promotion.Filter{NameLike: new("**")}, store.Sort{}, "p0 p1 p2 p3 p4"},
			{promotion.Filter{NameLike: new("")}, store.Sort{}, ""},
			{promotion.Filter{NameLike: new(`\*`)}, store.Sort{}, ""},
			{promotion.Filter{NameLike: new("%a%")}, store.Sort{}, ""},
			{promotion.Filter{IDs: []string{"p4", "p1", "none"}}, store.Sort{}, "p1 p4"},
			{promotion.Filter{Names: []string{"Zebra"}}, store.Sort{}, "p2"},
			{promotion.Filter{Types: []rule.PromotionType{rule.XForY}}, store.Sort{}, ""},
			{promotion.Filter{Enabled: new(true)}, store.Sort{}, "p0 p2 p4"},
			{promotion.Filter{Automatic: new(true)}, store.Sort{}, ""},
			{promotion.Filter{States: []rule.PromotionState{rule.PromotionActive}}, store.Sort{}, "p0 p2"},
			{promotion.Filter{States: []rule.PromotionState{rule.PromotionScheduled, rule.PromotionDisabled}}, store.Sort{}, "p1 p3 p4"},
			{promotion.Filter{States: []rule.PromotionState{rule.PromotionExpired}}, store.Sort{}, ""},
		} {
			var ids []string
			var after *string
			for { // one row per page
				slice, err := d.Promotions.List(t.Context(), c.filter, store.ListQuery{Sort: c.sort, Page: store.Page{First: new(1), After: after}})
				require.NoError(t, err)
				for _, p := range slice.Items {
					ids = append(ids, p.ID)
				}
				if !slice.HasNext {
					break
				}
				after = &slice.Cursors()[0]
				d.Clock.Advance(time.Millisecond)
			}
			require.Equal(t, c.want, strings.Join(ids, " "), "%+v", c)
			slice, err := d.Promotions.List(t.Context(), c.filter, store.ListQuery{Sort: c.sort})
			require.NoError(t, err)
			total, err := slice.Total(t.Context())
			require.NoError(t, err)
			require.Equal(t, len(ids), total)
		}
		_, err := d.Promotions.List(t.Context(), promotion.Filter{Names: []string{"\x00"}}, store.ListQuery{})
		storetest.RequireError(t, err, store.Invalid, "filter", "UTF-8")
		for _, bad := range []string{"a*b", "***", "\x00*"} {
			_, err := d.Promotions.List(t.Context(), promotion.Filter{NameLike: &bad}, store.ListQuery{})
			storetest.RequireError(t, err, store.Invalid, "filter", "compares name")
		}
	}
}

// repeated returns a JSON text several times, separated by commas.
func repeated(times int, text string) string {
	return strings.Join(slices.Repeat([]string{text}, times), ",")
}
