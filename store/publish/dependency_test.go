package publish_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/dependency"
	"portico/store"
	"portico/store/index"
	"portico/store/release"
	"portico/store/release/segment"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// viewReads are ways to read through a view. Each returns all that it read.
func viewReads(t *testing.T) map[string]func(v *release.View) string {
	reads := map[string]func(v *release.View) string{}
	ctx := t.Context()
	text := func(products []*release.Product, err error) string {
		var b strings.Builder
		for _, p := range products {
			b.Write(p.AppendJSON(nil))
		}
		return fmt.Sprint(b.String(), err)
	}
	page := func(slice *store.Slice[*release.Product], err error) string {
		if err != nil {
			return err.Error()
		}
		total, err := slice.Total(ctx)
		return fmt.Sprint(total, text(slice.Items, err))
	}
	nodes := func(slice *store.Slice[*segment.CatalogNode], err error) string {
		if err != nil {
			return err.Error()
		}
		var b strings.Builder
		for _, n := range slice.Items {
			fmt.Fprintln(&b, n.ID, n.Name, n.ParentID, n.Ancestors, n.HasChildren(), n.PublishedAt)
		}
		return b.String()
	}
	for name, key := range map[string]release.ProductKey{"a product": {ID: "anvil"}, "a missing product": {ID: "new"}, "a SKU": {SKU: "CHALK"}, "a missing SKU": {SKU: "NEW"}, "a slug": {Slug: "brush"}, "a missing slug": {Slug: "new"}} {
		reads[name] = func(v *release.View) string {
			product, err := v.Product(ctx, key)
			if err != nil {
				return err.Error()
			}
			return text([]*release.Product{product}, nil)
		}
	}
	term := func(attribute, value string) release.ProductFilter {
		parsed, err := release.NewTerm(attribute, "in", []string{value})
		require.NoError(t, err)
		return release.ProductFilter{Terms: []store.Term{parsed}}
	}
	search, err := release.NewSearch("chalk")
	require.NoError(t, err)
	not, err := release.NewNot(term("tags", "paint"))
	require.NoError(t, err)
	below, err := release.NewWithinTerm([]string{"paints"})
	require.NoError(t, err)
	for name, query := range map[string]release.ProductQuery{
		"without a tag": {NodeID: "tools", Filter: release.ProductFilter{AnyOf: []release.AnyOf{not}}}, "in one of two": {Filter: release.ProductFilter{AnyOf: []release.AnyOf{{Filters: []release.ProductFilter{term("sku", "CHALK"), term("slug", "new")}}}}},
		"on sale": {Filter: release.ProductFilter{Terms: []store.Term{release.NewSaleTerm(true)}}}, "below a node of a filter": {Filter: release.ProductFilter{Terms: []store.Term{below}}},
		"not below a node":       {Filter: release.ProductFilter{AnyOf: []release.AnyOf{{Negated: true, Filters: []release.ProductFilter{{Terms: []store.Term{below}}}}}}},
		"the products of a node": {NodeID: "tools"}, "of another": {NodeID: "paints"}, "of a hierarchy": {NodeID: "seasons"}, "of a missing node": {NodeID: "new-node"}, "all products": {},
		"unlisted ones too": {Unlisted: true}, "by name": {NodeID: "tools", Sort: store.Sort{By: store.SortName}}, "by price": {NodeID: "tools", Sort: store.Sort{By: store.SortPrice}},
		"by id of a filter": {Filter: term("id", "chalk")}, "by SKU in a node": {NodeID: "paints", Filter: term("sku", "CHALK")}, "by slug": {Filter: term("slug", "new")}, "by tag": {Filter: term("tags", "paint")},
		"by search": {Filter: release.ProductFilter{Searches: []index.Search{search}}}, "by date": {Filter: release.ProductFilter{Ranges: []store.Range{{Attribute: store.SortUpdatedAt, Operator: "gt", Time: testkit.Noon.AddDate(0, -5, 0)}}}},
		"a node with what is below it": {NodeID: "tools", Descendants: true}, "by name with what is below it": {NodeID: "tools", Descendants: true, Sort: store.Sort{By: store.SortName}},
		"a node with nothing below it": {NodeID: "paints", Descendants: true}, "a hierarchy with all nodes": {NodeID: "workshop", Descendants: true},
		"parents": {Unlisted: true, Variants: release.VariantsParents}, "children of parents": {NodeID: "paints", Variants: release.VariantsChildren},
		"children": {Edge: release.EdgeChildren, Of: "easel"}, "components": {Edge: release.EdgeComponents, Of: "kit"},
	} {
		reads[name] = func(v *release.View) string { return page(v.Products(ctx, query)) }
	}
	for name, query := range map[string]release.NodeQuery{"all nodes": {}, "hierarchies": {Filter: release.NodeFilter{Kind: segment.KindHierarchy}}, "children of a node": {Filter: release.NodeFilter{ParentID: "tools"}},
		"children of a hierarchy": {Filter: release.NodeFilter{ParentID: "workshop"}}, "nodes by id": {Filter: release.NodeFilter{IDs: []string{"paints", "new-node"}}}, "nodes of a hierarchy": {Filter: release.NodeFilter{HierarchyID: "seasons"}}} {
		reads[name] = func(v *release.View) string { return nodes(v.Nodes(ctx, query)) }
	}
	for name, id := range map[string]string{"a node": "tools", "a missing node": "new-node"} {
		reads[name] = func(v *release.View) string {
			node, err := v.Node(ctx, id)
			if err != nil {
				return err.Error()
			}
			return nodes(&store.Slice[*segment.CatalogNode]{Items: []*segment.CatalogNode{node}}, nil)
		}
	}
	for name, query := range map[string]release.FileQuery{"all files": {All: true}, "files that products show": {}, "files by id": {IDs: []string{"photo-1", "new-file"}}, "all files by id": {IDs: []string{"photo-1", "new-file"}, All: true}} {
		reads[name] = func(v *release.View) string {
			slice, err := v.Files(ctx, query)
			if err != nil {
				return err.Error()
			}
			var b strings.Builder
			for _, file := range slice.Items {
				b.Write(file.AppendJSON(nil))
			}
			return b.String()
		}
	}
	reads["curated products"] = func(v *release.View) string {
		curated, err := v.CuratedByNode(ctx, []string{"tools", "sale"})
		return text(append(curated["tools"], curated["sale"]...), err)
	}
	reads["translations"] = func(v *release.View) string {
		translations, err := v.TranslationsByID(ctx, []string{"brush", "new"})
		var b strings.Builder
		for _, translation := range translations["brush"] {
			b.Write(store.Encode(translation))
		}
		return fmt.Sprint(b.String(), err)
	}
	reads["price ranges"] = func(v *release.View) string {
		products, err := v.ProductsByID(ctx, []string{"easel", "anvil"})
		if err != nil {
			return err.Error()
		}
		var b strings.Builder
		for _, id := range []string{"easel", "anvil"} {
			if products[id] == nil {
				continue
			}
			ranges, err := v.PricesOf(ctx, []*release.Product{products[id]})
			if err != nil {
				return err.Error()
			}
			shown, err := json.Marshal(ranges[0])
			fmt.Fprintln(&b, string(shown), err)
		}
		return b.String()
	}
	reads["currencies"] = func(v *release.View) string { return fmt.Sprint(v.PriceCurrencies(ctx)) }
	reads["facets"] = func(v *release.View) string {
		return fmt.Sprint(v.Facet(ctx, release.FacetQuery{Attribute: "tags", List: release.ProductQuery{NodeID: "tools"}, First: 10}))
	}
	reads["attributes"] = func(v *release.View) string {
		list, err := v.AttributeDefinitions(ctx)
		require.NoError(t, err)
		text := ""
		for _, a := range list {
			text += a.Key + a.Label
		}
		return text
	}
	reads["options and attributes of a list"] = func(v *release.View) string {
		text := ""
		for _, attribute := range []string{release.FacetOptions, release.FacetAttributeValues} {
			text += fmt.Sprint(v.FacetGroupsOfNodes(ctx, []string{""}, release.FacetGroupQuery{Attribute: attribute}))
		}
		return text
	}
	reads["the products below a node"] = func(v *release.View) string {
		within, err := release.NewWithinTerm([]string{"tools"})
		require.NoError(t, err)
		return page(v.Products(ctx, release.ProductQuery{Filter: release.ProductFilter{Terms: []store.Term{within}}}))
	}
	reads["a filter that names a SKU"] = func(v *release.View) string {
		search, err := release.NewSearch("NEW")
		require.NoError(t, err)
		return fmt.Sprint(v.NamesSKU(ctx, release.ProductFilter{Searches: []index.Search{search}}))
	}
	reads["a search with synonyms"] = func(v *release.View) string {
		search, err := index.NewSearch("zither")
		require.NoError(t, err)
		return page(v.Products(ctx, release.ProductQuery{Filter: release.ProductFilter{Searches: []index.Search{search}}}))
	}
	reads["redirects"] = func(v *release.View) string {
		text := ""
		for _, path := range []string{"glue", "old-tools", "help/shipping", "workshop/tools"} {
			r, err := v.Redirect(ctx, path)
			require.NoError(t, err)
			if r != nil {
				text += path + " " + r.Path + "\n"
			}
		}
		return text
	}
	return reads
}

// shopChanges are changes of the shop.
func shopChanges() map[string]string {
	line := storetest.ChangedShopLine
	return map[string]string{
		"a synonym":                              line("synonym", "lutes", `"cittern"`, `"glue"`),
		"a redirect":                             line("redirect", "help", `?lang=en`, `?lang=fr`),
		"a label":                                line("attribute", "brand", `"label":"Brand"`, `"label":"Maker"`),
		"a value":                                line("product", "chalk", `"brand":"Acme"`, `"brand":"LG"`),
		"a text":                                 line("product", "chalk", `"tags":["paint"]`, `"tags":["paint","new"]`),
		"a name":                                 line("product", "chalk", `"name":"Chalk"`, `"name":"A new name"`),
		"a SKU":                                  line("product", "jar", `"sku":"JAR"`, `"sku":"NEW"`),
		"a slug":                                 line("product", "glue", `"slug":"glue"`, `"slug":"new"`),
		"an order":                               line("product", "brush", `"updated_at":"2024-01-04`, `"updated_at":"2024-02-04`),
		"a translation":                          line("product", "brush", `"name":"Pinceau"`, `"name":"Brosse"`),
		"a draft":                                line("product", "brush", `"status":"live"`, `"status":"draft"`),
		"a child":                                line("product", "easel-oak", `"name":"Easel, oak"`, `"name":"Oak"`),
		"a price":                                line("product-price", "vip-anvil", `"amount":99900`, `"amount":1`),
		"a child's price":                        `{"type":"product-price","id":"standard-oak","attributes":{"sku":"EASEL-OAK","currencies":{"USD":{"amount":7,"includes_tax":true}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"standard"}}}}`,
		"a new node with a product below a leaf": `{"type":"node","id":"new-node","attributes":{"name":"New"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"workshop"}},"parent":{"data":{"type":"node","id":"paints"}},"products":{"data":[{"type":"product","id":"glue"}]}}}`,
		"a sale":                                 line("product-price", "standard-brush", "2010-06-01", "2030-06-01"),
		"a currency":                             line("product-price", "standard-anvil", `"EUR"`, `"GBP"`),
		"a file":                                 line("file", "photo-1", "cdn.example", "cdn.other.example"),
		"a new file":                             strings.ReplaceAll(storetest.ShopLine("file", "photo-1"), "photo-1", "new-file"),
		"a new product": strings.NewReplacer(`"id":"frame"`, `"id":"new"`, "FRAME", "FRAME-2", `"frame"`, `"frame-2"`).Replace(storetest.ShopLine("product", "frame")) + "\n" +
			line("node", "tools", `{"type":"product","id":"anvil"},`, `{"type":"product","id":"anvil"},{"type":"product","id":"new"},`),
		"a node":                 line("node", "paints", `"name":"Paints"`, `"name":"Colours"`),
		"a new node":             `{"type":"node","id":"new-node","attributes":{"name":"New"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"seasons"}}}}`,
		"a node that moves":      line("node", "hand-tools", `"parent":{"data":{"type":"node","id":"tools"}}`, `"parent":{"data":{"type":"node","id":"paints"}}`),
		"a product that is left": line("node", "tools", `{"type":"product","id":"anvil"},`, ``),
		"a curated order":        line("node", "tools", `["chalk","drill-draft","frame","anvil"]`, `["anvil","chalk"]`),
	}
}

// TestDependenciesOfViews reads everything that can be read through a view, publishes one change,
// and reads it again. Where the two differ, what the first view recorded must not hold any more:
// right after the caches were filled, and again when all comes from them.
func TestDependenciesOfViews(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		for name, options := range map[string][]func(*shop.Config){"deltas": nil, "whole": {storetest.WithoutDeltas}} {
			t.Run(name, func(t *testing.T) {
				s := storetest.OpenPublished(t, backend, options...)
				reads, changes := viewReads(t), shopChanges()
				view := func() *release.View { return storetest.View(t, s, release.ShopperContext{}) }
				held, all, seen := 0, 0, map[string]bool{}
				for _, what := range []string{"a label", "a synonym", "a redirect", "a value", "a text", "a name", "a SKU", "a slug", "a sale", "a draft", "an order", "a translation", "a child", "a price", "a currency", "a file", "a new file", "a new product",
					"a node", "a new node", "a node that moves", "a product that is left", "a curated order"} {
					before, made := map[string]string{}, map[string][]*dependency.Dependencies{}
					for name, read := range reads {
						for range 2 {
							v := view()
							before[name] = read(v)
							made[name] = append(made[name], v.Dependencies())
						}
					}
					old := view()
					storetest.Import(t, s, changes[what]+"\n")
					storetest.Publish(t, s, "main")
					require.False(t, old.Release.Same(view().Release), what)
					for name, read := range reads {
						v := view()
						now := read(v)
						for i, dependencies := range made[name] {
							holds := dependencies.HoldIn(v.State())
							if now != before[name] {
								seen[name] = true
								require.False(t, holds, "%s changes %s, read for the %d. time:\n%s\n%s", what, name, i+1, before[name], now)
							}
							if all++; holds {
								held++
							}
						}
					}
				}
				t.Logf("%d of %d responses hold", held, all)
				require.Greater(t, held, all/2)
				for name := range reads {
					require.True(t, seen[name] || slices.Contains([]string{"hierarchies", "components"}, name), "nothing changed %s", name)
				}
				before := view()
				_ = reads["a slug"](before)
				made := before.Dependencies()
				_, err := s.Releases.Serve(t.Context(), storetest.Actor, fmt.Sprint(before.Release.ID-1))
				require.NoError(t, err)
				require.True(t, made.HoldIn(view().State()), "a rollback of another change")
			})
		}
	})
}
