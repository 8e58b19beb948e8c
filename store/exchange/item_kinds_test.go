package exchange_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/catalog"
	"portico/store/exchange"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// itemStep is a mutation of a table of steps, which run one after the other on one shop.
type itemStep struct {
	name string
	do   func(s *shop.Store, dryRun bool) (*exchange.ItemsWritten, error)
	want string // what it did, or the error
}

// runItemSteps runs each step dry first, which must write nothing and return the same.
func runItemSteps(t *testing.T, s *shop.Store, steps []itemStep) {
	for _, step := range steps {
		before := storetest.Export(t, s)
		dry, dryErr := step.do(s, true)
		require.Equal(t, before, storetest.Export(t, s), "%s: a dry run writes nothing", step.name)
		done, err := step.do(s, false)
		if err != nil {
			require.ErrorContains(t, err, step.want, step.name)
			require.ErrorContains(t, dryErr, step.want, step.name)
			require.NotEqual(t, store.Internal, store.AsErrors(err)[0].Code, step.name)
			require.Equal(t, before, storetest.Export(t, s), "%s: all or none", step.name)
			continue
		}
		require.NoError(t, dryErr, step.name)
		got := strings.Join(described(done), "\n")
		for _, warning := range done.Warnings {
			got += "\n" + warning.Error()
		}
		require.Equal(t, step.want, got, step.name)
		require.Len(t, dry.Items, len(done.Items), step.name)
		for i := range dry.Items {
			require.Equal(t, done.Items[i].Outcome, dry.Items[i].Outcome, step.name)
		}
	}
}

func TestUpsertNodes(t *testing.T) {
	t.Parallel()
	type item = exchange.CatalogNodeItemInput
	upsert := func(nulls store.Nulls, items ...*item) func(*shop.Store, bool) (*exchange.ItemsWritten, error) {
		return func(s *shop.Store, dry bool) (*exchange.ItemsWritten, error) {
			return s.Exchange.UpsertNodes(t.Context(), storetest.Actor, items, nulls, dry)
		}
	}
	remove := func(ids ...string) func(*shop.Store, bool) (*exchange.ItemsWritten, error) {
		return func(s *shop.Store, dry bool) (*exchange.ItemsWritten, error) {
			return s.Exchange.DeleteNodes(t.Context(), storetest.Actor, ids, dry)
		}
	}
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t, storetest.WithClock(testkit.NewClock(testkit.Noon)))
		storetest.Import(t, s, storetest.JoinLines(`{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`, `{"type":"hierarchy","id":"other","attributes":{"name":"O"}}`, product("mug", ``, ``),
			`{"type":"attribute","id":"width","attributes":{"label":"Width","attribute_type":"number"}}`,
			`{"type":"node","id":"n","attributes":{"name":"N","curated_products":["mug"],"created_at":"2024-05-01T00:00:00Z"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":[{"type":"product","id":"mug"}]}}}`))
		runItemSteps(t, s, []itemStep{
			{"new ones, one below the other", upsert(nil, &item{ID: new("below"), HierarchyID: new("h"), ParentID: new("top"), Name: new("Below")}, &item{ID: new("top"), HierarchyID: new("h"), Name: new("Top")}), "below created\ntop created"},
			{"again", upsert(nil, &item{ID: new("top"), HierarchyID: new("h"), Name: new("Top")}), "top unchanged"},
			{"texts of one with products", upsert(nil, &item{ID: new("n"), Name: new("Mugs"), Seo: &catalog.SEOChange{Title: new("T")}}), `n updated name:"N"->"Mugs" seo.title:->"T"`},
			{"its products stay", upsert(store.Nulls{"items.0.seo"}, &item{ID: new("n")}), `n updated seo.title:"T"->`},
			{"texts in languages", upsert(nil, &item{ID: new("n"), Translations: []*catalog.TranslationChange{{Locale: "fr", Name: new("Bols"), SEO: &catalog.SEOChange{Title: new("B")}}, {Locale: "pt_BR", Description: new("Azul")}}}),
				`n updated translations.fr.name:->"Bols" translations.fr.seo.title:->"B" translations.pt-BR.description:->"Azul"`},
			{"others stay", upsert(store.Nulls{"items.0.translations.0.seo"}, &item{ID: new("n"), Translations: []*catalog.TranslationChange{{Locale: "fr", Description: new("Bleu")}}}),
				`n updated translations.fr.description:->"Bleu" translations.fr.seo.title:"B"->`},
			{"one is cleared", upsert(store.Nulls{"items.0.translations.0.description"}, &item{ID: new("n"), Translations: []*catalog.TranslationChange{{Locale: "pt-BR"}}}), `n updated translations.pt-BR.description:"Azul"->`},
			{"no language", upsert(nil, &item{ID: new("n"), Translations: []*catalog.TranslationChange{{Locale: "de"}, {Locale: "x!", Name: new("A")}}}), "items.0.translations.1.locale must be a BCP 47 tag"},
			{"too long a text", upsert(nil, &item{ID: new("n"), Translations: []*catalog.TranslationChange{{Locale: "de", SEO: &catalog.SEOChange{Title: new(strings.Repeat("a", 1025))}}}}), "items.0.translations.0.seo.title must be at most 1024 bytes"},
			{"none is left", upsert(store.Nulls{"items.0.translations"}, &item{ID: new("n")}), `n updated translations.fr.description:"Bleu"-> translations.fr.name:"Bols"->`},
			{"a position", upsert(nil, &item{ID: new("n"), Position: new(0)}), `n updated position:->0`},
			{"too high a position", upsert(nil, &item{ID: new("n"), Position: new(1_000_001)}), "items.0.position must be between 0 and 1000000, got 1000001"},
			{"a position below 0", upsert(nil, &item{ID: new("n"), Position: new(-1)}), "items.0.position must be between 0 and 1000000, got -1"},
			{"no position", upsert(store.Nulls{"items.0.position"}, &item{ID: new("n")}), `n updated position:0->`},
			{"a main image of no file", upsert(nil, &item{ID: new("n"), MainImageID: new("none")}), `n updated main_image_id:->"none"` + "\n" + `items.0.main_image_id refers to a file that is neither in the items nor in the store: "none".`},
			{"no main image", upsert(store.Nulls{"items.0.main_image_id"}, &item{ID: new("n")}), `n updated main_image_id:"none"->`},
			{"an attribute", upsert(nil, &item{ID: new("n"), Attributes: []*exchange.AttributeValueInput{{Key: "width", Value: json.RawMessage(`4.5`)}}}), `n updated attributes.width.value:->4.5`},
			{"an undeclared attribute", upsert(nil, &item{ID: new("n"), Attributes: []*exchange.AttributeValueInput{{Key: "watt", Value: json.RawMessage(`5`)}}}), `items.0.attributes.0.key is not declared: "watt"`},
			{"a wrong value", upsert(nil, &item{ID: new("n"), Attributes: []*exchange.AttributeValueInput{{Key: "width", Value: json.RawMessage(`"wide"`)}}}), "items.0.attributes.0.value must be a number"},
			{"an attribute twice", upsert(nil, &item{ID: new("n"), Attributes: []*exchange.AttributeValueInput{{Key: "width"}, {Key: "width"}}}), "items.0.attributes.1 repeats"},
			{"no attribute", upsert(store.Nulls{"items.0.attributes.0.value"}, &item{ID: new("n"), Attributes: []*exchange.AttributeValueInput{{Key: "width"}}}), `n updated attributes.width.value:4.5->`},
			{"moved", upsert(nil, &item{ID: new("n"), ParentID: new("below")}), `n updated parent_id:->"below"`},
			{"below itself", upsert(nil, &item{ID: new("top"), ParentID: new("n")}), "items.0.parent_id must not be the node itself or one of its descendants"},
			{"in another hierarchy than its parent", upsert(nil, &item{ID: new("n"), HierarchyID: new("other")}), `items.0.parent_id must be a node of the same hierarchy, "other"; "below" is in "h"`},
			{"new ones in the hierarchy of their parents", upsert(nil, &item{ID: new("leaf"), ParentID: new("twig"), Name: new("L")}, &item{ID: new("twig"), ParentID: new("other"), Name: new("T")}, &item{ID: new("mine"), ParentID: new("below"), Name: new("M")}),
				"leaf created\ntwig created\nmine created"},
			{"which they keep", upsert(nil, &item{ID: new("leaf"), HierarchyID: new("other"), ParentID: new("twig")}, &item{ID: new("twig"), HierarchyID: new("other"), ParentID: new("other")}, &item{ID: new("mine"), HierarchyID: new("h")}),
				"leaf unchanged\ntwig unchanged\nmine unchanged"},
			{"moved to another hierarchy", upsert(nil, &item{ID: new("mine"), ParentID: new("twig")}), `items.0.parent_id must be a node of the same hierarchy, "h"; "twig" is in "other"`},
			{"a parent that leads nowhere", upsert(nil, &item{ID: new("x"), ParentID: new("y"), Name: new("X")}, &item{ID: new("y"), ParentID: new("none"), Name: new("Y")}), `items.0.parent_id leads to no hierarchy: "y"; send the id of a node or hierarchy.; items.1.parent_id leads to no hierarchy: "none"; send the id of a node or hierarchy`},
			{"new ones in a circle", upsert(nil, &item{ID: new("x"), ParentID: new("y"), Name: new("X")}, &item{ID: new("y"), ParentID: new("x"), Name: new("Y")}), `items.0.parent_id leads to no hierarchy: "y"; send the id of a node or hierarchy.; items.1.parent_id leads to no hierarchy: "x"; send the id of a node or hierarchy`},
			{"deleted, the lower first", remove("leaf", "twig", "mine"), "leaf deleted\ntwig deleted\nmine deleted"},
			{"no hierarchy", upsert(nil, &item{ID: new("x"), Name: new("X")}), "items.0.hierarchy_id is required; a new node may have parentId instead: a hierarchy, or a node of one"},
			{"an unknown hierarchy", upsert(nil, &item{ID: new("x"), Name: new("X"), HierarchyID: new("none")}), `items.0.hierarchy_id refers to the hierarchy "none"`},
			{"the id of a hierarchy", upsert(nil, &item{ID: new("h"), HierarchyID: new("h"), Name: new("X")}), `items.0.id is already used by a hierarchy: "h"`},
			{"deleted below others", remove("top"), `ids.0 cannot be deleted: below it is the node "below"`},
			{"unknown", remove("top", "none"), `ids.1 is not the id of a node: "none"`},
			{"at the top again", upsert(store.Nulls{"items.0.parent_id"}, &item{ID: new("n")}), `n updated parent_id:"below"->`},
			{"below its hierarchy is at the top", upsert(nil, &item{ID: new("n"), ParentID: new("h")}), "n unchanged"},
			{"a new one below its hierarchy", upsert(nil, &item{ID: new("x"), HierarchyID: new("h"), ParentID: new("h"), Name: new("X")}), "x created"},
			{"below another hierarchy", upsert(nil, &item{ID: new("n"), ParentID: new("other")}), `items.0.parent_id refers to the node "other"`},
			{"deleted with those below", remove("top", "below", "top", "x"), "top deleted\nbelow deleted\nx deleted"},
		})
		require.Equal(t, `{"type":"node","id":"n","attributes":{"name":"Mugs","curated_products":["mug"],"created_at":"2024-05-01T00:00:00.000Z","updated_at":"2024-05-30T12:00:00.000Z"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":[{"type":"product","id":"mug"}]}}}`, exported(t, s, "node", "n"))
	})
}

func TestUpsertHierarchies(t *testing.T) {
	t.Parallel()
	type item = exchange.HierarchyItemInput
	upsert := func(nulls store.Nulls, items ...*item) func(*shop.Store, bool) (*exchange.ItemsWritten, error) {
		return func(s *shop.Store, dry bool) (*exchange.ItemsWritten, error) {
			return s.Exchange.UpsertHierarchies(t.Context(), storetest.Actor, items, nulls, dry)
		}
	}
	remove := func(ids ...string) func(*shop.Store, bool) (*exchange.ItemsWritten, error) {
		return func(s *shop.Store, dry bool) (*exchange.ItemsWritten, error) {
			return s.Exchange.DeleteHierarchies(t.Context(), storetest.Actor, ids, dry)
		}
	}
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t, storetest.WithClock(testkit.NewClock(testkit.Noon)))
		storetest.Import(t, s, storetest.JoinLines(`{"type":"hierarchy","id":"h","attributes":{"name":"H","slug":"h","created_at":"2024-05-01T00:00:00Z"}}`, `{"type":"hierarchy","id":"sold","attributes":{"name":"Sold"}}`,
			`{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["sold"]}}`, `{"type":"catalog","id":"outlet","attributes":{"name":"Outlet","hierarchies":["sold"]}}`,
			`{"type":"node","id":"n","attributes":{"name":"N"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}}}}`))
		runItemSteps(t, s, []itemStep{
			{"new ones", upsert(nil, &item{ID: new("a"), Name: new("A")}, &item{ID: new("b"), Name: new("B"), Translations: []*catalog.TranslationChange{{Locale: "fr", Name: new("Bé")}}}), "a created\nb created"},
			{"again", upsert(nil, &item{ID: new("a"), Name: new("A")}), "a unchanged"},
			{"texts", upsert(nil, &item{ID: new("h"), Description: new("D"), Seo: &catalog.SEOChange{Title: new("T")}, Translations: []*catalog.TranslationChange{{Locale: "pt_BR", SEO: &catalog.SEOChange{Description: new("S")}}}}),
				`h updated description:->"D" translations.pt-BR.seo.description:->"S" seo.title:->"T"`},
			{"cleared", upsert(store.Nulls{"items.0.slug", "items.0.seo.title", "items.0.translations.0.seo"}, &item{ID: new("h"), Seo: &catalog.SEOChange{}, Translations: []*catalog.TranslationChange{{Locale: "pt-BR", Name: new("Agá")}}}),
				`h updated translations.pt-BR.name:->"Agá" translations.pt-BR.seo.description:"S"-> seo.title:"T"-> slug:"h"->`},
			{"no name", upsert(nil, &item{ID: new("a")}, &item{}), "items.1.name is required"},
			{"a name cleared", upsert(store.Nulls{"items.0.name"}, &item{ID: new("a")}), "items.0.name is required"},
			{"no language", upsert(nil, &item{ID: new("a"), Translations: []*catalog.TranslationChange{{Locale: "x!", Name: new("A")}}}), "items.0.translations.0.locale must be a BCP 47 tag"},
			{"the id of a node", upsert(nil, &item{ID: new("n"), Name: new("X")}), `items.0.id is already used by a node: "n"`},
			{"twice", upsert(nil, &item{ID: new("a")}, &item{ID: new("a")}), `items.1 is about the same resource as an item before it, "a"`},
			{"too many", upsert(nil, make([]*item, 1001)...), "items must have between 1 and 1000 elements, got 1001"},
			{"deleted with nodes", remove("a", "h"), `ids.1 cannot be deleted: it is used by the node "n"; change or delete that first`},
			{"deleted from catalogs", remove("sold"), `ids.0 cannot be deleted: it is used by the catalog "main" and 1 more; change or delete that first`},
			{"unknown", remove("a", "none"), `ids.1 is not the id of a hierarchy: "none"`},
			{"deleted", remove("b", "a", "b"), "b deleted\na deleted"},
		})
		require.Equal(t, `{"type":"hierarchy","id":"h","attributes":{"name":"H","description":"D","locales":{"pt-BR":{"name":"Agá"}},"created_at":"2024-05-01T00:00:00.000Z","updated_at":"2024-05-30T12:00:00.000Z"}}`, exported(t, s, "hierarchy", "h"))
	})
}

func TestSetSynonyms(t *testing.T) {
	t.Parallel()
	type item = exchange.SynonymItemInput
	set := func(nulls store.Nulls, items ...*item) func(*shop.Store, bool) (*exchange.ItemsWritten, error) {
		return func(s *shop.Store, dry bool) (*exchange.ItemsWritten, error) {
			return s.Exchange.SetSynonyms(t.Context(), storetest.Actor, items, nulls, dry)
		}
	}
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.JoinLines(`{"type":"synonym","id":"sofa","attributes":{"kind":"equivalent","terms":["sofa","couch"]}}`, `{"type":"synonym","id":"bike","attributes":{"kind":"one_way","locale":"en","term":"bike","terms":["road bike"]}}`))
		runItemSteps(t, s, []itemStep{
			{"one with the same terms is that", set(nil, &item{Terms: []string{"couch", "sofa"}}), `sofa updated terms:["sofa","couch"]->["couch","sofa"]`},
			{"one with the same term", set(nil, &item{Locale: new("en"), Term: new("bike"), Terms: []string{"road bike", "bicycle"}}), `bike updated terms:["road bike"]->["road bike","bicycle"]`},
			{"new ones", set(nil, &item{ID: new("a"), Term: new("tv"), Terms: []string{"television"}}, &item{ID: new("b"), Locale: new("de"), Terms: []string{"a", "b"}}), "a created\nb created"},
			{"by id", set(store.Nulls{"items.0.locale"}, &item{ID: new("b"), Terms: []string{"a", "c"}}), `b updated locale:"de"-> terms:["a","b"]->["a","c"]`},
			{"removed and changed", set(nil, &item{Terms: []string{"a", "c"}, Remove: true}, &item{ID: new("a"), Term: new("telly")}), "b deleted\n" + `a updated term:"tv"->"telly"`},
			{"twice", set(nil, &item{ID: new("a")}, &item{Term: new("telly")}), `items.1 is about the same resource as an item before it, "a"`},
			{"removed, but unknown", set(nil, &item{ID: new("a")}, &item{ID: new("none"), Remove: true}), "items.1 is no synonym of the store, so it cannot be removed"},
			{"neither id nor terms", set(nil, &item{}), "items.0 needs an id, a term or terms"},
			{"too few terms", set(nil, &item{Terms: []string{"a"}}), "items.0.terms must have 2 to 20 terms, got 1"},
			{"a term without words", set(nil, &item{Terms: []string{"a", "!"}}), "items.0.terms.1 must have 1 to"},
			{"a wrong locale", set(nil, &item{Locale: new("?"), Terms: []string{"a", "b"}}), `items.0.locale must be a BCP 47 tag such as en or zh-Hant, got "?"`},
		})
		require.Equal(t, `{"type":"synonym","id":"a","attributes":{"kind":"one_way","term":"telly","terms":["television"]}}`, exported(t, s, "synonym", "a"))
	})
}

func TestSetRedirects(t *testing.T) {
	t.Parallel()
	type item = exchange.RedirectItemInput
	set := func(items ...*item) func(*shop.Store, bool) (*exchange.ItemsWritten, error) {
		return func(s *shop.Store, dry bool) (*exchange.ItemsWritten, error) {
			return s.Exchange.SetRedirects(t.Context(), storetest.Actor, items, nil, dry)
		}
	}
	clear := func(i *item, members ...string) func(*shop.Store, bool) (*exchange.ItemsWritten, error) {
		return func(s *shop.Store, dry bool) (*exchange.ItemsWritten, error) {
			return s.Exchange.SetRedirects(t.Context(), storetest.Actor, []*item{i}, members, dry)
		}
	}
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.JoinLines(product("mug", ``, ``), `{"type":"redirect","id":"r","attributes":{"from":"old","to":"new"}}`))
		runItemSteps(t, s, []itemStep{
			{"by its path", set(&item{From: new("/old/"), To: new("newer")}), `r updated to:"new"->"newer"`},
			{"the path of a product", set(&item{ID: new("m"), From: new("mug"), To: new("newer")}), "m created\n" + `items.0.from is also the path of the product "mug" in the store: storefronts that ask for redirects first do not show it.`},
			{"another path", set(&item{ID: new("m"), From: new("mugs")}), `m updated from:"mug"->"mugs"`},
			{"no longer", set(&item{ID: new("m"), Remove: true}), "m deleted"},
			{"to a product", set(&item{From: new("old"), ProductID: new("mug")}), `r updated to:"newer"-> target:->"mug"`},
			{"to an unknown node", set(&item{ID: new("r"), CatalogNodeID: new("none")}), `r updated target.id:"mug"->"none" target.type:"product"->"node"` + "\n" + `items.0.catalog_node_id refers to a node or hierarchy that is neither in the items nor in the store: "none".`},
			{"to a URL", set(&item{ID: new("r"), To: new("https://other.example/mug")}), `r updated to:->"https://other.example/mug" target:"none"->`},
			{"new ones", set(&item{ID: new("a"), From: new("a"), To: new("b")}, &item{ID: new("b"), From: new("b"), To: new("c")}), "a created\nb created"},
			{"a loop", set(&item{ID: new("c"), From: new("c"), To: new("a")}), "items.0.to leads back to itself, over 3 redirects"},
			{"one breaks the loop", set(&item{ID: new("c"), From: new("c"), To: new("a")}, &item{From: new("b"), Remove: true}), "c created\nb deleted"},
			{"a path that another has", set(&item{ID: new("d"), From: new("a"), To: new("x")}), `items.0.from is also the path of the redirect "a"; change or delete that first`},
			{"in the place of the other", set(&item{ID: new("d"), From: new("a"), To: new("x")}, &item{ID: new("a"), Remove: true}), "d created\na deleted"},
			{"no destination", set(&item{From: new("e")}), "items.0 needs exactly one of to, productId and catalogNodeId"},
			{"two destinations", set(&item{From: new("e"), To: new("x"), ProductID: new("mug")}), "items.0 needs exactly one of to, productId and catalogNodeId"},
			{"an empty destination", set(&item{From: new("e"), To: new("/")}), `items.0.to must be a path such as shop/cups, or a URL, got "/"`},
			{"the destination cleared", clear(&item{ID: new("r")}, "items.0.to"), "items.0.to is the destination of the redirect; send another of to, productId and catalogNodeId, or remove: true"},
			{"the path cleared", clear(&item{ID: new("r")}, "items.0.from"), "items.0.from is required"},
			{"what is not set cleared", clear(&item{ID: new("r")}, "items.0.catalog_node_id", "items.0.product_id"), "r unchanged"},
			{"to a product in place of a URL", clear(&item{ID: new("r"), ProductID: new("mug")}, "items.0.to", "items.0.catalog_node_id"), `r updated to:"https://other.example/mug"-> target:->"mug"`},
			{"the product cleared", clear(&item{ID: new("r")}, "items.0.product_id"), "items.0.product_id is the destination of the redirect"},
			{"to the URL again", clear(&item{ID: new("r"), To: new("https://other.example/mug")}, "items.0.product_id"), `r updated to:->"https://other.example/mug" target:"mug"->`},
			{"a new one, cleared", clear(&item{From: new("e")}, "items.0.to"), "items.0 needs exactly one of to, productId and catalogNodeId"},
			{"neither id nor path", set(&item{To: new("x")}), "items.0 needs an id, or from"},
			{"a URL as the path", set(&item{From: new("https://a.example/b"), To: new("x")}), "items.0.from must be a path without scheme"},
		})
		require.Equal(t, `{"type":"redirect","id":"r","attributes":{"from":"old","to":"https://other.example/mug"},"relationships":{}}`, exported(t, s, "redirect", "r"))
	})
}

func TestPriceItemSteps(t *testing.T) {
	t.Parallel()
	type (
		price   = exchange.PriceItemInput
		sale    = exchange.SaleItemInput
		amounts = []*exchange.PriceAmountInput
		did     = func(*shop.Store, bool) (*exchange.ItemsWritten, error)
	)
	prices := func(items ...*price) did {
		return func(s *shop.Store, dry bool) (*exchange.ItemsWritten, error) {
			for _, item := range items {
				item.PricebookID = "book"
			}
			return s.Exchange.UpsertPrices(t.Context(), storetest.Actor, items, nil, dry)
		}
	}
	sales := func(items ...*sale) did {
		return func(s *shop.Store, dry bool) (*exchange.ItemsWritten, error) {
			for _, item := range items {
				item.PricebookID = "book"
			}
			return s.Exchange.UpsertSales(t.Context(), storetest.Actor, items, nil, dry)
		}
	}
	nulled := func(nulls ...string) did {
		return func(s *shop.Store, dry bool) (*exchange.ItemsWritten, error) {
			return s.Exchange.UpsertPrices(t.Context(), storetest.Actor, []*price{{PricebookID: "book", SKU: "SKU-MUG"}}, nulls, dry)
		}
	}
	of := func(amount string) amounts { return amounts{{Money: money("USD", amount)}} }
	const notAnAmount = `items.0.amounts.0.money.amount must be digits of minor units without a sign or leading zeros, such as "1250", got `
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.JoinLines(product("mug", ``, ``), product("cup", ``, ``), `{"type":"pricebook","id":"book","attributes":{"name":"Book"}}`, priceOf("SKU-MUG", "USD")))
		steps := []itemStep{
			{"set and removed", prices(&price{SKU: "SKU-MUG", Amounts: of("7"), RemoveCurrencies: []string{"EUR", "USD"}}), `items.0.remove_currencies.1 is also in amounts, "USD"; send it in one of them`},
			{"a removed currency in small letters", prices(&price{SKU: "SKU-MUG", Amounts: of("7"), RemoveCurrencies: []string{"eur"}}), `items.0.remove_currencies.0 must be a three-letter currency code such as USD, got "eur"`},
			{"a sign as a removed currency", sales(&sale{SKU: "SKU-MUG", Name: "s", Amounts: of("7"), RemoveCurrencies: []string{"US$"}}), `items.0.remove_currencies.0 must be a three-letter currency code such as USD, got "US$"`},
			{"removed twice", prices(&price{SKU: "SKU-MUG", Amounts: of("7"), RemoveCurrencies: []string{"EUR", "EUR"}}), `items.0.remove_currencies.1 repeats "EUR", which is in the list as number 0, counted from 0; send it once`},
			{"a currency that the price does not have", prices(&price{SKU: "SKU-MUG", RemoveCurrencies: []string{"EUR"}}), "p-SKU-MUG unchanged"},
			{"the last amount", prices(&price{SKU: "SKU-MUG", RemoveCurrencies: []string{"USD"}}), "items.0.remove_currencies would leave the price without amounts; delete it with pricesDelete"},
			{"a new price without amounts", prices(&price{SKU: "SKU-CUP"}), "items.0.amounts is required"},
			{"an amount over the bound", prices(&price{SKU: "SKU-MUG", Amounts: of("9007199254740992")}), `items.0.amounts.0.money.amount must be between 0 and 9007199254740991, got "9007199254740992"`},
			{"an amount over 64 bits", prices(&price{SKU: "SKU-MUG", Amounts: of("99999999999999999999")}), `items.0.amounts.0.money.amount must be between 0 and 9007199254740991, got "99999999999999999999"`},
			{"all amounts of a price without sales", nulled("items.0.amounts"), "items.0.amounts would leave the price without amounts; delete it with pricesDelete"},
			{"a sale", sales(&sale{SKU: "SKU-MUG", Name: "summer", Amounts: of("0")}), `p-SKU-MUG updated sales.summer.amounts.USD.money.amount:->0 sales.summer.amounts.USD.includes_tax:->false`},
			{"its last amount", sales(&sale{SKU: "SKU-MUG", Name: "summer", RemoveCurrencies: []string{"USD"}}), "items.0.remove_currencies would leave the sale without amounts; send remove: true to remove it"},
			{"all its amounts", func(s *shop.Store, dry bool) (*exchange.ItemsWritten, error) {
				return s.Exchange.UpsertSales(t.Context(), storetest.Actor, []*sale{{PricebookID: "book", SKU: "SKU-MUG", Name: "summer"}}, store.Nulls{"items.0.amounts"}, dry)
			}, "items.0.amounts would leave the sale without amounts; send remove: true to remove it"},
			{"a new sale without amounts", sales(&sale{SKU: "SKU-MUG", Name: "winter", ValidTo: new(time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC))}), "items.0.amounts is required for a new sale"},
			{"of a SKU without a price", sales(&sale{SKU: "SKU-CUP", Name: "summer"}), "items.0.amounts is required for a new sale"},
			{"all amounts of a price with a sale", nulled("items.0.amounts"), `p-SKU-MUG updated amounts.USD.money.amount:100-> amounts.USD.includes_tax:false->`},
			{"an unknown sale removed", sales(&sale{SKU: "SKU-MUG", Name: "winter", Remove: true}), `items.0 is no sale of the price, so it cannot be removed: "winter"`},
			{"a sale removed of a SKU without a price", sales(&sale{SKU: "SKU-CUP", Name: "summer", Remove: true}), `items.0 is no sale of the price, so it cannot be removed: "summer"`},
			{"the last sale of a price without amounts", sales(&sale{SKU: "SKU-MUG", Name: "summer", Remove: true}), "items.0.remove would leave the price without amounts and sales; delete it with pricesDelete"},
			{"in place of another", sales(&sale{SKU: "SKU-MUG", Name: "summer", Remove: true}, &sale{SKU: "SKU-MUG", Name: "winter", Amounts: of("1")}),
				`p-SKU-MUG updated sales.summer.amounts.USD.money.amount:0-> sales.summer.amounts.USD.includes_tax:false-> sales.winter.amounts.USD.money.amount:->1 sales.winter.amounts.USD.includes_tax:->false`},
		}
		const second = `items.0.sku has a second price by this item, beside "p-SKU-MUG" in the price book "book"; shoppers see that of the smallest id, "a"; delete one with pricesDelete.`
		steps = append(steps, []itemStep{
			{"a second price", prices(&price{ID: new("a"), SKU: "SKU-MUG", Amounts: of("7")}), "a created\n" + second},
			{"unchanged", prices(&price{ID: new("a"), SKU: "SKU-MUG"}), "a unchanged"},
			{"changed", prices(&price{ID: new("a"), SKU: "SKU-MUG", Amounts: of("8")}), "a updated amounts.USD.money.amount:7->8\n" + second},
			{"moved away", prices(&price{ID: new("a"), SKU: "SKU-CUP"}), `a updated sku:"SKU-MUG"->"SKU-CUP"`},
			{"two of one call", prices(&price{ID: new("c"), SKU: "SKU-CUP", Amounts: of("7")}, &price{ID: new("a"), SKU: "SKU-CUP", Amounts: of("7")}),
				"c created\na updated amounts.USD.money.amount:8->7\n" + `items.1.sku has a second price by this item, beside "c" in the price book "book"; shoppers see that of the smallest id, "a"; delete one with pricesDelete.`},
			{"they change places", prices(&price{ID: new("a"), SKU: "SKU-MUG"}, &price{ID: new("p-SKU-MUG"), SKU: "SKU-CUP"}, &price{ID: new("c"), SKU: "C-3", Amounts: of("7")}),
				`a updated sku:"SKU-CUP"->"SKU-MUG"` + "\n" + `p-SKU-MUG updated sku:"SKU-MUG"->"SKU-CUP"` + "\n" + `c updated sku:"SKU-CUP"->"C-3"` + "\n" + `items.2.sku is the SKU of no product in the items or the store: "C-3".`},
			{"back", prices(&price{ID: new("a"), SKU: "SKU-CUP"}, &price{ID: new("p-SKU-MUG"), SKU: "SKU-MUG"}), `a updated sku:"SKU-MUG"->"SKU-CUP"` + "\n" + `p-SKU-MUG updated sku:"SKU-CUP"->"SKU-MUG"`},
		}...)
		for _, wrong := range []string{"1.5", "", "+5", "-1", "007", "1e3", " 1"} {
			steps = append(steps, itemStep{"the amount " + wrong, prices(&price{SKU: "SKU-MUG", Amounts: of(wrong)}), notAnAmount + strconv.Quote(wrong)})
		}
		runItemSteps(t, s, steps)
		_, err := sales(&sale{SKU: "SKU-MUG", Name: "none", Remove: true})(s, false)
		require.Equal(t, store.NotFound, store.AsErrors(err)[0].Code)
	})
}

// A width and a height belong together, and redirects to what is deleted are named.
func TestFileSizesAndRedirectUses(t *testing.T) {
	t.Parallel()
	type (
		item = exchange.FileItemInput
		did  = func(*shop.Store, bool) (*exchange.ItemsWritten, error)
	)
	files := func(i *item, nulls ...string) did {
		return func(s *shop.Store, dry bool) (*exchange.ItemsWritten, error) {
			return s.Exchange.UpsertFiles(t.Context(), storetest.Actor, []*item{i}, nulls, dry)
		}
	}
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.JoinLines(product("mug", ``, ``), product("cup", ``, ``), `{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`,
			`{"type":"node","id":"n","attributes":{"name":"N"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}}}}`,
			`{"type":"redirect","id":"r1","attributes":{"from":"old"},"relationships":{"target":{"data":{"type":"product","id":"mug"}}}}`,
			`{"type":"redirect","id":"r2","attributes":{"from":"older"},"relationships":{"target":{"data":{"type":"product","id":"mug"}}}}`,
			`{"type":"redirect","id":"r3","attributes":{"from":"cup"},"relationships":{"target":{"data":{"type":"node","id":"n"}}}}`,
			`{"type":"redirect","id":"r4","attributes":{"from":"mug","to":"n"}}`))
		runItemSteps(t, s, []itemStep{
			{"a width alone", files(&item{ID: new("f"), FileName: new("f.jpg"), Href: new("https://files.example/f.jpg"), Width: new(8)}), "items.0.height is required with a width; send both, or null for both"},
			{"a height alone", files(&item{ID: new("f"), FileName: new("f.jpg"), Href: new("https://files.example/f.jpg"), Height: new(8)}), "items.0.width is required with a height; send both, or null for both"},
			{"both", files(&item{ID: new("f"), FileName: new("f.jpg"), Href: new("https://files.example/f.jpg"), Width: new(8), Height: new(6)}), "f created"},
			{"one changes", files(&item{ID: new("f"), Width: new(9)}), "f updated width:8->9"},
			{"one cleared", files(&item{ID: new("f")}, "items.0.width"), "items.0.width is required with a height; send both, or null for both"},
			{"both cleared", files(&item{ID: new("f")}, "items.0.width", "items.0.height"), `f updated height:6-> width:9->`},
			{"without both", files(&item{ID: new("f"), MimeType: new("image/jpeg")}), `f updated mime_type:""->"image/jpeg"`},
			{"products", func(s *shop.Store, dry bool) (*exchange.ItemsWritten, error) {
				return s.Exchange.DeleteProducts(t.Context(), storetest.Actor, []string{"cup", "mug"}, dry)
			}, "cup deleted\nmug deleted\n" + `ids.1 is still used by the redirect "r1" and 1 more.`},
			{"a node", func(s *shop.Store, dry bool) (*exchange.ItemsWritten, error) {
				return s.Exchange.DeleteNodes(t.Context(), storetest.Actor, []string{"n"}, dry)
			}, "n deleted\n" + `ids.0 is still used by the redirect "r3".`},
		})
	})
}

func TestDeleteFilesAndPrices(t *testing.T) {
	t.Parallel()
	type key = exchange.PriceKeyInput
	prices := func(items ...*key) func(*shop.Store, bool) (*exchange.ItemsWritten, error) {
		return func(s *shop.Store, dry bool) (*exchange.ItemsWritten, error) {
			return s.Exchange.DeletePrices(t.Context(), storetest.Actor, items, dry)
		}
	}
	files := func(ids ...string) func(*shop.Store, bool) (*exchange.ItemsWritten, error) {
		return func(s *shop.Store, dry bool) (*exchange.ItemsWritten, error) {
			return s.Exchange.DeleteFiles(t.Context(), storetest.Actor, ids, dry)
		}
	}
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		const file = `{"type":"file","id":"%","file_name":"%.jpg","link":{"href":"https://files.example/%.jpg"}}`
		storetest.Import(t, s, storetest.JoinLines(strings.ReplaceAll(file, "%", "front"), strings.ReplaceAll(file, "%", "back"), strings.ReplaceAll(file, "%", "free"),
			product("mug", ``, `"main_image":{"data":{"type":"file","id":"front"}},"files":{"data":[{"type":"file","id":"front"},{"type":"file","id":"back"}]}`),
			product("cup", ``, `"main_image":{"data":{"type":"file","id":"front"}}`),
			`{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`, `{"type":"node","id":"n","attributes":{"name":"N"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"main_image":{"data":{"type":"file","id":"free"}}}}`,
			`{"type":"pricebook","id":"book","attributes":{"name":"Book"}}`, priceOf("SKU-MUG", "USD"), priceOf("SKU-CUP", "USD"), strings.Replace(priceOf("SKU-CUP", "EUR"), "p-SKU-CUP", "second", 1)))
		runItemSteps(t, s, []itemStep{
			{"files", files("back", "free", "front"), "back deleted\nfree deleted\nfront deleted\n" + `ids.0 is still used by the product "mug".` + "\n" + `ids.1 is still used by the node "n".` + "\n" + `ids.2 is still used by the product "cup" and 1 more.`},
			{"unknown files", files("back"), `ids.0 is not the id of a file: "back"`},
			{"none", files(), "ids must have between 1 and 1000 elements, got 0"},
			{"a price by id", prices(&key{ID: new("p-SKU-MUG")}), "p-SKU-MUG deleted"},
			{"an unknown price", prices(&key{PricebookID: new("book"), SKU: new("SKU-CUP")}, &key{PricebookID: new("book"), SKU: new("sku-cup")}), `items.1 is not a price: there is none of the SKU "sku-cup" in the price book "book"`},
			{"no price", prices(&key{SKU: new("SKU-CUP")}), "items.0 needs an id, or a pricebookId and a sku"},
			{"all prices of a SKU", prices(&key{PricebookID: new("book"), SKU: new("SKU-CUP")}), "p-SKU-CUP deleted\nsecond deleted"},
		})
		require.NotContains(t, storetest.Export(t, s), `"type":"product-price"`)
	})
}

func TestUpsertAndDeletePricebooks(t *testing.T) {
	t.Parallel()
	type (
		item = exchange.PricebookItemInput
		did  = func(*shop.Store, bool) (*exchange.ItemsWritten, error)
	)
	upsert := func(nulls store.Nulls, items ...*item) did {
		return func(s *shop.Store, dry bool) (*exchange.ItemsWritten, error) {
			return s.Exchange.UpsertPricebooks(t.Context(), storetest.Actor, items, nulls, dry)
		}
	}
	remove := func(ids ...string) did {
		return func(s *shop.Store, dry bool) (*exchange.ItemsWritten, error) {
			return s.Exchange.DeletePricebooks(t.Context(), storetest.Actor, ids, dry)
		}
	}
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.JoinLines(product("mug", ``, ``), product("cup", ``, ``), `{"type":"pricebook","id":"book","attributes":{"name":"Book"}}`,
			priceOf("SKU-MUG", "USD"), priceOf("SKU-CUP", "USD"), `{"type":"pricebook","id":"used","attributes":{"name":"Used"}}`,
			`{"type":"catalog","id":"main","attributes":{"name":"Main","pricebook_ids":[{"id":"used"},{"id":"book"}]}}`))
		runItemSteps(t, s, []itemStep{
			{"new ones", upsert(nil, &item{ID: new("trade"), Name: new("Trade"), Description: new("For resellers")}, &item{ID: new("book"), Name: new("Shop")}), `trade created` + "\n" + `book updated name:"Book"->"Shop"`},
			{"again", upsert(nil, &item{ID: new("trade"), Name: new("Trade")}), "trade unchanged"},
			{"null clears", upsert(store.Nulls{"items.0.description"}, &item{ID: new("trade")}), `trade updated description:"For resellers"->`},
			{"no name", upsert(nil, &item{ID: new("x")}, &item{}), "items.0.name is required"},
			{"unknown ones", remove("trade", "none"), `ids.1 is not the id of a price book: "none"`},
			{"one with prices and a catalog", remove("trade", "book"), `ids.1 cannot be deleted: it is used by the catalog "main" and 2 more; change or delete that first`},
			{"one of a catalog", remove("used"), `ids.0 cannot be deleted: it is used by the catalog "main"; change or delete that first`},
			{"an unused one", remove("trade"), "trade deleted"},
		})
		storetest.Import(t, s, `{"type":"catalog","id":"main","attributes":{"name":"Main"}}`)
		runItemSteps(t, s, []itemStep{{"one with prices", remove("book"), `ids.0 cannot be deleted: it is used by the price "p-SKU-CUP" and 1 more`}, {"the other", remove("used"), "used deleted"}})
	})
}

func TestUpsertAndDeleteModifiers(t *testing.T) {
	t.Parallel()
	type (
		item = exchange.PriceModifierItemInput
		did  = func(*shop.Store, bool) (*exchange.ItemsWritten, error)
	)
	upsert := func(nulls store.Nulls, items ...*item) did {
		return func(s *shop.Store, dry bool) (*exchange.ItemsWritten, error) {
			return s.Exchange.UpsertModifiers(t.Context(), storetest.Actor, items, nulls, dry)
		}
	}
	remove := func(ids ...string) did {
		return func(s *shop.Store, dry bool) (*exchange.ItemsWritten, error) {
			return s.Exchange.DeleteModifiers(t.Context(), storetest.Actor, ids, dry)
		}
	}
	usd := func(amount string) []*exchange.PriceAmountInput {
		return []*exchange.PriceAmountInput{{Money: money("USD", amount)}}
	}
	more, half := catalog.PriceIncrement, catalog.PriceModifierType("price_half")
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.JoinLines(product("mug", `,"price_modifiers":["large","large"]`, ``), product("cup", `,"price_modifiers":["large"]`, ``),
			`{"type":"price_modifier","id":"m2","attributes":{"name":"large","modifier_type":"price_equals"}}`,
			`{"type":"price_modifier","id":"m1","attributes":{"name":"large","modifier_type":"price_decrement"}}`))
		runItemSteps(t, s, []itemStep{
			{"by name it is the one that counts", upsert(nil, &item{Name: new("large"), ModifierType: &more, Amounts: usd("50")}),
				`m2 updated amounts.USD.money.amount:->50 amounts.USD.includes_tax:->false modifier_type:"price_equals"->"price_increment"`},
			{"a new one", upsert(nil, &item{ID: new("m3"), Name: new("small"), ModifierType: &more}), "m3 created"},
			{"another currency", upsert(nil, &item{ID: new("m2"), Amounts: []*exchange.PriceAmountInput{{Money: money("EUR", "40"), Tiers: []*exchange.PriceTierInput{{MinimumQuantity: 5, Money: money("EUR", "30")}}}}, RemoveCurrencies: []string{"USD"}}),
				`m2 updated amounts.EUR.money.amount:->40 amounts.EUR.includes_tax:->false amounts.EUR.tiers.from_5.money.amount:->30 amounts.EUR.tiers.from_5.minimum_quantity:->5 amounts.USD.money.amount:50-> amounts.USD.includes_tax:false->`},
			{"an unknown kind", upsert(nil, &item{Name: new("odd"), ModifierType: &half}), `items.0.modifier_type must be`},
			{"a wrong tier", upsert(nil, &item{ID: new("m2"), Amounts: []*exchange.PriceAmountInput{{Money: money("EUR", "1"), Tiers: []*exchange.PriceTierInput{{MinimumQuantity: 0, Money: money("EUR", "1")}}}}}), `items.0.amounts.0.tiers.0.minimum_quantity must be`},
			{"no name", upsert(nil, &item{ModifierType: &more}), "items.0 needs an id or a name, which say the price modifier"},
			{"a name and an id of one", upsert(nil, &item{ID: new("m2")}, &item{Name: new("large")}), "items.1 is about the same resource as an item before it"},
			{"null clears all amounts", upsert(store.Nulls{"items.0.amounts"}, &item{ID: new("m2")}), `m2 updated amounts.EUR.money.amount:40-> amounts.EUR.includes_tax:false-> amounts.EUR.tiers.from_5.money.amount:30-> amounts.EUR.tiers.from_5.minimum_quantity:5->`},
			{"an unknown one", remove("m3", "large"), `ids.1 is not the id of a price modifier: "large"`},
			{"one of two with a name", remove("m1"), "m1 deleted"},
			{"one that products use", remove("m3", "m2"), "m3 deleted\nm2 deleted\n" + `ids.1 is still used by the product "cup" and 1 more.`},
		})
		require.NotContains(t, storetest.Export(t, s), `"type":"price_modifier"`)
	})
}

// An attribute of which a product or node has a value stays, also if that gets it while products and nodes are read.
func TestDeleteAttributes(t *testing.T) {
	t.Parallel()
	remove := func(keys ...string) func(*shop.Store, bool) (*exchange.ItemsWritten, error) {
		return func(s *shop.Store, dry bool) (*exchange.ItemsWritten, error) {
			return s.Exchange.DeleteAttributes(t.Context(), storetest.Actor, keys, dry)
		}
	}
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.JoinLines(`{"type":"attribute","id":"brand","attributes":{"label":"Brand","attribute_type":"text"}}`, `{"type":"attribute","id":"size","attributes":{"label":"Size","attribute_type":"number"}}`,
			product("mug", `,"custom_attributes":{"brand":"LG"}`, ``), product("cup", `,"custom_attributes":{"brand":"LG"}`, ``)))
		runItemSteps(t, s, []itemStep{
			{"an unknown one", remove("size", "none"), `ids.1 is not the key of an attribute: "none"`},
			{"one with values", remove("size", "brand"), `ids.1 cannot be deleted: it is used by the product "cup" and 1 more; change or delete that first`},
			{"one without", remove("size"), "size deleted"},
		})
		node := func(values string) string {
			return `{"type":"node","id":"n","attributes":{"name":"N","custom_attributes":{` + values + `}},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}}}}`
		}
		storetest.Import(t, s, storetest.JoinLines(product("mug", ``, ``), product("cup", ``, ``), `{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`, node(`"brand":"LG"`)))
		runItemSteps(t, s, []itemStep{{"one with a value of a node", remove("brand"), `ids.0 cannot be deleted: it is used by the node "n"; change or delete that first`}})
		storetest.Import(t, s, node(``)+"\n")
		runItemSteps(t, s, []itemStep{{"its values are gone", remove("brand"), "brand deleted"}})
		for i := range 20 {
			key := fmt.Sprint("key", i)
			storetest.Import(t, s, `{"type":"attribute","id":"`+key+`","attributes":{"label":"Key","attribute_type":"text"}}`)
			used := make(chan error)
			go func() {
				values := []*exchange.AttributeValueInput{{Key: key, Value: json.RawMessage(`"A"`)}}
				var err error
				if i%2 == 0 {
					_, err = s.Exchange.UpsertProducts(t.Context(), storetest.Actor, []*exchange.ProductItemInput{{ID: new("mug"), Attributes: values}}, nil, false)
				} else {
					_, err = s.Exchange.UpsertNodes(t.Context(), storetest.Actor, []*exchange.CatalogNodeItemInput{{ID: new("n"), Attributes: values}}, nil, false)
				}
				used <- err
			}()
			_, err := remove(key)(s, false)
			require.NotEqual(t, err == nil, <-used == nil, "one of both is refused: %v", err)
		}
	})
}
