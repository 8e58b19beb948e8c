package release_test

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"portico/store/index"
	"portico/store/release"
	"portico/store/release/segment"
	"portico/store/storetest"
)

// plainWords splits a text into words without case and accents.
func plainWords(text string) []string {
	plain := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) && unicode.Is(unicode.Inherited, r) { // other marks are letters
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(text))
	return strings.FieldsFunc(plain, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	})
}

// isHan reports whether a word is Chinese, the only script without spaces in the model's shop.
func isHan(word string) bool { return unicode.Is(unicode.Han, []rune(word)[0]) }

// containsWord reports whether texts contain a word, or a word that begins with it if it is the
// last. Chinese matches if all its characters occur, and adjacent ones are adjacent.
func containsWord(texts []string, word string, last bool) bool {
	var all []string
	for _, text := range texts {
		all = append(all, plainWords(text)...)
	}
	if !isHan(word) {
		return slices.ContainsFunc(all, func(have string) bool { return have == word || last && strings.HasPrefix(have, word) })
	}
	found := func(piece string) bool {
		return slices.ContainsFunc(all, func(have string) bool { return strings.Contains(have, piece) })
	}
	characters, beside := []rune(word), false
	for i, character := range characters {
		if !found(string(character)) {
			return false
		}
		beside = beside || i > 0 && found(string(characters[i-1:i+1]))
	}
	return beside || len(characters) == 1
}

// withLanguages returns the model for a shopper with these languages.
func (m *model) withLanguages(languages ...string) *model {
	withLanguages := *m
	withLanguages.languages = languages
	return &withLanguages
}

func (m *model) shopper() release.ShopperContext {
	return release.ShopperContext{Locale: strings.Join(m.languages, ",")}
}

// finds reports whether a product matches all searches of a filter.
func (m *model) finds(p *modelProduct, filter release.ProductFilter) bool {
	for _, search := range filter.Searches {
		words := plainWords(m.typed[search.String()])
		for i, word := range words {
			if !m.has(p, word, i == len(words)-1, 0, 1, 2) {
				return false
			}
		}
	}
	return true
}

// score counts the different search words in a product's name or SKU.
func (m *model) score(p *modelProduct, filter release.ProductFilter) (score int) {
	for _, search := range filter.Searches {
		type typed struct {
			word string
			last bool
		}
		seen := map[typed]bool{}
		words := plainWords(m.typed[search.String()])
		for i, word := range words {
			w := typed{word, i == len(words)-1}
			if !seen[w] && m.has(p, w.word, w.last, 0, 1) {
				score++
			}
			seen[w] = true
		}
	}
	return score
}

// has reports whether some texts (name, SKU, description) contain a word.
func (m *model) has(p *modelProduct, word string, last bool, texts ...int) bool {
	var all []string
	for _, language := range append([]string{""}, m.languages...) {
		for _, i := range texts {
			if of := p.texts[language]; of != nil {
				all = append(all, of[i])
			}
		}
	}
	return containsWord(all, word, last)
}

// drawSearch draws words of a product, with variations.
func (h *modelShop) drawSearch(t *rapid.T, about *modelProduct) index.Search {
	var all []string
	for _, texts := range about.texts {
		all = append(all, texts...)
	}
	slices.Sort(all)
	words := strings.Fields(strings.Join(all, " "))
	var typed strings.Builder
	for range rapid.IntRange(0, 3).Draw(t, "words") {
		word := rapid.SampledFrom(words).Draw(t, "word")
		switch rapid.IntRange(0, 3).Draw(t, "written") {
		case 0:
			word = strings.ToUpper(word)
		case 1:
			word = norm.NFD.String(word)
		case 2:
			letters := []rune(word)
			word = string(letters[:rapid.IntRange(1, len(letters)).Draw(t, "typed so far")])
		}
		typed.WriteString(word + rapid.SampledFrom([]string{" ", ", ", "-", `" OR "`, " ~*(!"}).Draw(t, "between"))
	}
	search, err := index.NewSearch(typed.String())
	require.NoError(t, err)
	h.typed[search.String()] = typed.String()
	if search.Empty() {
		search, err = index.NewSearch("nothing")
		require.NoError(t, err)
		h.typed[search.String()] = "nothing"
	}
	return search
}

// facetsMatchModel compares facets of random lists with the model.
func facetsMatchModel(h *modelShop) func(*testing.T) {
	return func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			v := storetest.View(t, h.Store, h.shopper())
			query := release.FacetQuery{Attribute: rapid.SampledFrom(release.FacetAttributes()).Draw(t, "attribute"), List: h.drawQuery(t),
				First: rapid.SampledFrom([]int{1, 2, 20, 100}).Draw(t, "first")}
			if rapid.Bool().Draw(t, "some selected") {
				about := h.products[rapid.SampledFrom(h.ids).Draw(t, "selected of")]
				query.Selected = append([]string{"no such value"}, about.values[query.Attribute]...)
			}
			got, err := v.Facet(t.Context(), query)
			require.NoError(t, err)
			require.Equal(t, h.count(query), got)
		})
	}
}

// groupsMatchModel compares groups of options and attributes, and prices, of random lists with the model.
func groupsMatchModel(h *modelShop) func(*testing.T) {
	return func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			v := storetest.View(t, h.Store, h.shopper())
			query := release.FacetGroupQuery{Attribute: rapid.SampledFrom([]string{release.FacetOptions, release.FacetAttributeValues}).Draw(t, "attribute"), List: h.drawQuery(t)}
			id := cmp.Or(query.List.Of, query.List.NodeID)
			groups, err := v.FacetGroupsOfNodes(t.Context(), []string{id}, query)
			require.NoError(t, err)
			got := []release.FacetValue{}
			for _, group := range groups[id] {
				for _, value := range group.Values {
					got = append(got, release.FacetValue{Value: segment.NamedValue(group.Name, value.Value), Count: value.Count})
				}
			}
			require.ElementsMatch(t, h.count(release.FacetQuery{Attribute: query.Attribute, List: query.List, First: math.MaxInt}), got)
			want := release.PriceRange{Min: math.MaxInt64}
			for _, product := range h.list(query.List) {
				if product.price > 0 {
					want.Min, want.Max = min(want.Min, product.price), max(want.Max, product.price)
				}
			}
			prices, err := v.PriceRangeOfNodes(t.Context(), []string{id}, query.List)
			require.NoError(t, err)
			if want.Max == 0 {
				require.Nil(t, prices[id])
			} else {
				require.Equal(t, &want, prices[id])
			}
		})
	}
}

// count returns the values of a facet.
func (m *model) count(query release.FacetQuery) []release.FacetValue {
	counts := map[string]int{}
	for _, value := range query.Selected {
		counts[value] = 0
	}
	for _, product := range m.list(query.List) {
		seen := map[string]bool{"": true}
		for _, value := range product.values[query.Attribute] {
			if !seen[value] {
				counts[value]++
			}
			seen[value] = true
		}
	}
	list := []release.FacetValue{}
	for value, n := range counts {
		list = append(list, release.FacetValue{Value: value, Count: n})
	}
	slices.SortFunc(list, func(a, b release.FacetValue) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	rank := 0
	return slices.DeleteFunc(list, func(value release.FacetValue) bool {
		rank++
		return rank > query.First && !slices.Contains(query.Selected, value.Value)
	})
}
