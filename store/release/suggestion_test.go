package release_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/index"
	"portico/store/release"
	"portico/store/storetest"
)

// suggestionShop has nodes whose names have words that no product has.
func suggestionShop() string {
	product := func(id, name string) string {
		return `{"type":"product","id":"` + id + `","attributes":{"name":"` + name + `","sku":"` + id + `","slug":"` + id + `","status":"live"},"relationships":{}}`
	}
	node := func(id, name string) string {
		return `{"type":"node","id":"` + id + `","attributes":{"name":"` + name + `"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":[` +
			`{"type":"product","id":"a1"},{"type":"product","id":"a2"},{"type":"product","id":"a3"},{"type":"product","id":"a4"}]}}}`
	}
	return storetest.JoinLines(product("a1", "Mountain Bike"), product("a2", "Mountain Bikes Poster"), product("a3", "Crème Brûlée Torch"), product("a4", "Bicycle Chain"),
		`{"type":"hierarchy","id":"h","attributes":{"name":"Shop"}}`, node("n1", "Mountain Bikes"), node("n2", "Clearance"), node("n3", "Bikes"),
		`{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["h"],"locale":"en"}}`)
}

func TestSuggestionsOfMistypedWords(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		storetest.Import(t, s, suggestionShop())
		storetest.Publish(t, s, "main")
		v := storetest.View(t, s, release.ShopperContext{})
		for _, c := range []struct{ typed, completions, products, nodes, corrected string }{
			{"bike", "bikes", "a1 a2", "Bikes, Mountain Bikes", ""},                                        // a word of the shop stays
			{"bik", "bike bikes", "a1 a2", "Bikes, Mountain Bikes", ""},                                    // so does what begins one
			{"bkie", "bike bikes", "a1 a2", "Bikes, Mountain Bikes", "bike"},                               // the last word
			{"moutnain", "mountain", "a1 a2", "Mountain Bikes", "mountain"},                                //
			{"moutna", "mountain", "a1 a2", "Mountain Bikes", "mountain"},                                  // the beginning of a word
			{"moutnain bik", "mountain bike, mountain bikes", "a1 a2", "Mountain Bikes", "mountain bik"},   // an earlier word; the last is not mistyped
			{"Moutnain bkie", "mountain bike, mountain bikes", "a1 a2", "Mountain Bikes", "mountain bike"}, // both
			{"creme brulle", "creme brûlée", "a3", "", "crème brûlée"},                                     // with accents
			{"clearnce", "", "", "Clearance", ""},                                                          // of a node only
			{"moutnain ", "", "a1 a2", "Mountain Bikes", "mountain"},                                       // nothing to complete
			{"xyzzyx", "", "", "", ""},                                                                     //
		} {
			t.Run(c.typed, func(t *testing.T) {
				suggestions, err := v.Suggest(t.Context(), c.typed, 5)
				require.NoError(t, err)
				var ids, nodes []string
				for _, p := range suggestions.Products {
					ids = append(ids, p.ID())
				}
				for _, node := range suggestions.Nodes {
					nodes = append(nodes, node.Name)
				}
				separator := " "
				if strings.Contains(strings.TrimSpace(c.typed), " ") {
					separator = ", "
				}
				require.Equal(t, c.completions, strings.Join(suggestions.Completions, separator))
				require.Equal(t, c.products, strings.Join(ids, " "))
				require.Equal(t, c.nodes, strings.Join(nodes, ", "))
				require.Equal(t, c.corrected, suggestions.CorrectedTo)
			})
		}
	})
}

// A word that only a node has is corrected to one of a product, but the node is still found by what was typed.
func TestSuggestionsOfNodesByWhatWasTyped(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		in := `"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}}`
		storetest.Import(t, s, storetest.JoinLines(
			`{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`, `{"type":"catalog","id":"c","attributes":{"name":"C","hierarchies":["h"],"pricebook_ids":[]}}`,
			`{"type":"product","id":"bowl","attributes":{"name":"Bowl","sku":"B","status":"live"}}`,
			`{"type":"node","id":"bakery","attributes":{"name":"Bolwerk"},`+in+`}}`,
			`{"type":"node","id":"bowls","attributes":{"name":"Bowl"},`+in+`,"products":{"data":[{"type":"product","id":"bowl"}]}}}`))
		storetest.Publish(t, s, "c")
		for text, want := range map[string]string{"bolw": "Bolwerk", "obwl": "Bowl"} {
			found, err := storetest.View(t, s, release.ShopperContext{}).Suggest(t.Context(), text, 5)
			require.NoError(t, err)
			require.Equal(t, "bowl", index.Fold(found.CorrectedTo), text)
			require.Len(t, found.Nodes, 1, text)
			require.Equal(t, want, found.Nodes[0].Name, text)
		}
	})
}

// TestSuggestionsOfJudgedShops swaps two letters within each long word of the names of the judged shops.
// Where that is corrected, only by whole words of the shop, there are products and completions.
func TestSuggestionsOfJudgedShops(t *testing.T) {
	t.Parallel()
	for _, judged := range readJudgedShops(t) {
		t.Run(judged.name, func(t *testing.T) {
			t.Parallel()
			storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
				backend.FullTestsOnlyOnPostgres(t)
				s := backend.Open(t)
				storetest.Import(t, s, judged.resources(t))
				storetest.Publish(t, s, "main")
				v := storetest.View(t, s, release.ShopperContext{})
				words := map[string]bool{}
				for _, p := range judged.products {
					for _, text := range p.texts[p.locales[0]] {
						for _, word := range strings.FieldsFunc(index.Fold(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
							words[word] = true
						}
					}
				}
				mistyped, corrected := 0, 0
				for word := range words {
					letters := []byte(word)
					if len(letters) < 5 || letters[2] == letters[3] {
						continue
					}
					letters[2], letters[3] = letters[3], letters[2]
					suggestions, err := v.Suggest(t.Context(), string(letters), 5)
					require.NoError(t, err)
					mistyped++
					if suggestions.CorrectedTo == "" {
						continue // it begins another word
					}
					require.True(t, words[index.Fold(suggestions.CorrectedTo)], "%s was corrected to %s", letters, suggestions.CorrectedTo)
					require.NotEmpty(t, suggestions.Products, "%s", letters)
					if index.Fold(suggestions.CorrectedTo) == word {
						corrected++
					}
					for _, p := range suggestions.Products {
						if strings.Contains(" "+index.Fold(p.Name()), " "+index.Fold(suggestions.CorrectedTo)) {
							require.NotEmpty(t, suggestions.Completions, "%s", letters)
						}
					}
				}
				t.Logf("%d of %d", corrected, mistyped)
				require.Greater(t, corrected*10, mistyped*8)
			})
		})
	}
}
