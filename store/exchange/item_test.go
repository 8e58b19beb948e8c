package exchange_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/catalog"
	"portico/store/exchange"
	"portico/store/promotion/rule"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// described returns a result in one line for each resource: its id, what happened, and the members.
func described(result *exchange.ItemsWritten) []string {
	var lines []string
	for _, item := range result.Items {
		line := item.ID + " " + string(item.Outcome)
		for _, change := range item.Changes {
			if item.Outcome == exchange.ItemCreated {
				break // TestCreationsShowTheirMembers
			}
			line += " " + strings.Join(change.Path, ".") + ":" + text(change.Before) + "->" + text(change.After)
		}
		lines = append(lines, line)
	}
	return lines
}

func text(value *string) string {
	if value == nil {
		return ""
	}
	return *value
}

// exported returns the line of a resource.
func exported(t *testing.T, s *shop.Store, kind, id string) string {
	t.Helper()
	for line := range strings.SplitSeq(storetest.Export(t, s), "\n") {
		if strings.HasPrefix(line, `{"type":"`+kind+`","id":"`+id+`"`) {
			return line
		}
	}
	return ""
}

func TestUpsertProducts(t *testing.T) {
	t.Parallel()
	live, draft := catalog.ProductLive, catalog.ProductDraft
	const stored = `,"description":"Blue","tags":["a"],"seo":{"title":"T","description":"D"},"locales":{"de":{"name":"Tasse"},"fr":{"name":"Tasse"}},"extensions":{"x":{"a":1}}`
	type item = exchange.ProductItemInput
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		clock := testkit.NewClock(time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC))
		s, db := backend.Open(t, storetest.WithClock(clock)), backend.SQL(t)
		for _, c := range []struct {
			name  string
			items []*item
			nulls store.Nulls
			want  []string
		}{
			{"by id", []*item{{ID: new("mug"), Name: new("B")}}, nil, []string{`mug updated name:"A"->"B"`}},
			{"by SKU", []*item{{SKU: new("SKU-MUG"), Name: new("B")}}, nil, []string{`mug updated name:"A"->"B"`}},
			{"nothing new", []*item{{ID: new("mug"), Name: new("A"), Tags: []string{"a"}}}, nil, []string{`mug unchanged`}},
			{"a new one", []*item{{ID: new("cup"), SKU: new("C"), Name: new("Cup"), Status: &draft}, {ID: new("mug"), Status: &draft}}, nil, []string{`cup created`, `mug updated status:"live"->"draft"`}},
			{"null clears", []*item{{ID: new("mug")}}, store.Nulls{"items.0.description", "items.0.seo.title", "items.0.tags"}, []string{`mug updated description:"Blue"-> tags:["a"]->`}},
			{"null of a part", []*item{{ID: new("mug"), Seo: &catalog.SEOChange{}}}, store.Nulls{"items.0.seo.title"}, []string{`mug updated seo.title:"T"->`}},
			{"a translation", []*item{{ID: new("mug"), Translations: []*catalog.TranslationChange{{Locale: "fr", Name: new("Bol")}, {Locale: "pt_BR", Description: new("Azul")}}}}, nil,
				[]string{`mug updated translations.fr.name:"Tasse"->"Bol" translations.pt-BR.description:->"Azul"`}},
			{"the last text of a translation", []*item{{ID: new("mug"), Translations: []*catalog.TranslationChange{{Locale: "fr"}}}}, store.Nulls{"items.0.translations.0.name"}, []string{`mug updated translations.fr.name:"Tasse"->`}},
			{"no translations", []*item{{ID: new("mug")}}, store.Nulls{"items.0.translations"}, []string{`mug updated translations.de.name:"Tasse"-> translations.fr.name:"Tasse"->`}},
			{"open data", []*item{{ID: new("mug"), Extensions: json.RawMessage(`{"x":{"b":2}}`)}}, nil, []string{`mug updated extensions.x.b:->2`}},
			{"images", []*item{{ID: new("mug"), MainImageID: new("f"), Files: []*exchange.ProductFileInput{{ID: "f", Alt: "Blue"}}}}, nil,
				[]string{`mug updated files:->[{"type":"file","id":"f","alt":"Blue"}] main_image_id:->"f"`}},
			{"texts for search engines of a translation", []*item{{ID: new("mug"), Translations: []*catalog.TranslationChange{{Locale: "fr", SEO: &catalog.SEOChange{Title: new("T")}}, {Locale: "de", SEO: &catalog.SEOChange{}}}}}, store.Nulls{"items.0.translations.0.name", "items.0.translations.1.seo.title"},
				[]string{`mug updated translations.fr.name:"Tasse"-> translations.fr.seo.title:->"T"`}},
			{"empty texts", []*item{{ID: new("mug"), Seo: &catalog.SEOChange{Title: new(""), Description: new("")}}}, nil, []string{`mug updated seo.description:"D"-> seo.title:"T"->`}},
		} {
			t.Run(c.name, func(t *testing.T) {
				storetest.DeleteAllRows(t, db)
				storetest.Import(t, s, product("mug", stored, ``))
				before := storetest.Export(t, s)
				for _, item := range c.items {
					if item.Status == nil && item.ID != nil && *item.ID == "cup" {
						item.Status = &live
					}
				}
				dry, err := s.Exchange.UpsertProducts(t.Context(), storetest.Actor, c.items, c.nulls, true)
				require.NoError(t, err)
				require.Equal(t, before, storetest.Export(t, s), "a dry run writes nothing")
				done, err := s.Exchange.UpsertProducts(t.Context(), storetest.Actor, c.items, c.nulls, false)
				require.NoError(t, err)
				require.Equal(t, c.want, described(done))
				require.Equal(t, described(dry), described(done))
				changed := !strings.Contains(c.want[0], "unchanged")
				require.Equal(t, changed, before != storetest.Export(t, s))
				require.Equal(t, changed && !strings.Contains(c.want[0], "created"), strings.Contains(exported(t, s, "product", "mug"), `"updated_at":"2031-01-01T00:00:00.000Z"`) && len(c.want) == 1)
				again, err := s.Exchange.UpsertProducts(t.Context(), storetest.Actor, c.items, c.nulls, false)
				require.NoError(t, err)
				require.NotContains(t, strings.Join(described(again), "\n"), "updated", "a second time")
			})
		}
	})
}

// What an item of a list does not have stays, and what belongs to what was before goes with it.
func TestUpsertProductParts(t *testing.T) {
	t.Parallel()
	type item = exchange.ProductItemInput
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.JoinLines(product("old", ``, ``), product("new", ``, ``), `{"type":"attribute","id":"brand","attributes":{"label":"Brand","labels":{"fr":"Marque"},"attribute_type":"text"}}`,
			product("mug", `,"base_product_id":"old","custom_attributes":{"brand":"LG"}`, `"parent":{"data":{"type":"product","id":"old"}},"files":{"data":[{"type":"file","id":"f","created_at":"2024-01-01T00:00:00.000Z"}]}`)))
		upsert := func(i *item, nulls ...string) func(*shop.Store, bool) (*exchange.ItemsWritten, error) {
			return func(s *shop.Store, dry bool) (*exchange.ItemsWritten, error) {
				result, err := s.Exchange.UpsertProducts(t.Context(), storetest.Actor, []*item{i}, nulls, dry)
				if err == nil {
					result.Warnings = nil
				}
				return result, err
			}
		}
		declare := func(label *exchange.AttributeLabelInput, nulls ...string) func(*shop.Store, bool) (*exchange.ItemsWritten, error) {
			return func(s *shop.Store, dry bool) (*exchange.ItemsWritten, error) {
				return s.Exchange.DeclareAttributes(t.Context(), storetest.Actor, []*exchange.AttributeItemInput{{Key: "brand", Labels: []*exchange.AttributeLabelInput{label}}}, nulls, dry)
			}
		}
		at := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
		runItemSteps(t, s, []itemStep{
			{"an attribute without a value", upsert(&item{ID: new("mug"), Attributes: []*exchange.AttributeValueInput{{Key: "brand"}}}), `mug unchanged`},
			{"a null one", upsert(&item{ID: new("mug"), Attributes: []*exchange.AttributeValueInput{{Key: "brand"}}}, "items.0.attributes.0.value"), `mug updated attributes.brand.value:"LG"->`},
			{"a language without a label", declare(&exchange.AttributeLabelInput{Locale: "fr"}), `brand unchanged`},
			{"a null one", declare(&exchange.AttributeLabelInput{Locale: "fr"}, "items.0.labels.0.label"), `brand updated labels.fr:"Marque"->`},
			{"a file that was attached before", upsert(&item{ID: new("mug"), Files: []*exchange.ProductFileInput{{ID: "f"}}}), `mug unchanged`},
			{"a second file", upsert(&item{ID: new("mug"), Files: []*exchange.ProductFileInput{{ID: "g", AttachedAt: &at}, {ID: "f"}}}),
				`mug updated files:[{"type":"file","id":"f","created_at":"2024-01-01T00:00:00.000Z"}]->[{"type":"file","id":"g","created_at":"2020-01-01T00:00:00.000Z"},{"type":"file","id":"f","created_at":"2024-01-01T00:00:00.000Z"}]`},
			{"without its time", upsert(&item{ID: new("mug"), Files: []*exchange.ProductFileInput{{ID: "f"}}}, "items.0.files.0.attached_at"),
				`mug updated files:[{"type":"file","id":"g","created_at":"2020-01-01T00:00:00.000Z"},{"type":"file","id":"f","created_at":"2024-01-01T00:00:00.000Z"}]->[{"type":"file","id":"f"}]`},
			{"the same parent", upsert(&item{ID: new("mug"), ParentID: new("old")}), `mug unchanged`},
			{"another parent", upsert(&item{ID: new("mug"), ParentID: new("new")}), `mug updated base_product_id:"old"-> parent_id:"old"->"new"`},
			{"created before", upsert(&item{ID: new("mug"), CreatedAt: &at}), `mug updated created_at:"2026-01-01T00:00:00.000Z"->"2020-01-01T00:00:00.000Z"`},
			{"created, null", upsert(&item{ID: new("mug")}, "items.0.created_at"), `mug unchanged`},
			{"new, created before", upsert(&item{ID: new("cup"), SKU: new("CUP"), Name: new("Cup"), Status: new(catalog.ProductLive), CreatedAt: &at}), `cup created`},
		})
		require.Contains(t, exported(t, s, "product", "cup"), `"created_at":"2020-01-01T00:00:00.000Z"`)
	})
}

// Nothing is written if one item is wrong, and every error names its item.
func TestItemErrors(t *testing.T) {
	t.Parallel()
	live := catalog.ProductLive
	type item = exchange.ProductItemInput
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.JoinLines(product("mug", ``, ``), product("twin", ``, ``), strings.Replace(product("twin2", ``, ``), "SKU-TWIN2", "SKU-TWIN", 1),
			`{"type":"attribute","id":"load","attributes":{"label":"Load","attribute_type":"number"}}`, `{"type":"attribute","id":"since","attributes":{"label":"Since","attribute_type":"date"}}`,
			`{"type":"pricebook","id":"list","attributes":{"name":"List"}}`))
		before := storetest.Export(t, s)
		good := &item{ID: new("mug"), Name: new("New")}
		for _, c := range []struct {
			name  string
			items []*item
			want  string
		}{
			{"none", nil, "items must have between 1 and 1000 elements, got 0."},
			{"too many", make([]*item, 1001), "got 1001"},
			{"incomplete", []*item{good, {ID: new("cup")}}, "items.1.name is required"},
			{"a bad id", []*item{good, {ID: new("a b"), SKU: new("X"), Name: new("X"), Status: &live}}, "items.1.id must be"},
			{"no product", []*item{good, {Name: new("X")}}, "items.1 needs an id or a sku"},
			{"an ambiguous SKU", []*item{good, {SKU: new("SKU-TWIN")}}, "items.1.sku is the SKU of several products: twin, twin2"},
			{"twice", []*item{good, {SKU: new("SKU-MUG")}}, "items.1 is about the same resource as an item before it"},
			{"a new SKU twice", []*item{{SKU: new("N"), Name: new("N"), Status: &live}, {SKU: new("N")}}, "items.1 is about the same resource"},
			{"a bad time zone of a translation", []*item{good, {ID: new("twin"), Translations: []*catalog.TranslationChange{{Locale: "de"}, {Locale: "x!", Name: new("A")}}}}, "items.1.translations.1.locale must be a BCP 47 tag"},
			{"an undeclared attribute", []*item{good, {ID: new("twin"), Attributes: []*exchange.AttributeValueInput{{Key: "watt", Value: json.RawMessage(`5`)}}}}, "items.1.attributes.0.key is not declared: \"watt\"; declare it with attributesUpsert"},
			{"a wrong value", []*item{good, {ID: new("twin"), Attributes: []*exchange.AttributeValueInput{{Key: "load", Value: json.RawMessage(`"a"`)}}}}, "items.1.attributes.0.value must be a number, as its declaration says, got a text"},
			{"no day", []*item{good, {ID: new("twin"), Attributes: []*exchange.AttributeValueInput{{Key: "since", Value: json.RawMessage(`"2026-02-30"`)}}}}, `items.1.attributes.0.value must be a day such as "2026-05-01", got "2026-02-30"`},
			{"a number for a day", []*item{good, {ID: new("twin"), Attributes: []*exchange.AttributeValueInput{{Key: "since", Value: json.RawMessage(`2026`)}}}}, "items.1.attributes.0.value must be a date, as its declaration says, got a number"},
			{"an object", []*item{good, {ID: new("twin"), Attributes: []*exchange.AttributeValueInput{{Key: "load", Value: json.RawMessage(`{}`)}}}}, "items.1.attributes.0.value must be a text, a number"},
			{"no kind", []*item{good, {ID: new("twin"), Related: []*exchange.RelatedProductsInput{{ProductIds: []string{"mug"}}}}}, "items.1.related.0.kind is required"},
			{"a wrong related product", []*item{good, {ID: new("twin"), Related: []*exchange.RelatedProductsInput{{Kind: "k", ProductIds: []string{"mug", "!"}}}}}, "items.1.related.0.product_ids.1 must be"},
			{"a NUL", []*item{good, {SKU: new("a\x00")}}, "items.1.sku contains the character U+0000"},
			{"a language twice", []*item{good, {ID: new("twin"), Translations: []*catalog.TranslationChange{{Locale: "pt-BR", Name: new("A")}, {Locale: "de"}, {Locale: "pt_BR"}}}}, `items.1.translations.2 repeats "pt-BR", which is in the list as number 0, counted from 0; send it once`},
			{"an attribute twice", []*item{good, {ID: new("twin"), Attributes: []*exchange.AttributeValueInput{{Key: "a", Value: json.RawMessage(`1`)}, {Key: "a"}}}}, `items.1.attributes.1 repeats "a"`},
			{"a component twice", []*item{{ID: new("twin"), Components: []*exchange.ProductComponentInput{{Key: "c"}, {Key: "c"}}}}, `items.0.components.1 repeats "c"`},
			{"a kind of related products twice", []*item{{ID: new("twin"), Related: []*exchange.RelatedProductsInput{{Kind: "k"}, {Kind: "k"}}}}, `items.0.related.1 repeats "k"`},
			{"its own parent", []*item{good, {ID: new("twin"), ParentID: new("twin")}}, "items.1.parent_id must be another product"},
			{"a component", []*item{good, {ID: new("twin"), Components: []*exchange.ProductComponentInput{{Key: "c", Name: "C", Min: 1, Max: 1, Options: []*exchange.ProductComponentOptionInput{{ProductID: "!", Quantity: 1}}}}}}, "items.1.components.0.options.0.product_id must be"},
		} {
			t.Run(c.name, func(t *testing.T) {
				_, err := s.Exchange.UpsertProducts(t.Context(), storetest.Actor, c.items, nil, false)
				require.ErrorContains(t, err, c.want)
				require.NotEqual(t, store.Internal, store.AsErrors(err)[0].Code)
				require.Equal(t, before, storetest.Export(t, s))
			})
		}
		t.Run("a price", func(t *testing.T) {
			_, err := s.Exchange.UpsertPrices(t.Context(), storetest.Actor, []*exchange.PriceItemInput{
				{PricebookID: "list", SKU: "SKU-MUG", Amounts: []*exchange.PriceAmountInput{{Money: money("EUR", "1")}, {Money: money("USD", "-1"), Tiers: []*exchange.PriceTierInput{{MinimumQuantity: 0, Money: money("USD", "1.5")}}}}},
				{PricebookID: "none", SKU: "SKU-MUG", Amounts: []*exchange.PriceAmountInput{{Money: money("eur", "1")}}}}, nil, false)
			require.ErrorContains(t, err, `items.0.amounts.1.tiers.0.money.amount must be digits of minor units without a sign or leading zeros, such as "1250", got "1.5"`)
			require.ErrorContains(t, err, `items.1.amounts.0.money.currency must be a three-letter currency code such as USD, got "eur"`)
			_, err = s.Exchange.UpsertPrices(t.Context(), storetest.Actor, []*exchange.PriceItemInput{
				{PricebookID: "list", SKU: "SKU-MUG", Amounts: []*exchange.PriceAmountInput{{Money: money("USD", "-1")}}},
				{PricebookID: "none", SKU: "SKU-MUG", Amounts: []*exchange.PriceAmountInput{{Money: money("EUR", "1")}}}}, nil, false)
			require.ErrorContains(t, err, `items.0.amounts.0.money.amount must be digits of minor units without a sign or leading zeros, such as "1250", got "-1"`)
			require.ErrorContains(t, err, `items.1.pricebook_id refers to the pricebook "none", which is neither in the items nor in the store`)
			for want, item := range map[string]*exchange.PriceItemInput{
				`items.0.amounts.1 repeats "USD"`:                                                       {Amounts: []*exchange.PriceAmountInput{{Money: money("USD", "1")}, {Money: money("USD", "2")}}},
				`items.0.amounts.1.tiers.1 repeats "from_5`:                                             {Amounts: []*exchange.PriceAmountInput{{Money: money("EUR", "1")}, {Money: money("USD", "9"), Tiers: []*exchange.PriceTierInput{{MinimumQuantity: 5, Money: money("USD", "8")}, {MinimumQuantity: 5, Money: money("USD", "7")}}}}},
				`items.0.amounts.0.tiers.0.money.currency must be that of the amount, "USD", got "EUR"`: {Amounts: []*exchange.PriceAmountInput{{Money: money("USD", "9"), Tiers: []*exchange.PriceTierInput{{MinimumQuantity: 5, Money: money("EUR", "8")}}}}},
				`items.0.amounts.0.tiers.1 repeats "few"`:                                               {Amounts: []*exchange.PriceAmountInput{{Money: money("USD", "9"), Tiers: []*exchange.PriceTierInput{{Name: new("few"), MinimumQuantity: 5, Money: money("USD", "8")}, {Name: new("few"), MinimumQuantity: 6, Money: money("USD", "7")}}}}},
				`items.0.amounts.0.tiers.1.minimum_quantity must differ from that of the tier "few"`:    {Amounts: []*exchange.PriceAmountInput{{Money: money("USD", "9"), Tiers: []*exchange.PriceTierInput{{Name: new("few"), MinimumQuantity: 5, Money: money("USD", "8")}, {MinimumQuantity: 5, Money: money("USD", "7")}}}}},
			} {
				item.PricebookID, item.SKU = "list", "SKU-MUG"
				_, err := s.Exchange.UpsertPrices(t.Context(), storetest.Actor, []*exchange.PriceItemInput{item}, nil, false)
				require.ErrorContains(t, err, want)
			}
			_, err = s.Exchange.UpsertSales(t.Context(), storetest.Actor, []*exchange.SaleItemInput{{PricebookID: "list", SKU: "SKU-MUG", Name: "a"}, {PricebookID: "list", SKU: "SKU-MUG", Name: "b"}, {PricebookID: "list", SKU: "SKU-MUG", Name: "a", Remove: true}}, nil, false)
			require.ErrorContains(t, err, `items.2 is about the same sale as an item before it, "a"; send one item for each`)
			_, err = s.Exchange.DeclareAttributes(t.Context(), storetest.Actor, []*exchange.AttributeItemInput{{Key: "a", Label: new("A"), Type: new(catalog.AttributeText), Labels: []*exchange.AttributeLabelInput{{Locale: "fr"}, {Locale: "fr", Label: new("B")}}}}, nil, false)
			require.ErrorContains(t, err, `items.0.labels.1 repeats "fr"`)
			_, err = s.Exchange.DeclareAttributes(t.Context(), storetest.Actor, []*exchange.AttributeItemInput{{Key: "a", Label: new("A"), Type: new(catalog.AttributeText), Labels: []*exchange.AttributeLabelInput{{Locale: "x!", Label: new("B")}}}}, nil, false)
			require.ErrorContains(t, err, `items.0.labels.0.locale must be a BCP 47 tag`)
			require.Equal(t, before, storetest.Export(t, s))
		})
	})
}

// TestItemsWarnOfWhatTheyChange checks that a mutation warns of the members that its items name and of what follows from
// them, and not of mistakes that the product had before.
func TestItemsWarnOfWhatTheyChange(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		const variations = `,"base_product":true,"variations":[{"id":"v","name":"size","sort_order":0,"options":[{"id":"s","name":"S","description":"","sort_order":0}]}]`
		storetest.Import(t, s, storetest.JoinLines(product("parent", variations, ``),
			product("mug", `,"upc_ean":"4006381333932"`, `"main_image":{"data":{"type":"file","id":"none"}}`)))
		type item = exchange.ProductItemInput
		type texts = catalog.ProductTexts[*string]
		warned := func(item *item) (paths []string) {
			item.ID = new("mug")
			result, err := s.Exchange.UpsertProducts(t.Context(), storetest.Actor, []*exchange.ProductItemInput{item}, nil, true)
			require.NoError(t, err)
			for _, warning := range result.Warnings {
				paths = append(paths, strings.Join(warning.Path, "."))
			}
			return paths
		}
		require.Empty(t, warned(&item{ProductTexts: texts{Description: new("New")}}))
		require.Equal(t, []string{"items.0.main_image_id"}, warned(&item{ProductTexts: texts{Description: new("New")}, MainImageID: new("none")}), "named, though unchanged")
		require.Equal(t, []string{"items.0.upc_ean"}, warned(&item{ProductTexts: texts{UPCEAN: new("4006381333933")}}))
		require.Equal(t, []string{"items.0.option_ids"}, warned(&item{ParentID: new("parent")}), "follows from the parent")
	})
}

// money is an amount of an input.
func money(currency, digits string) rule.AmountInput {
	a := rule.AmountInput{Currency: currency}
	a.SetDigits(digits)
	return a
}

func TestUpsertPrices(t *testing.T) {
	t.Parallel()
	type amounts = []*exchange.PriceAmountInput
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.JoinLines(product("mug", ``, ``), `{"type":"pricebook","id":"list","attributes":{"name":"List"}}`,
			`{"type":"product-price","id":"p","attributes":{"sku":"SKU-MUG","currencies":{"EUR":{"amount":5,"includes_tax":false,"tiers":{"many":{"minimum_quantity":9,"amount":4}}},"USD":{"amount":6,"includes_tax":false}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"list"}}}}`))
		upsert := func(item *exchange.PriceItemInput) string {
			item.PricebookID = "list"
			result, err := s.Exchange.UpsertPrices(t.Context(), storetest.Actor, []*exchange.PriceItemInput{item}, nil, false)
			require.NoError(t, err)
			return fmt.Sprintf("%s%v", strings.Join(described(result), "\n"), []*store.Error(result.Warnings))
		}
		require.Equal(t, `p updated amounts.USD.money.amount:6->7[]`, upsert(&exchange.PriceItemInput{SKU: "SKU-MUG", Amounts: amounts{{Money: money("USD", "7")}}}))
		require.Equal(t, `p updated amounts.EUR.tiers.from_3.money.amount:->4 amounts.EUR.tiers.from_3.minimum_quantity:->3 amounts.EUR.tiers.many.money.amount:4-> amounts.EUR.tiers.many.minimum_quantity:9->[]`,
			upsert(&exchange.PriceItemInput{SKU: "SKU-MUG", Amounts: amounts{{Money: money("EUR", "5"), Tiers: []*exchange.PriceTierInput{{MinimumQuantity: 3, Money: money("EUR", "4")}}}}}))
		require.Equal(t, `p updated amounts.EUR.tiers.few.money.amount:->4 amounts.EUR.tiers.few.minimum_quantity:->3 amounts.EUR.tiers.from_3.money.amount:4-> amounts.EUR.tiers.from_3.minimum_quantity:3->[]`,
			upsert(&exchange.PriceItemInput{SKU: "SKU-MUG", Amounts: amounts{{Money: money("EUR", "5"), Tiers: []*exchange.PriceTierInput{{Name: new("few"), MinimumQuantity: 3, Money: money("EUR", "4")}}}}}))
		require.Equal(t, `p updated amounts.USD.money.amount:7-> amounts.USD.includes_tax:false->[]`, upsert(&exchange.PriceItemInput{SKU: "SKU-MUG", RemoveCurrencies: []string{"USD"}}))
		require.Contains(t, upsert(&exchange.PriceItemInput{ID: new("q"), SKU: "sku-mug", Amounts: amounts{{Money: money("USD", "7")}}}),
			`q created[items.0.sku is the SKU of no product; a product of the store has "SKU-MUG"`)

		start := time.Date(2030, 6, 1, 0, 0, 0, 0, time.UTC)
		sales := func(nulls store.Nulls, items ...*exchange.SaleItemInput) string {
			for _, item := range items {
				item.PricebookID, item.SKU = "list", "SKU-MUG"
			}
			result, err := s.Exchange.UpsertSales(t.Context(), storetest.Actor, items, nulls, false)
			require.NoError(t, err)
			return strings.Join(described(result), "\n")
		}
		require.Equal(t, `p updated sales.summer.amounts.EUR.money.amount:->3 sales.summer.amounts.EUR.includes_tax:->false sales.summer.valid_from:->"2030-06-01T00:00:00.000Z" sales.winter.amounts.EUR.money.amount:->2 sales.winter.amounts.EUR.includes_tax:->false`,
			sales(nil, &exchange.SaleItemInput{Name: "summer", ValidFrom: &start, Amounts: amounts{{Money: money("EUR", "3")}}}, &exchange.SaleItemInput{Name: "winter", Amounts: amounts{{Money: money("EUR", "2")}}}))
		require.Equal(t, `p updated sales.summer.valid_from:"2030-06-01T00:00:00.000Z"->`, sales(store.Nulls{"items.0.valid_from"}, &exchange.SaleItemInput{Name: "summer"}))
		require.Equal(t, `p updated sales.summer.amounts.EUR.money.amount:3-> sales.summer.amounts.EUR.includes_tax:false->`, sales(nil, &exchange.SaleItemInput{Name: "summer", Remove: true}))
		require.Contains(t, exported(t, s, "product-price", "p"), `"sales":{"winter"`)
	})
}

func TestDeleteProducts(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.ShopFile)
		before := storetest.Export(t, s)
		_, err := s.Exchange.DeleteProducts(t.Context(), storetest.Actor, []string{"anvil", "none", "a b"}, false)
		require.ErrorContains(t, err, `ids.1 is not the id of a product: "none"`)
		require.ErrorContains(t, err, `ids.2 is not the id of a product: "a b"`)
		dry, err := s.Exchange.DeleteProducts(t.Context(), storetest.Actor, []string{"anvil"}, true)
		require.NoError(t, err)
		require.Contains(t, dry.Warnings.Error(), "ids.0 is still used by the")
		require.Equal(t, before, storetest.Export(t, s))
		done, err := s.Exchange.DeleteProducts(t.Context(), storetest.Actor, []string{"anvil", "anvil"}, false)
		require.NoError(t, err)
		require.Equal(t, []string{"anvil deleted"}, described(done))
		require.Empty(t, exported(t, s, "product", "anvil"))
	})
}

// Two mutations that change different members of one product keep both changes.
func TestItemsOfConcurrentMutations(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		storetest.Import(t, s, product("mug", ``, ``))
		locales := strings.Fields("de fr it es nl pt sv pl")
		const writers = 8
		failed := make(chan error, writers)
		for i := range writers {
			go func() {
				_, err := s.Exchange.UpsertProducts(context.WithoutCancel(t.Context()), storetest.Actor, []*exchange.ProductItemInput{{ID: new("mug"),
					Translations: []*catalog.TranslationChange{{Locale: locales[i], Name: new("A")}}}}, nil, false)
				failed <- err
			}()
		}
		for range writers {
			require.NoError(t, <-failed)
		}
		require.Equal(t, writers, strings.Count(exported(t, s, "product", "mug"), `{"name":"A"}`))
	})
}
