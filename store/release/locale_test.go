package release_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
	"portico/store/storetest"
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
			star   = "* is the base text; fetch in Node sends it"
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
			{header, "a list", "fr-CA,fr;q=0.8,en;q=0.5", "brush", "fr", "Pinceau", "Pour peindre."},
			{header, "by weight, not by place", "pt-BR;q=0.5,fr;q=0.9", "brush", "fr", "Pinceau", "Pour peindre."},
			{lookup, "the second choice", "de,fr;q=0.5", "brush", "fr", "Pinceau", "Pour peindre."},
			{lookup, "the base before others", "en,fr", "brush", "en", "Brush", "For paint."},
			{lookup, "a region of the base", "en-GB,fr;q=0.9", "brush", "en", "Brush", "For paint."},
			{star, "anything", "*", "brush", "en", "Brush", "For paint."},
			{star, "a language, else anything", "de,*;q=0.1", "brush", "en", "Brush", "For paint."},
			{base, "anything but", "fr;q=0", "brush", "en", "Brush", "For paint."},
			{lookup, "a region there is", "pt-BR", "brush", "pt-BR", "Pincel", "For paint."},
			{lookup, "look-up does not make longer", "pt", "brush", "en", "Brush", "For paint."},
			{likely, "another region, in the same script", "pt-PT", "brush", "pt-BR", "Pincel", "For paint."},
			{likely, "another region, before the next language", "pt-AO,fr;q=0.5", "brush", "pt-BR", "Pincel", "For paint."},
			{likely, "another region, in another script", "zh-CN", "brush", "en", "Brush", "For paint."},
			{lookup, "a script there is", "zh-Hant-TW", "brush", "zh-Hant", "筆刷", "用於繪畫。"},
			{likely, "the script of Taiwan", "zh-TW", "brush", "zh-Hant", "筆刷", "用於繪畫。"},
			{likely, "the script of Hong Kong", "zh-HK", "brush", "zh-Hant", "筆刷", "用於繪畫。"},
			{likely, "a parent in that script", "zh-Hant-MO", "brush", "zh-Hant", "筆刷", "用於繪畫。"},
			{base, "nonsense", "!!!;q=x", "brush", "en", "Brush", "For paint."},
			{base, "a tag nobody knows does not spoil the others", "qq-QQ,fr;q=0.5", "brush", "fr", "Pinceau", "Pour peindre."},
			{base, "a product with fewer languages", "zh-Hant,fr;q=0.5", "chalk", "fr", "Chalk", "De la craie."},
			{base, "a product without texts of its own", "fr", "anvil", "en", "Anvil", "Heavy & \"loud\".\nÉtats-Unis 🔨 <b>bold</b>"},
		} {
			t.Run(c.source+": "+c.name, func(t *testing.T) {
				v := storetest.View(t, s, release.ShopperContext{Locale: c.asked})
				found := storetest.FindProduct(t, v, c.product)
				require.Equal(t, []string{c.language, c.text, c.description}, []string{found.Language(), found.Name(), found.Description()})
				require.Equal(t, c.language, storetest.JSONAt(t, storetest.ProductJSON(t, found), "meta", "language"))
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
			v := storetest.View(t, s, release.ShopperContext{Locale: "fr"})
			for name, want := range map[string][]string{"Brush": {"brush"}, "Pinceau": {}, "brush": {}} {
				term, err := release.NewTerm("name", "eq", []string{name})
				require.NoError(t, err)
				require.Equal(t, want, storetest.ProductIDs(t, v, release.ProductQuery{Filter: release.ProductFilter{Terms: []store.Term{term}}}))
			}
		})
		t.Run("the base text has the catalog's language", func(t *testing.T) {
			for _, asked := range []string{"", "fr", "fr-CA", "de"} {
				found := storetest.FindProduct(t, storetest.OutletView(t, s, release.ShopperContext{Locale: asked}), "brush")
				require.Equal(t, "fr", found.Language())
				require.Equal(t, "Brush", found.Name())
			}
			require.Equal(t, "Pincel", storetest.FindProduct(t, storetest.OutletView(t, s, release.ShopperContext{Locale: "pt-BR"}), "brush").Name())
		})
	})
}
