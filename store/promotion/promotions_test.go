package promotion_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/promotion"
	"portico/store/promotion/rule"
	"portico/store/storetest"
)

// TestPromotions is the promise of the store's promotions and their codes.
func TestPromotions(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		d := storetest.NewSharedStore(t, backend)
		d.Run(t, "a promotion is made, changed and removed", promotionKept)
		d.Run(t, "what each type needs is asked for", promotionNeeds)
		d.Run(t, "members beside the schema are part of it", promotionBeside)
		d.Run(t, "a list is filtered, searched, sorted and paged", promotionListed)
		d.Run(t, "the clock walks it through its states", promotionWalk)
		d.Run(t, "a dry run tells and changes nothing", promotionDryRun)
		d.Run(t, "the automatic code is kept in step", promotionAutomatic)
		d.Run(t, "a deleted promotion frees its codes and keeps its usages", promotionArchived)
		d.Run(t, "a deleted promotion without usages leaves nothing", promotionRemoved)
		d.Run(t, "a deleted promotion is gone once its usages expire", archiveExpired)
		d.Run(t, "an import restores a deleted promotion with its usages", archiveRestored)
		d.Run(t, "a release gives nothing back to a later code of the same text", codeMadeAgain)
		d.Run(t, "null clears an optional member and is refused for a required one", promotionNulls)
		d.Run(t, "a new schema keeps where the promotion applies", promotionScope)
		d.Run(t, "codes are made, found, listed and removed", codesKept)
		d.Run(t, "every faulty row is told, and nothing is written", codesRefused)
		d.Run(t, "ten thousand codes take few statements", codesMany)
		d.Run(t, "reading codes costs the same however many", codesStatements)
		d.Run(t, "an import of codes keeps to the rules", codesImported)
		d.Run(t, "members that are required are asked for by name", promotionRequired)
		d.Run(t, "what stood before it was refused keeps nobody from a change", promotionStood)
		d.Run(t, "every form of a schema is exported and imported", promotionSchemas)
		d.Run(t, "all that is wrong with a batch of codes is told at once", codesFaulty)
		d.Run(t, "who may use a code is kept in the form it was given in", codeUserForms)
		d.Run(t, "old rows of codes and users are read", codeUserRows)
		d.Run(t, "a code is text that a path can name", codeTexts)
		d.Run(t, "no cell of an export is a formula", codeCells)
		t.Run("two promotions never share a code that counts", codesModel(backend))
		t.Run("racing promotions never share a code", codesRaced(backend))
		t.Run("a promotion enabled again races with its codes", reenabledRaced(backend))
	})
}

// given are amounts as callers give them.
func given(amounts ...store.CurrencyAmount) []rule.GivenAmount {
	list := make([]rule.GivenAmount, len(amounts))
	for i, a := range amounts {
		list[i] = rule.GivenAmount{Currency: a.Currency, Minor: &a.Minor}
	}
	return list
}

func promotionKept(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		now := d.Clock.Now()
		p, err := s.CreatePromotion(t.Context(), storetest.Actor, "C0FFEE00-0000-4000-8000-000000000001", promotion.PromotionChange{
			Name: new("Off"), Description: new("Something off."), Type: new(rule.FixedDiscount), Start: new("2024-06-01"), End: new("2024-06-02 "[:10] + "T09:30"),
			MinCartValue:           given(store.CurrencyAmount{Currency: "USD", Minor: 5000}),
			MaxApplicationsPerCart: new(2), Schema: json.RawMessage(`{"odd": [1, 2.50], "currencies": [{"currency":"USD","amount":1000}], "target_catalogs": ["main"], "conditions": {"and":[{"template":"t","field":"f","type":"integer","value":"7"}]}}`)})
		require.NoError(t, err)
		require.Equal(t, "c0ffee00-0000-4000-8000-000000000001", p.ID, "canonical")
		require.Equal(t, []any{"Off", "Something off.", false, false, rule.PromotionDisabled, new(2)}, []any{p.Name, p.Description, p.Enabled, p.Automatic, p.State, p.MaxApplicationsPerCart})
		require.Equal(t, time.Date(2024, 6, 1, 0, 0, 0, 0, time.UTC), p.Start)
		require.Equal(t, time.Date(2024, 6, 2, 9, 30, 0, 0, time.UTC), p.End)
		require.Equal(t, `{"odd":[1,2.50],"currencies":[{"currency":"USD","amount":1000}],"target_catalogs":["main"],"conditions":{"and":[{"template":"t","field":"f","type":"integer","value":"7"}]}}`, string(p.Schema), "as it was written")
		require.Equal(t, []rule.PromotionCurrency{{Currency: "USD", Minor: new(int64(1000))}}, p.Currencies)
		require.Equal(t, []string{"main"}, p.TargetCatalogs)
		require.JSONEq(t, `{"and":[{"template":"t","field":"f","type":"integer","value":"7"}]}`, string(p.Conditions))
		require.Equal(t, []time.Time{now, now}, []time.Time{p.CreatedAt, p.UpdatedAt})

		later := d.Clock.Advance(time.Minute)
		update, err := s.UpdatePromotion(t.Context(), storetest.Actor, p.ID, promotion.PromotionChange{Enabled: new(true), MinCartValue: given()}, false)
		require.NoError(t, err)
		changed := update.Promotion
		require.Equal(t, []any{"Off", true, rule.PromotionScheduled, 0}, []any{changed.Name, changed.Enabled, changed.State, len(changed.MinCartValue)})
		require.Equal(t, []time.Time{now, later}, []time.Time{changed.CreatedAt, changed.UpdatedAt})
		read, err := s.Promotion(t.Context(), p.ID)
		require.NoError(t, err)
		require.Equal(t, changed, read)

		d.Clock.Advance(time.Minute)
		update, err = s.UpdatePromotion(t.Context(), storetest.Actor, p.ID, promotion.PromotionChange{Enabled: new(true)}, false)
		require.NoError(t, err)
		require.Equal(t, later, update.Promotion.UpdatedAt, "nothing was different")

		_, err = s.CreatePromotion(t.Context(), storetest.Actor, p.ID, storetest.TenPercentOff(now))
		storetest.RequireError(t, err, store.Unprocessable, "id", "is taken")
		require.NoError(t, storetest.DeletePromotion(t.Context(), s, storetest.Actor, p.ID))
		for _, id := range []string{p.ID, "nowhere", "\x00"} {
			_, err = s.Promotion(t.Context(), id)
			storetest.RequireError(t, err, store.NotFound, "", "no promotion")
			storetest.RequireError(t, storetest.DeletePromotion(t.Context(), s, storetest.Actor, id), store.NotFound, "id", "no promotion")
			_, err = s.UpdatePromotion(t.Context(), storetest.Actor, id, promotion.PromotionChange{}, false)
			storetest.RequireError(t, err, store.NotFound, "id", "no promotion")
		}
	}
}

func promotionNeeds(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		deep := strings.Repeat(`{"and":[`, 12) + strings.Repeat(`]}`, 12)
		leaf := func(kind, value string) string {
			return `{"percent":5,"conditions":[{"template":"t","field":"f","type":"` + kind + `","value":` + value + `}]}`
		}
		usd := `"currencies":[{"currency":"USD","amount":5}]`
		for _, c := range []struct {
			kind   rule.PromotionType
			schema string
			member string // at fault; empty for none
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
			{rule.BundleFixedDiscount, `{` + usd + `,"requirements":[{"targets":["A"],"quantity":1}],"targets":[["A"]],"quantities":[1]}`, "schema.targets"},
			{rule.BundleGift, `{"gifts":["G"],"requirements":[{"targets":["A"],"quantity":1}]}`, ""},
			{rule.BundleGift, `{"gifts":["G"]}`, "schema.requirements"},
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
			{rule.PercentDiscount, `{"percent":5,"conditions":` + deep + `}`, "schema.conditions.and.0.and.0.and.0.and.0.and.0.and.0.and.0.and.0.and.0.and.0"},
			{rule.PercentDiscount, leaf("integer", `"7"`), ""}, {rule.PercentDiscount, leaf("integer", `7`), ""},
			{rule.PercentDiscount, leaf("integer", `"7.5"`), "schema.conditions.0.value"},
			{rule.PercentDiscount, leaf("boolean", `"true"`), ""}, {rule.PercentDiscount, leaf("boolean", `"yes"`), "schema.conditions.0.value"},
			{rule.PercentDiscount, leaf("float", `"1.5"`), ""}, {rule.PercentDiscount, leaf("float", `"NaN"`), "schema.conditions.0.value"},
			{rule.PercentDiscount, leaf("date", `"2024-01-01"`), ""}, {rule.PercentDiscount, leaf("date", `"soon"`), "schema.conditions.0.value"},
			{rule.PercentDiscount, leaf("string", `"x"`), ""}, {rule.PercentDiscount, leaf("string", `5`), "schema.conditions.0.value"},
			{rule.PercentDiscount, leaf("colour", `"x"`), "schema.conditions.0.type"},
			{rule.PercentDiscount, `{"percent":5,"conditions":[{"field":"f","type":"string","value":"x"}]}`, "schema.conditions.0.template"},
		} {
			change := storetest.TenPercentOff(storetest.Noon)
			change.Type, change.Schema = &c.kind, json.RawMessage(c.schema)
			p, err := d.CreatePromotion(t.Context(), storetest.Actor, "", change)
			if c.member == "" {
				require.NoError(t, err, "%s %s", c.kind, c.schema)
				require.Equal(t, c.schema, string(p.Schema), "as it was sent")
				continue
			}
			require.Error(t, err, "%s %s", c.kind, c.schema)
			require.Equal(t, c.member, strings.Join(store.AsErrors(err)[0].Path, "."), "%s %s: %v", c.kind, c.schema, err)
		}
		change := storetest.TenPercentOff(storetest.Noon)
		change.Name, change.Start, change.End = new(""), new("soon"), new("2024-13-01")
		_, err := d.CreatePromotion(t.Context(), storetest.Actor, "", change)
		require.Len(t, store.AsErrors(err), 3, "every fault at once: %v", err)
		change = storetest.TenPercentOff(storetest.Noon)
		change.End = change.Start
		_, err = d.CreatePromotion(t.Context(), storetest.Actor, "", change)
		storetest.RequireError(t, err, store.Unprocessable, "end", "must be after start")
	}
}

func promotionBeside(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		change := storetest.TenPercentOff(storetest.Noon)
		change.TargetCatalogs, change.Conditions = []string{"main"}, json.RawMessage(`{}`)
		p, err := d.CreatePromotion(t.Context(), storetest.Actor, "p", change)
		require.NoError(t, err)
		require.Equal(t, `{"percent":10,"target_catalogs":["main"],"conditions":{}}`, string(p.Schema))
		update, err := d.UpdatePromotion(t.Context(), storetest.Actor, "p", promotion.PromotionChange{TargetCatalogs: []string{"outlet"}, Nulls: store.Nulls{"conditions"}}, false)
		require.NoError(t, err)
		require.JSONEq(t, `{"percent":10,"target_catalogs":["outlet"]}`, string(update.Promotion.Schema))
		update, err = d.UpdatePromotion(t.Context(), storetest.Actor, "p", promotion.PromotionChange{Schema: json.RawMessage(`{"percent":5,"target_catalogs":["a"]}`), TargetCatalogs: []string{"b"}}, false)
		require.NoError(t, err)
		require.Equal(t, []string{"a"}, update.Promotion.TargetCatalogs, "a schema's own goes first")
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
			_, err := d.CreatePromotion(t.Context(), storetest.Actor, fmt.Sprintf("p%d", i), change)
			require.NoError(t, err)
			d.Clock.Advance(time.Minute)
		}
		for _, c := range []struct {
			filter promotion.PromotionFilter
			sort   store.Sort
			want   string
		}{
			{promotion.PromotionFilter{}, store.Sort{}, "p0 p1 p2 p3 p4"},
			{promotion.PromotionFilter{}, store.Sort{By: store.SortName}, "p1 p3 p0 p2 p4"},
			{promotion.PromotionFilter{}, store.Sort{By: store.SortName, Descending: true}, "p4 p2 p0 p3 p1"},
			{promotion.PromotionFilter{}, store.Sort{By: store.SortCreatedAt, Descending: true}, "p4 p3 p2 p1 p0"},
			{promotion.PromotionFilter{Search: "apple"}, store.Sort{}, "p1 p3"},
			{promotion.PromotionFilter{Search: "etu"}, store.Sort{}, "p0"},
			{promotion.PromotionFilter{Search: "PIE app"}, store.Sort{}, "p3"},
			{promotion.PromotionFilter{NameLike: new("apple")}, store.Sort{}, "p1"},
			{promotion.PromotionFilter{NameLike: new("APPLE*")}, store.Sort{}, "p1 p3"},
			{promotion.PromotionFilter{NameLike: new("*apple")}, store.Sort{}, "p1"},
			{promotion.PromotionFilter{NameLike: new("*pie")}, store.Sort{}, "p3"},
			{promotion.PromotionFilter{NameLike: new("*ppl*")}, store.Sort{}, "p1 p3"},
			{promotion.PromotionFilter{NameLike: new("ppl*")}, store.Sort{}, ""},
			{promotion.PromotionFilter{NameLike: new("*longer than any name")}, store.Sort{}, ""},
			{promotion.PromotionFilter{NameLike: new("*A 2")}, store.Sort{}, "p4"},
			{promotion.PromotionFilter{NameLike: new("é*")}, store.Sort{}, "p0"},
			{promotion.PromotionFilter{NameLike: new("*DE")}, store.Sort{}, "p0"},
			{promotion.PromotionFilter{NameLike: new("*")}, store.Sort{}, "p0 p1 p2 p3 p4"},
			{promotion.PromotionFilter{NameLike: new("**")}, store.Sort{}, "p0 p1 p2 p3 p4"},
			{promotion.PromotionFilter{NameLike: new("")}, store.Sort{}, ""},
			{promotion.PromotionFilter{NameLike: new(`\*`)}, store.Sort{}, ""},
			{promotion.PromotionFilter{NameLike: new("%a%")}, store.Sort{}, ""},
			{promotion.PromotionFilter{IDs: []string{"p4", "p1", "none"}}, store.Sort{}, "p1 p4"},
			{promotion.PromotionFilter{Names: []string{"Zebra"}}, store.Sort{}, "p2"},
			{promotion.PromotionFilter{Types: []rule.PromotionType{rule.XForY}}, store.Sort{}, ""},
			{promotion.PromotionFilter{Enabled: new(true)}, store.Sort{}, "p0 p2 p4"},
			{promotion.PromotionFilter{Automatic: new(true)}, store.Sort{}, ""},
			{promotion.PromotionFilter{States: []rule.PromotionState{rule.PromotionActive}}, store.Sort{}, "p0 p2"},
			{promotion.PromotionFilter{States: []rule.PromotionState{rule.PromotionScheduled, rule.PromotionDisabled}}, store.Sort{}, "p1 p3 p4"},
			{promotion.PromotionFilter{States: []rule.PromotionState{rule.PromotionExpired}}, store.Sort{}, ""},
		} {
			var ids []string
			var after *string
			for { // a row a page
				slice, err := d.Promotions(t.Context(), c.filter, store.ListQuery{Sort: c.sort, Page: store.Page{First: new(1), After: after}})
				require.NoError(t, err)
				for _, p := range slice.Items {
					ids = append(ids, p.ID)
				}
				if !slice.HasNext {
					break
				}
				after = &slice.Cursors()[0]
				d.Clock.Advance(time.Millisecond) // the next page is another request
			}
			require.Equal(t, c.want, strings.Join(ids, " "), "%+v", c)
			slice, err := d.Promotions(t.Context(), c.filter, store.ListQuery{Sort: c.sort})
			require.NoError(t, err)
			total, err := slice.Total(t.Context())
			require.NoError(t, err)
			require.Equal(t, len(ids), total)
		}
		_, err := d.Promotions(t.Context(), promotion.PromotionFilter{Names: []string{"\x00"}}, store.ListQuery{})
		storetest.RequireError(t, err, store.Invalid, "filter", "UTF-8")
		for _, bad := range []string{"a*b", "***", "\x00*"} {
			_, err := d.Promotions(t.Context(), promotion.PromotionFilter{NameLike: &bad}, store.ListQuery{})
			storetest.RequireError(t, err, store.Invalid, "filter", "compares name")
		}
	}
}
