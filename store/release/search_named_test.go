package release_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/index"
	"portico/store/release"
	"portico/store/storetest"
)

// spellings returns a name as shoppers type it: in lower case, without punctuation, and in another form of its last word.
func spellings(language, name string) []string {
	letters := func(between string) string {
		return strings.Join(strings.FieldsFunc(name, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && r != ' '
		}), between)
	}
	list := []string{name, strings.ToLower(name), letters(" "), letters("")}
	last := name[strings.LastIndexFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })+1:]
	for _, other := range []string{last + "s", last + "en", strings.TrimSuffix(last, "s")} {
		if index.Stem(language, index.Fold(last)) == index.Stem(language, index.Fold(other)) {
			list = append(list, strings.TrimSuffix(name, last)+other)
		}
	}
	return store.Unique(list)
}

// TestNamesAreFirst searches for the name of each product of the judged shops, in each language and spelling. A product with that
// name is first.
func TestNamesAreFirst(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		backend.FullTestsOnlyOnPostgres(t)
		searches := 0
		for _, judged := range append(readJudgedShops(t), parseJudgedShop(t, "named", namedShop)) {
			s, db := backend.Open(t), backend.SQL(t)
			storetest.DeleteAllRows(t, db)
			storetest.Import(t, s, judged.resources(t))
			storetest.Publish(t, s, "main")
			for _, p := range judged.products {
				for language, texts := range p.texts {
					for _, text := range spellings(language, texts[0]) {
						searches++
						found := judgedSearch(t, s, judgedQuery{language: language, text: text})
						require.NotEmpty(t, found, text)
						at := slices.IndexFunc(judged.products, func(p *judgedProduct) bool { return p.SKU == found[0] })
						first := judged.products[at].texts[language][0]
						letters, stems := index.NameKeys("", language, text)
						firstLetters, firstStems := index.NameKeys("", language, first)
						if ownLetters, _ := index.NameKeys("", language, texts[0]); letters == ownLetters {
							require.Equal(t, letters, firstLetters, "%q found %q first", text, first)
						} else {
							require.Equal(t, stems, firstStems, "%q found %q first", text, first)
						}
					}
				}
			}
		}
		require.Greater(t, searches, 1000)
	})
}

// namedShop has products that match their neighbors' names better than these do.
const namedShop = `
products en
A1 | Organic Sweet Tea | Sweet tea, sweet tea, sweet tea. Sweet tea for all who love sweet tea.
A2 | Sweet Tea | A drink.
A3 | Sweet Teas | Sweet tea, sweet tea, sweet tea. Sweet tea for all who love sweet tea.
A4 | Sweet Tea Bags, Sweet Tea | Sweet tea.
B1 | Breaded Chicken Breast | Chicken breasts, chicken breasts, chicken breasts.
B2 | Chicken Breasts, breaded | Chicken breasts, chicken breasts, chicken breasts.
B3 | Chicken Breasts | Meat.
C1 | One two three four five six seven eight nine ten eleven | One two three four five six seven eight nine ten eleven twelve.
C2 | One two three four five six seven eight nine ten eleven twelve | Numbers.
C3 | One two three four five six seven eight nine | Numbers.
D1 | Bora Bora Bora | An island.
D2 | Bora Bora | Bora Bora, Bora Bora, Bora Bora, Bora Bora.
D3 | Bora | Bora Bora, Bora Bora, Bora Bora, Bora Bora.
E1 | The The | A band.
E2 | T-Shirt | The shirt.
E3 | Blue T-Shirt | T-Shirt, tshirt, t shirt. The T-Shirt.
E4 | M&M's | Sweets.
F1 | 绿茶 | 茶。
F2 | 有机绿茶 | 绿茶,绿茶,绿茶。
F3 | 绿茶 茶包 | 绿茶,绿茶,绿茶。
products de
A1 | Süßer Bio-Tee | Süßer Tee, süßer Tee, süßer Tee.
A2 | Süßer Tee | Getränk.
`

// TestNamedFamiliesAreFirst searches for the name of a parent, which its children have too, and of a child.
func TestNamedFamiliesAreFirst(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		product := func(id, name, parent string) string {
			if parent != "" {
				parent = `"parent":{"data":{"type":"product","id":"` + parent + `"}}`
			}
			return fmt.Sprintf(`{"type":"product","id":%q,"attributes":{"name":%q,"description":"Sweet tea, green tea, sweet tea.","sku":%q,"slug":%q,"status":"live"},"relationships":{%s}}`, id, name, id, id, parent)
		}
		storetest.Import(t, s, storetest.JoinLines(product("a-other", "Sweet Tea Sweet Tea", ""), product("b-plain", "Sweet Tea Green Tea", ""),
			product("p-sweet", "Sweet Tea", ""), product("c-small", "Sweet Tea", "p-sweet"), product("c-large", "Sweet Tea", "p-sweet"),
			product("p-family", "Teas", ""), product("c-green", "Green Tea", "p-family"),
			`{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`, `{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["h"],"locale":"en"}}`,
			`{"type":"node","id":"n","attributes":{"name":"N"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":[{"type":"product","id":"a-other"},{"type":"product","id":"b-plain"},{"type":"product","id":"p-sweet"},{"type":"product","id":"p-family"}]}}}`))
		storetest.Publish(t, s, "main")
		first := func(text string) string {
			return storetest.ProductIDs(t, storetest.View(t, s, release.ShopperContext{}), release.ProductQuery{Filter: searchFilter(t, text), Sort: store.Sort{By: store.SortRelevance}, Variants: release.VariantsParents})[0]
		}
		for text, want := range map[string]string{"sweet tea": "p-sweet", "sweet teas": "p-sweet", "sewet tea": "p-sweet", "green tea": "p-family"} {
			require.Equal(t, want, first(text), text)
		}
		storetest.Import(t, s, product("p-sweet", "Tea, sweet", "")+"\n"+product("b-plain", "Sweet, tea", "")+"\n"+product("c-small", "Small", "p-sweet")+"\n"+product("c-large", "Large", "p-sweet"))
		storetest.Publish(t, s, "main")
		require.NotZero(t, storetest.View(t, s, release.ShopperContext{}).Release.BaseID, "it is a delta")
		require.Equal(t, "b-plain", first("sweet tea"), "the names changed")
	})
}

// wordsApartShop has words that are similar to those of searches, in products of their own or together.
const wordsApartShop = `
products en
S1 | Soft Towel | Soft.
S2 | Wife of Bath | A tale, of all types.
S3 | Router | With four ports.
S4 | Router Table | Of wood, with a hardy finish.
S5 | Hardy Geranium | A plant.
S6 | Porter Ale | A beer, for the pantry.
S7 | Garden Bench | For the garden.
S8 | Garden Chair | For the patio.
S9 | Pepper Mill | Of clay.
P1 | Paper Kite | Of paper.
P2 | Paper Bag | Of paper.
`

// TestCorrectionsAreLikely searches for words that the shop does not have beside similar words that it has.
func TestCorrectionsAreLikely(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		storetest.Import(t, s, parseJudgedShop(t, "apart", wordsApartShop).resources(t))
		storetest.Publish(t, s, "main")
		v := storetest.View(t, s, release.ShopperContext{})
		for _, c := range []struct{ typed, found, corrected string }{
			{"sofa", "", ""}, {"tyres", "", ""}, {"harry potter", "", ""}, {"wifi router", "S3 S4", ""}, {"wifey router", "S3 S4", ""},
			{"osft", "S1", "soft"}, {"osft twoel", "S1", "soft towel"},
			{"harry geranum", "S4 S5", "hardy geranium"},          // these stand together
			{"harry porter", "S6", ""},                            // these do not
			{"peper mill", "S9", "pepper mill"},                   // paper is as near and more frequent, and has no mill
			{"gadren cahir bench", "S7 S8", "garden chair bench"}, // all but one of three
			{"gadren bnech bechn", "S7", "garden bench bechn"},
		} {
			t.Run(c.typed, func(t *testing.T) {
				filter := searchFilter(t, c.typed)
				ids := storetest.ProductIDs(t, v, release.ProductQuery{Filter: filter, Sort: store.Sort{By: store.SortRelevance}})
				slices.Sort(ids)
				corrected, err := v.CorrectedTo(t.Context(), filter)
				require.NoError(t, err)
				require.Equal(t, []string{c.found, c.corrected}, []string{strings.ToUpper(strings.Join(ids, " ")), corrected})
				suggestions, err := v.Suggest(t.Context(), c.typed, 5)
				require.NoError(t, err)
				require.Equal(t, c.corrected, suggestions.CorrectedTo)
				require.Equal(t, c.found == "", len(suggestions.Products) == 0)
			})
		}
	})
}
