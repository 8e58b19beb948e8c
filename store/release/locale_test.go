package release_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
	"portico/store/release/segment"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestLocales checks the language of a product's texts: RFC 4647 lookup, then the base text.
func TestLocales(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := storetest.OpenPublished(t, backend)
		const (
			lookup = "RFC 4647 lookup in the product's locales"
			likely = "a region's script and its language's other regions, by CLDR"
			base   = "then the base text"
			star   = "* (mul) is the base text; fetch in Node sends it"
			header = "openapi.yaml, Accept-Language: language and locale preferred by the storefront"
		)
		for _, c := range []struct {
			source, name, asked, product string
			language                     string
			text, description            string
		}{
			{base, "nothing asked", "", "brush", "en", "Brush", "For paint."},
			{lookup, "a language there is", "fr", "brush", "fr", "Pinceau", "Pour peindre."},
			{lookup, "whatever the case", "FR", "brush", "fr", "Pinceau", "Pour peindre."},
			{lookup, "a region of it", "fr-CA", "brush", "fr", "Pinceau", "Pour peindre."},
			{lookup, "with an extension", "fr-u-nu-latn", "brush", "fr", "Pinceau", "Pour peindre."},
			{header, "a list", "fr-CA,fr,en", "brush", "fr", "Pinceau", "Pour peindre."},
			{lookup, "the second choice", "de,fr", "brush", "fr", "Pinceau", "Pour peindre."},
			{lookup, "the base before others", "en,fr", "brush", "en", "Brush", "For paint."},
			{lookup, "a region of the base", "en-GB,fr", "brush", "en", "Brush", "For paint."},
			{star, "anything", "mul", "brush", "en", "Brush", "For paint."},
			{star, "a language, else anything", "de,mul", "brush", "en", "Brush", "For paint."},
			{lookup, "a region there is", "pt-BR", "brush", "pt-BR", "Pincel", "For paint."},
			{likely, "a region of the language", "pt", "brush", "pt-BR", "Pincel", "For paint."},
			{likely, "a region of the language, before the next language", "pt,fr", "brush", "pt-BR", "Pincel", "For paint."},
			{likely, "another region, in the same script", "pt-PT", "brush", "pt-BR", "Pincel", "For paint."},
			{likely, "another region, before the next language", "pt-AO,fr", "brush", "pt-BR", "Pincel", "For paint."},
			{likely, "another region, in another script", "zh-CN", "brush", "en", "Brush", "For paint."},
			{lookup, "a script there is", "zh-Hant-TW", "brush", "zh-Hant", "筆刷", "用於繪畫。"},
			{likely, "the script of Taiwan", "zh-TW", "brush", "zh-Hant", "筆刷", "用於繪畫。"},
			{likely, "the script of Hong Kong", "zh-HK", "brush", "zh-Hant", "筆刷", "用於繪畫。"},
			{likely, "a parent in that script", "zh-Hant-MO", "brush", "zh-Hant", "筆刷", "用於繪畫。"},
			{base, "a product with fewer languages", "zh-Hant,fr", "chalk", "fr", "Chalk", "De la craie."},
			{base, "a product without texts of its own", "fr", "anvil", "en", "Anvil", "Heavy & \"loud\".\nÉtats-Unis 🔨 <b>bold</b>"},
		} {
			t.Run(c.source+": "+c.name, func(t *testing.T) {
				v := storetest.View(t, s, release.ShopperContext{Languages: testkit.Languages(c.asked)})
				found := storetest.FindProduct(t, v, c.product)
				require.Equal(t, []string{c.language, c.text, c.description}, []string{found.Locale(), found.Name(), found.Description()})
				require.Equal(t, c.language, testkit.JSONAt(t, storetest.ProductJSON(t, found), "meta", "language"))
				slice, err := v.Products(t.Context(), release.ProductQuery{NodeID: "tools"})
				require.NoError(t, err)
				var names []string
				for _, product := range slice.Items {
					names = append(names, product.Name())
				}
				require.Contains(t, names, c.text, "also in a list")
			})
		}
		t.Run("filters compare the base text", func(t *testing.T) {
			v := storetest.View(t, s, release.ShopperContext{Languages: testkit.Languages("fr")})
			for name, want := range map[string][]string{"Brush": {"brush"}, "Pinceau": {}, "brush": {}} {
				term, err := release.NewTerm("name", "eq", []string{name})
				require.NoError(t, err)
				require.Equal(t, want, storetest.ProductIDs(t, v, release.ProductQuery{Filter: release.ProductFilter{Terms: []store.Term{term}}}))
			}
		})
		t.Run("the base text has the catalog's language", func(t *testing.T) {
			for _, asked := range []string{"", "fr", "fr-CA", "de"} {
				found := storetest.FindProduct(t, storetest.OutletView(t, s, release.ShopperContext{Languages: testkit.Languages(asked)}), "brush")
				require.Equal(t, "fr", found.Locale())
				require.Equal(t, "Brush", found.Name())
			}
			require.Equal(t, "Pincel", storetest.FindProduct(t, storetest.OutletView(t, s, release.ShopperContext{Languages: testkit.Languages("pt-BR")}), "brush").Name())
		})
	})
}

// A node shows its texts as a product does, wherever it is read. Lists are in the order of the base text.
func TestLocalesOfNodes(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		in := `"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}}`
		storetest.Import(t, s, storetest.JoinLines(
			`{"type":"hierarchy","id":"h","attributes":{"name":"Shop","slug":"shop","locales":{"fr":{"name":"Boutique"}}}}`,
			`{"type":"node","id":"drinks","attributes":{"name":"Drinks","slug":"drinks","description":"Hot","seo":{"title":"Buy drinks","description":"All drinks"},"locales":{"fr":{"name":"Boissons","seo":{"description":"Toutes"}},"zh_Hant":{"description":"熱"}}},`+in+`}}`,
			`{"type":"node","id":"tea","attributes":{"name":"Tea","slug":"tea","locales":{"fr":{"name":"Thé"}}},`+in+`,"parent":{"data":{"type":"node","id":"drinks"}}}}`,
			`{"type":"node","id":"water","attributes":{"name":"Water","slug":"water"},`+in+`,"parent":{"data":{"type":"node","id":"drinks"}}}}`,
			`{"type":"catalog","id":"c","attributes":{"name":"C","hierarchies":["h"],"pricebook_ids":[]}}`))
		storetest.Publish(t, s, "c")
		view := func(accepted string) *release.View {
			return storetest.View(t, s, release.ShopperContext{Languages: testkit.Languages(accepted)})
		}
		shown := func(n *segment.CatalogNode) []string {
			return []string{n.Locale, n.Name, n.Description, n.SEO.Title, n.SEO.Description}
		}
		for accepted, want := range map[string][]string{
			"":      {"en", "Drinks", "Hot", "Buy drinks", "All drinks"},
			"fr-CA": {"fr", "Boissons", "Hot", "", "Toutes"}, // the title falls back to the name
			"zh-TW": {"zh-Hant", "Drinks", "熱", "Buy drinks", ""},
			"de":    {"en", "Drinks", "Hot", "Buy drinks", "All drinks"},
			"de,fr": {"fr", "Boissons", "Hot", "", "Toutes"},
		} {
			v := view(accepted)
			node, err := v.Node(t.Context(), "drinks")
			require.NoError(t, err)
			require.Equal(t, want, shown(node), accepted)
			bySlug, err := v.NodeWithSlug(t.Context(), "drinks")
			require.NoError(t, err)
			byPath, err := v.NodeAtPath(t.Context(), "shop/drinks")
			require.NoError(t, err)
			byID, err := v.NodesByID(t.Context(), []string{"drinks"})
			require.NoError(t, err)
			for _, other := range []*segment.CatalogNode{bySlug, byPath, byID["drinks"]} {
				require.Equal(t, want, shown(other), accepted)
			}
			require.True(t, node.HasChildren())
		}
		listed := func(v *release.View, filter release.NodeFilter) (names []string) {
			nodes, err := v.Nodes(t.Context(), release.NodeQuery{Filter: filter})
			require.NoError(t, err)
			for _, n := range nodes.Items {
				names = append(names, n.Name)
			}
			return names
		}
		require.Equal(t, []string{"Thé", "Water"}, listed(view("fr"), release.NodeFilter{ParentID: "drinks"}))
		require.Equal(t, []string{"Tea", "Water"}, listed(view("en"), release.NodeFilter{ParentID: "drinks"}))
		term, err := release.NewNodeTerm("name", "eq", []string{"Tea"})
		require.NoError(t, err)
		require.Equal(t, []string{"Thé"}, listed(view("fr"), release.NodeFilter{Terms: []store.Term{term}}))
		require.Equal(t, []string{"fr", "zh-Hant"}, view("").Release.Locales)

		for text, want := range map[string]string{"boiss": "Boissons", "thé": "Thé", "boisons": "Boissons"} {
			found, err := view("fr").Suggest(t.Context(), text, 5)
			require.NoError(t, err)
			require.Len(t, found.Nodes, 1, text)
			require.Equal(t, want, found.Nodes[0].Name, text)
		}

		before, err := view("fr").Node(t.Context(), "tea")
		require.NoError(t, err)
		storetest.Import(t, s, `{"type":"node","id":"drinks","attributes":{"name":"Drinks","slug":"drinks","locales":{"fr":{"name":"À boire"}}},`+in+`}}`)
		storetest.Publish(t, s, "c")
		changed, err := view("fr").Node(t.Context(), "drinks")
		require.NoError(t, err)
		require.Equal(t, "À boire", changed.Name)
		same, err := view("fr").Node(t.Context(), "tea")
		require.NoError(t, err)
		require.Equal(t, before.PublishedAt, same.PublishedAt)
		require.True(t, changed.PublishedAt.After(same.PublishedAt), "a translation is a change")
	})
}

// A language is offered as long as a product or node has texts in it, also if a delta takes the last ones away.
func TestLocalesOfDeltas(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := storetest.OpenPublished(t, backend)
		after := func(line string) []string {
			storetest.Import(t, s, line+"\n")
			made, err := s.Publisher.Publish(t.Context(), storetest.Actor, "main", nil)
			require.NoError(t, err)
			require.NotZero(t, made.BaseID, "it is a delta")
			return storetest.View(t, s, release.ShopperContext{}).Release.Locales
		}
		require.Equal(t, []string{"fr", "pt-BR", "zh-Hant"}, storetest.View(t, s, release.ShopperContext{}).Release.Locales)
		require.Equal(t, []string{"fr"}, after(`{"type":"product","id":"brush","deleted":true}`))
		require.Equal(t, []string{"fr", "pt-BR", "zh-Hant"}, after(storetest.ShopLine("product", "brush")))
		require.Equal(t, []string{"fr", "pt-BR", "zh-Hant"}, after(storetest.ChangedShopLine("product", "chalk", `"live"`, `"draft"`)))
		require.Empty(t, after(`{"type":"product","id":"brush","deleted":true}`))
	})
}
