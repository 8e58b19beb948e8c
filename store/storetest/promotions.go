package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/promotion"
	codex "portico/store/promotion/code"
	rulex "portico/store/promotion/rule"
	"portico/store/shop"
)

// Promotions is the promise of the store's promotions and their codes.
func Promotions(t *testing.T, e Engine) {
	d := newDesk(t, e)
	d.run(t, "a promotion is made, changed and removed", promotionKept)
	d.run(t, "what each type needs is asked for", promotionNeeds)
	d.run(t, "members beside the schema are part of it", promotionBeside)
	d.run(t, "a list is filtered, searched, sorted and paged", promotionListed)
	d.run(t, "the clock walks it through its states", promotionWalk)
	d.run(t, "a dry run tells and changes nothing", promotionDryRun)
	d.run(t, "the automatic code is kept in step", promotionAutomatic)
	d.run(t, "a deleted promotion frees its codes and keeps its usages", promotionArchived)
	d.run(t, "a deleted promotion without usages leaves nothing", promotionRemoved)
	d.run(t, "a deleted promotion is gone once its usages expire", archiveExpired)
	d.run(t, "an import restores a deleted promotion with its usages", archiveRestored)
	d.run(t, "a release gives nothing back to a later code of the same text", codeMadeAgain)
	d.run(t, "null clears an optional member and is refused for a required one", promotionNulls)
	d.run(t, "a new schema keeps where the promotion applies", promotionScope)
	d.run(t, "codes are made, found, listed and removed", codesKept)
	d.run(t, "every faulty row is told, and nothing is written", codesRefused)
	d.run(t, "ten thousand codes take few statements", codesMany)
	d.run(t, "reading codes costs the same however many", codesStatements)
	d.run(t, "an import of codes keeps to the rules", codesImported)
	d.run(t, "members that are required are asked for by name", promotionRequired)
	d.run(t, "what stood before it was refused keeps nobody from a change", promotionStood)
	d.run(t, "every form of a schema is exported and imported", promotionSchemas)
	d.run(t, "all that is wrong with a batch of codes is told at once", codesFaulty)
	d.run(t, "who may use a code is kept in the form it was given in", codeUserForms)
	d.run(t, "old rows of codes and users are read", codeUserRows)
	d.run(t, "a code is text that a path can name", codeTexts)
	d.run(t, "no cell of an export is a formula", codeCells)
	t.Run("two promotions never share a code that counts", codesModel(e))
	t.Run("racing promotions never share a code", codesRaced(e))
	t.Run("a promotion enabled again races with its codes", reenabledRaced(e))
}

const (
	day  = 24 * time.Hour
	date = "2006-01-02T15:04:05.000Z"
)

// percentOff is a promotion that is active for a day from now.
func percentOff(now time.Time) promotion.PromotionChange {
	return promotion.PromotionChange{Name: ptr("Ten percent"), Description: ptr(""), Type: ptr(rulex.PercentDiscount), Enabled: ptr(true),
		Start: ptr(now.Format(date)), End: ptr(now.Add(day).Format(date)), Schema: json.RawMessage(`{"percent":10}`)}
}

// deletePromotion deletes a promotion, and not only as a dry run.
func deletePromotion(ctx context.Context, s interface {
	DeletePromotion(context.Context, store.Actor, string, bool) (promotion.PromotionDeletion, error)
}, actor store.Actor, id string) error {
	_, err := s.DeletePromotion(ctx, actor, id, false)
	return err
}

func made(t testing.TB, s *shop.Store, id string, now time.Time) *rulex.Promotion {
	t.Helper()
	p, err := s.CreatePromotion(t.Context(), actor, id, percentOff(now))
	require.NoError(t, err)
	return p
}

// newCodes are codes without anything else.
func newCodes(codes ...string) []codex.NewCode {
	list := make([]codex.NewCode, len(codes))
	for i, code := range codes {
		list[i].Code = code
	}
	return list
}

func addCodes(s *shop.Store, promotion string, codes ...string) error {
	_, _, err := s.CreatePromotionCodes(context.Background(), actor, promotion, newCodes(codes...), "")
	return err
}

// given are amounts as callers give them.
func given(amounts ...store.CurrencyAmount) []rulex.GivenAmount {
	list := make([]rulex.GivenAmount, len(amounts))
	for i, a := range amounts {
		list[i] = rulex.GivenAmount{Currency: a.Currency, Minor: &a.Minor}
	}
	return list
}

func promotionKept(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		now := d.clock.Now()
		p, err := s.CreatePromotion(t.Context(), actor, "C0FFEE00-0000-4000-8000-000000000001", promotion.PromotionChange{
			Name: ptr("Off"), Description: ptr("Something off."), Type: ptr(rulex.FixedDiscount), Start: ptr("2024-06-01"), End: ptr("2024-06-02 "[:10] + "T09:30"),
			MinCartValue:           given(store.CurrencyAmount{Currency: "USD", Minor: 5000}),
			MaxApplicationsPerCart: ptr(2), Schema: json.RawMessage(`{"odd": [1, 2.50], "currencies": [{"currency":"USD","amount":1000}], "target_catalogs": ["main"], "conditions": {"and":[{"template":"t","field":"f","type":"integer","value":"7"}]}}`)})
		require.NoError(t, err)
		require.Equal(t, "c0ffee00-0000-4000-8000-000000000001", p.ID, "canonical")
		require.Equal(t, []any{"Off", "Something off.", false, false, rulex.PromotionDisabled, ptr(2)}, []any{p.Name, p.Description, p.Enabled, p.Automatic, p.State, p.MaxApplicationsPerCart})
		require.Equal(t, time.Date(2024, 6, 1, 0, 0, 0, 0, time.UTC), p.Start)
		require.Equal(t, time.Date(2024, 6, 2, 9, 30, 0, 0, time.UTC), p.End)
		require.Equal(t, `{"odd":[1,2.50],"currencies":[{"currency":"USD","amount":1000}],"target_catalogs":["main"],"conditions":{"and":[{"template":"t","field":"f","type":"integer","value":"7"}]}}`, string(p.Schema), "as it was written")
		require.Equal(t, []rulex.PromotionCurrency{{Currency: "USD", Minor: ptr(int64(1000))}}, p.Currencies)
		require.Equal(t, []string{"main"}, p.TargetCatalogs)
		require.JSONEq(t, `{"and":[{"template":"t","field":"f","type":"integer","value":"7"}]}`, string(p.Conditions))
		require.Equal(t, []time.Time{now, now}, []time.Time{p.CreatedAt, p.UpdatedAt})

		later := d.clock.Advance(time.Minute)
		update, err := s.UpdatePromotion(t.Context(), actor, p.ID, promotion.PromotionChange{Enabled: ptr(true), MinCartValue: given()}, false)
		require.NoError(t, err)
		changed := update.Promotion
		require.Equal(t, []any{"Off", true, rulex.PromotionScheduled, 0}, []any{changed.Name, changed.Enabled, changed.State, len(changed.MinCartValue)})
		require.Equal(t, []time.Time{now, later}, []time.Time{changed.CreatedAt, changed.UpdatedAt})
		read, err := s.Promotion(t.Context(), p.ID)
		require.NoError(t, err)
		require.Equal(t, changed, read)

		d.clock.Advance(time.Minute)
		update, err = s.UpdatePromotion(t.Context(), actor, p.ID, promotion.PromotionChange{Enabled: ptr(true)}, false)
		require.NoError(t, err)
		require.Equal(t, later, update.Promotion.UpdatedAt, "nothing was different")

		_, err = s.CreatePromotion(t.Context(), actor, p.ID, percentOff(now))
		requireFault(t, err, store.Unprocessable, "id", "is taken")
		require.NoError(t, deletePromotion(t.Context(), s, actor, p.ID))
		for _, id := range []string{p.ID, "nowhere", "\x00"} {
			_, err = s.Promotion(t.Context(), id)
			requireFault(t, err, store.NotFound, "", "no promotion")
			requireFault(t, deletePromotion(t.Context(), s, actor, id), store.NotFound, "id", "no promotion")
			_, err = s.UpdatePromotion(t.Context(), actor, id, promotion.PromotionChange{}, false)
			requireFault(t, err, store.NotFound, "id", "no promotion")
		}
	}
}

func promotionNeeds(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		deep := strings.Repeat(`{"and":[`, 12) + strings.Repeat(`]}`, 12)
		leaf := func(kind, value string) string {
			return `{"percent":5,"conditions":[{"template":"t","field":"f","type":"` + kind + `","value":` + value + `}]}`
		}
		usd := `"currencies":[{"currency":"USD","amount":5}]`
		for _, c := range []struct {
			kind   rulex.PromotionType
			schema string
			member string // at fault; empty for none
		}{
			{rulex.FixedDiscount, `{` + usd + `}`, ""},
			{rulex.FixedDiscount, `{}`, "schema.currencies"},
			{rulex.FixedDiscount, `{"currencies":[]}`, "schema.currencies"},
			{rulex.FixedDiscount, `{"currencies":{}}`, "schema.currencies"},
			{rulex.FixedDiscount, `{"currencies":[{"currency":"USD"}]}`, "schema.currencies.0.amount"},
			{rulex.FixedDiscount, `{"currencies":[{"currency":"USD","amount":1.5}]}`, "schema.currencies.0.amount"},
			{rulex.FixedDiscount, `{"currencies":[{"currency":"USD","amount":-1}]}`, "schema.currencies.0.amount"},
			{rulex.FixedDiscount, `{"currencies":[{"currency":"usd","amount":1}]}`, "schema.currencies.0.currency"},
			{rulex.FixedDiscount, `{"currencies":[{"currency":"USD","amount":1},{"currency":"USD","amount":2}]}`, "schema.currencies.1.currency"},
			{rulex.FixedDiscount, `{"currencies":[5]}`, "schema.currencies.0"},
			{rulex.FixedDiscount, `[]`, "schema"},
			{rulex.PercentDiscount, `{"percent":100}`, ""},
			{rulex.PercentDiscount, `{"currencies":[{"currency":"USD","percentage":2.5}]}`, ""},
			{rulex.PercentDiscount, `{}`, "schema.percent"},
			{rulex.PercentDiscount, `{"percent":0}`, "schema.percent"},
			{rulex.PercentDiscount, `{"percent":100.01}`, "schema.percent"},
			{rulex.PercentDiscount, `{"percent":"5"}`, "schema.percent"},
			{rulex.PercentDiscount, `{"percent":1e1}`, "schema.percent"},
			{rulex.PercentDiscount, `{"currencies":[{"currency":"USD","amount":5}]}`, "schema.currencies.0.percentage"},
			{rulex.PercentDiscount, `{"currencies":[]}`, "schema.currencies"},
			{rulex.ItemFixedDiscount, `{` + usd + `,"targets":[]}`, ""},
			{rulex.ItemFixedDiscount, `{` + usd + `,"targets":["A",5]}`, "schema.targets.1"},
			{rulex.ItemPercentDiscount, `{"percent":5.0,"targets":["A"],"currencies":[]}`, ""},
			{rulex.ItemPercentDiscount, `{"targets":["A"]}`, "schema.percent"},
			{rulex.XForY, `{"x":3,"y":2,"targets":["A"]}`, ""},
			{rulex.XForY, `{"x":2,"y":2,"targets":["A"]}`, "schema.x"},
			{rulex.XForY, `{"x":2,"y":0,"targets":["A"]}`, "schema.y"},
			{rulex.XForY, `{"x":3,"y":2,"targets":[]}`, "schema.targets"},
			{rulex.XForY, `{"x":3,"y":2}`, "schema.targets"},
			{rulex.XForAmount, `{"x":3,` + usd + `,"targets":["A"]}`, ""},
			{rulex.XForAmount, `{` + usd + `,"targets":["A"]}`, "schema.x"},
			{rulex.BundleFixedDiscount, `{` + usd + `,"targets":[["A","B"],["C"]],"quantities":[1,2]}`, ""},
			{rulex.BundleFixedDiscount, `{` + usd + `,"targets":[["A","B"],["C"]],"quantities":[1]}`, "schema.quantities"},
			{rulex.BundleFixedDiscount, `{` + usd + `,"targets":["A"],"quantities":[1]}`, "schema.targets.0"},
			{rulex.BundleFixedDiscount, `{` + usd + `,"targets":[["A"]],"quantities":[0]}`, "schema.quantities.0"},
			{rulex.BundleFixedDiscount, `{` + usd + `,"requirements":[{"targets":["A","B"],"quantity":1},{"targets":["C"],"quantity":2}]}`, ""},
			{rulex.BundleFixedDiscount, `{` + usd + `,"requirements":[{"targets":"all","quantity":2}],"targets":"all"}`, ""},
			{rulex.BundleFixedDiscount, `{` + usd + `,"requirements":[{"quantity":2.0}],"targets":null}`, ""},
			{rulex.BundleFixedDiscount, `{` + usd + `}`, "schema.requirements"},
			{rulex.BundleFixedDiscount, `{` + usd + `,"targets":"all","quantities":[1]}`, "schema.requirements"},
			{rulex.BundleFixedDiscount, `{` + usd + `,"targets":[["A"]]}`, "schema.quantities"},
			{rulex.BundleFixedDiscount, `{` + usd + `,"requirements":[]}`, "schema.requirements"},
			{rulex.BundleFixedDiscount, `{` + usd + `,"requirements":{}}`, "schema.requirements"},
			{rulex.BundleFixedDiscount, `{` + usd + `,"requirements":[5]}`, "schema.requirements.0"},
			{rulex.BundleFixedDiscount, `{` + usd + `,"requirements":[{"targets":["A"]}]}`, "schema.requirements.0.quantity"},
			{rulex.BundleFixedDiscount, `{` + usd + `,"requirements":[{"targets":["A"],"quantity":0}]}`, "schema.requirements.0.quantity"},
			{rulex.BundleFixedDiscount, `{` + usd + `,"requirements":[{"targets":[],"quantity":1}]}`, "schema.requirements.0.targets"},
			{rulex.BundleFixedDiscount, `{` + usd + `,"requirements":[{"targets":[""],"quantity":1}]}`, "schema.requirements.0.targets.0"},
			{rulex.BundleFixedDiscount, `{` + usd + `,"requirements":[{"targets":"some","quantity":1}]}`, "schema.requirements.0.targets"},
			{rulex.BundleFixedDiscount, `{` + usd + `,"requirements":[{"targets":["A"],"quantity":1}],"targets":[["A"]],"quantities":[1]}`, "schema.targets"},
			{rulex.BundleGift, `{"gifts":["G"],"requirements":[{"targets":["A"],"quantity":1}]}`, ""},
			{rulex.BundleGift, `{"gifts":["G"]}`, "schema.requirements"},
			{rulex.ItemFixedDiscount, `{` + usd + `,"targets":"all"}`, ""},
			{rulex.ItemPercentDiscount, `{"percent":5,"targets":"all"}`, ""},
			{rulex.FixedDiscount, `{"currencies":[{"currency":"USD","amount":5.0}],"targets":"all"}`, ""},
			{rulex.ItemPercentDiscount, `{"percent":5,"targets":"every"}`, "schema.targets"},
			{rulex.XForY, `{"x":3.0,"y":2e0,"targets":["A"]}`, ""},
			{rulex.XForY, `{"x":3,"y":2,"targets":"all"}`, "schema.targets"},
			{rulex.BundleGift, `{"gifts":["G"],"targets":[["A"]],"quantities":[1]}`, ""},
			{rulex.BundleGift, `{"gifts":[],"targets":[["A"]],"quantities":[1]}`, "schema.gifts"},
			{rulex.BundleGift, `{"targets":[["A"]],"quantities":[1]}`, "schema.gifts"},
			{"half_price", `{}`, "promotion_type"},
			{rulex.PercentDiscount, `{"percent":5,"target_catalogs":"main"}`, "schema.target_catalogs"},
			{rulex.PercentDiscount, `{"percent":5,"conditions":5}`, "schema.conditions"},
			{rulex.PercentDiscount, `{"percent":5,"conditions":` + deep + `}`, "schema.conditions.and.0.and.0.and.0.and.0.and.0.and.0.and.0.and.0.and.0.and.0"},
			{rulex.PercentDiscount, leaf("integer", `"7"`), ""}, {rulex.PercentDiscount, leaf("integer", `7`), ""},
			{rulex.PercentDiscount, leaf("integer", `"7.5"`), "schema.conditions.0.value"},
			{rulex.PercentDiscount, leaf("boolean", `"true"`), ""}, {rulex.PercentDiscount, leaf("boolean", `"yes"`), "schema.conditions.0.value"},
			{rulex.PercentDiscount, leaf("float", `"1.5"`), ""}, {rulex.PercentDiscount, leaf("float", `"NaN"`), "schema.conditions.0.value"},
			{rulex.PercentDiscount, leaf("date", `"2024-01-01"`), ""}, {rulex.PercentDiscount, leaf("date", `"soon"`), "schema.conditions.0.value"},
			{rulex.PercentDiscount, leaf("string", `"x"`), ""}, {rulex.PercentDiscount, leaf("string", `5`), "schema.conditions.0.value"},
			{rulex.PercentDiscount, leaf("colour", `"x"`), "schema.conditions.0.type"},
			{rulex.PercentDiscount, `{"percent":5,"conditions":[{"field":"f","type":"string","value":"x"}]}`, "schema.conditions.0.template"},
		} {
			change := percentOff(noon)
			change.Type, change.Schema = &c.kind, json.RawMessage(c.schema)
			p, err := d.CreatePromotion(t.Context(), actor, "", change)
			if c.member == "" {
				require.NoError(t, err, "%s %s", c.kind, c.schema)
				require.Equal(t, c.schema, string(p.Schema), "as it was sent")
				continue
			}
			require.Error(t, err, "%s %s", c.kind, c.schema)
			require.Equal(t, c.member, strings.Join(store.AsErrors(err)[0].Path, "."), "%s %s: %v", c.kind, c.schema, err)
		}
		change := percentOff(noon)
		change.Name, change.Start, change.End = ptr(""), ptr("soon"), ptr("2024-13-01")
		_, err := d.CreatePromotion(t.Context(), actor, "", change)
		require.Len(t, store.AsErrors(err), 3, "every fault at once: %v", err)
		change = percentOff(noon)
		change.End = change.Start
		_, err = d.CreatePromotion(t.Context(), actor, "", change)
		requireFault(t, err, store.Unprocessable, "end", "must be after start")
	}
}

func promotionBeside(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		change := percentOff(noon)
		change.TargetCatalogs, change.Conditions = []string{"main"}, json.RawMessage(`{}`)
		p, err := d.CreatePromotion(t.Context(), actor, "p", change)
		require.NoError(t, err)
		require.Equal(t, `{"percent":10,"target_catalogs":["main"],"conditions":{}}`, string(p.Schema))
		update, err := d.UpdatePromotion(t.Context(), actor, "p", promotion.PromotionChange{TargetCatalogs: []string{"outlet"}, Nulls: store.Nulls{"conditions"}}, false)
		require.NoError(t, err)
		require.JSONEq(t, `{"percent":10,"target_catalogs":["outlet"]}`, string(update.Promotion.Schema))
		update, err = d.UpdatePromotion(t.Context(), actor, "p", promotion.PromotionChange{Schema: json.RawMessage(`{"percent":5,"target_catalogs":["a"]}`), TargetCatalogs: []string{"b"}}, false)
		require.NoError(t, err)
		require.Equal(t, []string{"a"}, update.Promotion.TargetCatalogs, "a schema's own goes first")
	}
}

func promotionListed(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		for i, name := range []string{"Étude", "apple", "Zebra", "Apple pie", "zebra 2"} {
			change := percentOff(d.clock.Now())
			change.Name, change.Enabled = &name, ptr(i%2 == 0)
			if i == 4 {
				change.Start = ptr(d.clock.Now().Add(time.Hour).Format(date))
			}
			_, err := d.CreatePromotion(t.Context(), actor, fmt.Sprintf("p%d", i), change)
			require.NoError(t, err)
			d.clock.Advance(time.Minute)
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
			{promotion.PromotionFilter{NameLike: ptr("apple")}, store.Sort{}, "p1"},
			{promotion.PromotionFilter{NameLike: ptr("APPLE*")}, store.Sort{}, "p1 p3"},
			{promotion.PromotionFilter{NameLike: ptr("*apple")}, store.Sort{}, "p1"},
			{promotion.PromotionFilter{NameLike: ptr("*pie")}, store.Sort{}, "p3"},
			{promotion.PromotionFilter{NameLike: ptr("*ppl*")}, store.Sort{}, "p1 p3"},
			{promotion.PromotionFilter{NameLike: ptr("ppl*")}, store.Sort{}, ""},
			{promotion.PromotionFilter{NameLike: ptr("*longer than any name")}, store.Sort{}, ""},
			{promotion.PromotionFilter{NameLike: ptr("*A 2")}, store.Sort{}, "p4"},
			{promotion.PromotionFilter{NameLike: ptr("é*")}, store.Sort{}, "p0"},
			{promotion.PromotionFilter{NameLike: ptr("*DE")}, store.Sort{}, "p0"},
			{promotion.PromotionFilter{NameLike: ptr("*")}, store.Sort{}, "p0 p1 p2 p3 p4"},
			{promotion.PromotionFilter{NameLike: ptr("**")}, store.Sort{}, "p0 p1 p2 p3 p4"},
			{promotion.PromotionFilter{NameLike: ptr("")}, store.Sort{}, ""},
			{promotion.PromotionFilter{NameLike: ptr(`\*`)}, store.Sort{}, ""},
			{promotion.PromotionFilter{NameLike: ptr("%a%")}, store.Sort{}, ""},
			{promotion.PromotionFilter{IDs: []string{"p4", "p1", "none"}}, store.Sort{}, "p1 p4"},
			{promotion.PromotionFilter{Names: []string{"Zebra"}}, store.Sort{}, "p2"},
			{promotion.PromotionFilter{Types: []rulex.PromotionType{rulex.XForY}}, store.Sort{}, ""},
			{promotion.PromotionFilter{Enabled: ptr(true)}, store.Sort{}, "p0 p2 p4"},
			{promotion.PromotionFilter{Automatic: ptr(true)}, store.Sort{}, ""},
			{promotion.PromotionFilter{States: []rulex.PromotionState{rulex.PromotionActive}}, store.Sort{}, "p0 p2"},
			{promotion.PromotionFilter{States: []rulex.PromotionState{rulex.PromotionScheduled, rulex.PromotionDisabled}}, store.Sort{}, "p1 p3 p4"},
			{promotion.PromotionFilter{States: []rulex.PromotionState{rulex.PromotionExpired}}, store.Sort{}, ""},
		} {
			var ids []string
			var after *string
			for { // a row a page
				slice, err := d.Promotions(t.Context(), c.filter, store.ListQuery{Sort: c.sort, Page: store.Page{First: ptr(1), After: after}})
				require.NoError(t, err)
				for _, p := range slice.Items {
					ids = append(ids, p.ID)
				}
				if !slice.HasNext {
					break
				}
				after = &slice.Cursors()[0]
				d.clock.Advance(time.Millisecond) // the next page is another request
			}
			require.Equal(t, c.want, strings.Join(ids, " "), "%+v", c)
			slice, err := d.Promotions(t.Context(), c.filter, store.ListQuery{Sort: c.sort})
			require.NoError(t, err)
			total, err := slice.Total(t.Context())
			require.NoError(t, err)
			require.Equal(t, len(ids), total)
		}
		_, err := d.Promotions(t.Context(), promotion.PromotionFilter{Names: []string{"\x00"}}, store.ListQuery{})
		requireFault(t, err, store.Invalid, "filter", "UTF-8")
		for _, bad := range []string{"a*b", "***", "\x00*"} {
			_, err := d.Promotions(t.Context(), promotion.PromotionFilter{NameLike: &bad}, store.ListQuery{})
			requireFault(t, err, store.Invalid, "filter", "compares name")
		}
	}
}
