package release_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/catalog"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// extrasShop has a tree of bikes > road > sport, and products with and without what the merchant set for storefronts.
var extrasShop = storetest.JoinLines(
	`{"type":"file","id":"photo","file_name":"a.jpg","link":{"href":"https://cdn.example/a.jpg"}}`,
	product("anvil", `"description":"`+strings.Repeat("word ", 50)+`","tags":["a","b"],"seo":{"title":"Buy an anvil"},"locales":{"fr":{"name":"Enclume"},"de":{"name":"Amboss","seo":{"title":"Amboss kaufen","description":"Schwer."}}}`,
		`"main_image":{"data":{"type":"main_image","id":"photo"}},"files":{"data":[{"type":"file","id":"photo","alt":"An anvil on a stump"}]},"related":{"spare":["brush","anvil","gone","draft"],"accessory":["chalk"]}`),
	product("brush", `"tags":["b"]`, `"files":{"data":[{"type":"file","id":"photo"}]}`),
	product("chalk", `"tags":["a","b"]`, ``), product("drill", `"tags":["c"]`, ``), product("easel", `"tags":["a","b","c"]`, ``),
	strings.Replace(product("draft", `"tags":["a"]`, ``), `"live"`, `"draft"`, 1), product("alone", ``, ``),
	`{"type":"hierarchy","id":"h","attributes":{"name":"Bikes","slug":"bikes"}}`,
	`{"type":"hierarchy","id":"h2","attributes":{"name":"Other"}}`,
	`{"type":"node","id":"road","attributes":{"name":"Road","slug":"road","description":"For roads.","seo":{"title":"Road bikes"}},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":[`+refs("anvil", "brush", "chalk", "drill", "easel", "draft")+`]}}}`,
	`{"type":"node","id":"blank","attributes":{"name":"Blank"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":[]}}}`,
	`{"type":"node","id":"lost","attributes":{"name":"Lost","slug":"lost"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"parent":{"data":{"type":"node","id":"blank"}},"products":{"data":[`+refs("alone")+`]}}}`,
	`{"type":"node","id":"top","attributes":{"name":"Top","slug":"top"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h2"}}}}`,
	`{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["h","h2"],"locale":"en"}}`)

func product(id, attributes, relationships string) string {
	return `{"type":"product","id":"` + id + `","attributes":{"name":"The ` + id + `","sku":"` + id + `","slug":"` + id + `","status":"live","created_at":"2024-01-01T00:00:00Z"` +
		strings.TrimSuffix(","+attributes, ",") + `},"relationships":{` + relationships + `}}`
}

func refs(ids ...string) string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = `{"type":"product","id":"` + id + `"}`
	}
	return strings.Join(list, ",")
}

func productIDs(products []*release.Product) []string {
	ids := make([]string, len(products))
	for i, p := range products {
		ids[i] = p.ID()
	}
	return ids
}

func openExtras(t *testing.T, backend storetest.Backend) *shop.Store {
	s := backend.Open(t)
	storetest.Import(t, s, extrasShop)
	storetest.Publish(t, s, "main")
	return s
}

func TestSEO(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := openExtras(t, backend)
		cut := strings.TrimSpace(strings.Repeat("word ", 32)) // 159 characters
		for locale, want := range map[string]catalog.SEOText{
			"":      {Title: "Buy an anvil", Description: cut},
			"fr":    {Title: "Enclume", Description: cut},
			"de":    {Title: "Amboss kaufen", Description: "Schwer."},
			"nl,de": {Title: "Amboss kaufen", Description: "Schwer."},
		} {
			v := storetest.View(t, s, release.ShopperContext{Languages: testkit.Languages(locale)})
			p, err := v.Product(t.Context(), release.ProductKey{ID: "anvil"})
			require.NoError(t, err)
			require.Equal(t, want, p.SEO(), locale)
			require.Equal(t, "An anvil on a stump", p.Alt("photo"))
			require.NotContains(t, string(p.AppendJSON(nil)), "stump", "REST has the documented shape")
			require.NotContains(t, string(p.AppendJSON(nil)), "seo")
		}
		v := storetest.View(t, s, release.ShopperContext{})
		products, err := v.ProductsByID(t.Context(), []string{"anvil", "brush", "alone"})
		require.NoError(t, err)
		require.Equal(t, catalog.SEOText{Title: "The brush"}, products["brush"].SEO())
		require.Equal(t, "The brush", products["brush"].Alt("photo"))
		paths, err := v.ProductPaths(t.Context(), []*release.Product{products["anvil"], products["alone"]})
		require.NoError(t, err)
		require.Equal(t, map[string]string{"anvil": "bikes/road/anvil"}, paths, "no path leads through a node without a slug")
		again, err := v.Product(t.Context(), release.ProductKey{Path: paths["anvil"]})
		require.NoError(t, err)
		require.Equal(t, "anvil", again.ID())
		tree, err := v.Tree(t.Context())
		require.NoError(t, err)
		nodePaths, err := v.NodePaths(t.Context(), tree.Nodes)
		require.NoError(t, err)
		require.Equal(t, map[string]string{"h": "bikes", "road": "bikes/road", "top": "top"}, nodePaths)
		for id, path := range nodePaths {
			node, err := v.NodeAtPath(t.Context(), path)
			require.NoError(t, err)
			require.Equal(t, id, node.ID)
		}
		require.Equal(t, "Road bikes", tree.ByID["road"].SEO.Title)

		storetest.Import(t, s, strings.ReplaceAll(strings.ReplaceAll(extrasShop, "on a stump", "in a forge"), `"Road bikes"`, `"Roadsters"`))
		storetest.Publish(t, s, "main")
		v = storetest.View(t, s, release.ShopperContext{})
		p, err := v.Product(t.Context(), release.ProductKey{ID: "anvil"})
		require.NoError(t, err)
		require.Equal(t, "An anvil in a forge", p.Alt("photo"), "a change of extras alone is published")
		node, err := v.Node(t.Context(), "road")
		require.NoError(t, err)
		require.Equal(t, "Roadsters", node.SEO.Title)
	})
}

func TestSEODescriptionEndsWithAWord(t *testing.T) {
	t.Parallel()
	for description, want := range map[string]string{
		"":                           "",
		"  Two\n\twords. ":           "Two words.",
		strings.Repeat("ü", 161):     strings.Repeat("ü", 160),
		strings.Repeat("é", 160):     strings.Repeat("é", 160),
		strings.Repeat("abcd ", 100): strings.TrimSpace(strings.Repeat("abcd ", 32)),
		strings.Repeat("a ", 50_000): strings.TrimSpace(strings.Repeat("a ", 80)),
	} {
		require.Equal(t, want, release.SEOOf(catalog.SEOText{}, "name", description).Description)
	}
}

// TestSEODescriptionTakesLittleMemory, because a page may show many products with long descriptions.
func TestSEODescriptionTakesLittleMemory(t *testing.T) {
	long := strings.Repeat("über ", 20_000)
	var found catalog.SEOText
	require.LessOrEqual(t, testing.AllocsPerRun(10, func() { found = release.SEOOf(catalog.SEOText{}, "name", long) }), 2.)
	require.Len(t, strings.Fields(found.Description), 32)
	require.Zero(t, testing.AllocsPerRun(10, func() { found = release.SEOOf(catalog.SEOText{Description: "own"}, "name", long) }))
}

func TestRelated(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := openExtras(t, backend)
		v := storetest.View(t, s, release.ShopperContext{})
		for _, c := range []struct {
			product, kind string
			most          int
			want          string
		}{
			{"anvil", "", 10, "chalk brush"}, // accessory, then spare; no draft, no unknown one, not itself
			{"anvil", "spare", 10, "brush"},
			{"anvil", "other", 10, ""},
			{"anvil", "", 1, "chalk"},
			{"chalk", "", 10, "anvil easel brush drill"}, // two, two, one and no tag in common
			{"easel", "", 2, "anvil chalk"},
			{"chalk", "spare", 10, ""},
			{"alone", "", 10, ""},
		} {
			p, err := v.Product(t.Context(), release.ProductKey{ID: c.product})
			require.NoError(t, err)
			related, err := v.Related(t.Context(), []*release.Product{p}, c.kind, c.most)
			require.NoError(t, err)
			require.Equal(t, c.want, strings.Join(productIDs(related[c.product]), " "), "%+v", c)
			if c.product == "anvil" {
				require.Equal(t, []string{"accessory", "spare"}, p.RelatedKinds())
			} else {
				require.Equal(t, []string{}, p.RelatedKinds())
			}
		}
	})
}

// Where nothing is named, a parent stands for its variants, so that no two related products are of one family.
func TestRelatedShowsParentsOfVariants(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		parent := func(id string) string { return `,"parent":{"data":{"type":"product","id":"` + id + `"}}` }
		product := func(id, relationships string) string {
			return `{"type":"product","id":"` + id + `","attributes":{"name":"` + id + `","sku":"` + id + `","status":"live"},"relationships":{` + strings.TrimPrefix(relationships, ",") + `}}`
		}
		storetest.Import(t, s, storetest.JoinLines(
			`{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`, `{"type":"catalog","id":"c","attributes":{"name":"C","hierarchies":["h"],"pricebook_ids":[]}}`,
			product("shirt", ""), product("shirt-s", parent("shirt")), product("shirt-m", parent("shirt")),
			product("hat", ""), product("hat-s", parent("hat")), product("hat-m", parent("hat")), product("scarf", ""),
			`{"type":"node","id":"n","attributes":{"name":"N","curated_products":["hat-m","hat-s","scarf"]},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":[`+refs("shirt-s", "shirt-m", "hat-s", "hat-m", "scarf")+`]}}}`))
		storetest.Publish(t, s, "c")
		v := storetest.View(t, s, release.ShopperContext{})
		for of, want := range map[string][]string{"shirt-s": {"hat", "scarf"}, "scarf": {"hat", "shirt"}} {
			p, err := v.Product(t.Context(), release.ProductKey{ID: of})
			require.NoError(t, err)
			related, err := v.Related(t.Context(), []*release.Product{p}, "", 10)
			require.NoError(t, err)
			require.Equal(t, want, productIDs(related[of]), of)
		}
	})
}

// TestRelatedOfLargeNode requires as many others for a product among the first of its node as for one that follows.
func TestRelatedOfLargeNode(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		var lines, ids []string
		for i := range release.MaxRelated + 3 {
			ids = append(ids, fmt.Sprintf("p%02d", i))
			lines = append(lines, product(ids[i], "", ""))
		}
		storetest.Import(t, s, storetest.JoinLines(append(lines,
			`{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`, `{"type":"catalog","id":"c","attributes":{"name":"C","hierarchies":["h"]}}`,
			`{"type":"node","id":"n","attributes":{"name":"N","curated_products":["`+strings.Join(ids[:20], `","`)+`"]},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":[`+refs(ids...)+`]}}}`)...))
		storetest.Publish(t, s, "c")
		v := storetest.View(t, s, release.ShopperContext{})
		page, err := v.Products(t.Context(), release.ProductQuery{NodeID: "n", Page: store.Page{First: new(store.MaxPageLength)}})
		require.NoError(t, err)
		listed := productIDs(page.Items)
		require.ElementsMatch(t, ids, listed)
		for i, p := range page.Items {
			related, err := v.Related(t.Context(), []*release.Product{p}, "", release.MaxRelated)
			require.NoError(t, err)
			require.Equal(t, slices.Delete(slices.Clone(listed), i, i+1)[:release.MaxRelated], productIDs(related[p.ID()]), "of the product at %d", i)
		}
	})
}

// TestSitemap reads the sitemap in parts of each length, which together are the whole.
func TestSitemap(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := openExtras(t, backend)
		v := storetest.View(t, s, release.ShopperContext{})
		whole := []string{"node bikes", "node bikes/road", "node top", "product bikes/road/anvil", "product bikes/road/brush", "product bikes/road/chalk",
			"product bikes/road/drill", "product bikes/road/easel"}
		for _, most := range []int{1, 2, 3, 5, 100, 1000} {
			var got []string
			parts := 0
			for after := (*string)(nil); ; parts++ {
				page, err := v.Sitemap(t.Context(), most, after)
				require.NoError(t, err)
				require.LessOrEqual(t, len(page.Entries), most)
				for _, entry := range page.Entries {
					require.Equal(t, v.Release.PublishedAt, entry.PublishedAt)
					got = append(got, string(entry.Kind)+" "+entry.Path)
				}
				if after = page.EndCursor(); after == nil {
					break
				}
			}
			require.Equal(t, whole, got, most)
			require.LessOrEqual(t, parts, 12/most)
		}
		_, err := v.Sitemap(t.Context(), 10, new("none"))
		require.True(t, store.HasCode(err, store.Invalid), "%v", err)
		_, cursor := storetest.FirstPage(t, v)
		_, err = v.Sitemap(t.Context(), 10, &cursor)
		storetest.RequireError(t, err, store.CursorMismatch, "after")
	})
}

// TestSitemapStatements: a later part of the sitemap takes as many statements as an earlier one.
func TestSitemapStatements(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		backend.FullTestsOnlyOnPostgres(t)
		s := backend.Open(t, func(config *shop.Config) { config.NoCache = true })
		var lines, ids []string
		for i := range 500 {
			ids = append(ids, fmt.Sprintf("p%03d", i))
			lines = append(lines, product(ids[i], ``, ``))
		}
		lines = append(lines, `{"type":"hierarchy","id":"h","attributes":{"name":"All","slug":"all"}}`,
			`{"type":"node","id":"n","attributes":{"name":"N","slug":"n"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":[`+refs(ids...)+`]}}}`,
			`{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["h"],"locale":"en"}}`)
		storetest.Import(t, s, storetest.JoinLines(lines...))
		storetest.Publish(t, s, "main")
		statements := func(most int, after *string) (int, *release.SitemapPage) {
			ctx, counter := store.CountStatements(t.Context())
			page, err := storetest.View(t, s, release.ShopperContext{}).Sitemap(ctx, most, after)
			require.NoError(t, err)
			return counter.Count(), page
		}
		_, page := statements(102, nil)
		require.Len(t, page.Entries, 102)
		near, page := statements(100, page.EndCursor())
		for range 2 {
			far, next := statements(100, page.EndCursor())
			require.Equal(t, near, far, "a later part costs the same")
			require.Len(t, next.Entries, 100)
			page = next
		}
	})
}
