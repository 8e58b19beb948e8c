package release_test

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"portico/store/index"
	"portico/store/release"
	"portico/store/release/segment"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// plainTexts holds the words of texts, which the model asks for again and again.
var plainTexts sync.Map

// plainWords splits a text into words without case and accents. Do not change its result.
func plainWords(text string) []string {
	if words, ok := plainTexts.Load(text); ok {
		return words.([]string)
	}
	words := splitPlain(text)
	plainTexts.Store(text, words)
	return words
}

func splitPlain(text string) []string {
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
	return release.ShopperContext{Languages: testkit.Languages(strings.Join(m.languages, ","))}
}

// finds reports whether a product, or one of its family, matches each search of a filter. Which products of the release a
// search finds is the business of searchesMatchModel.
func (m *model) finds(p *modelProduct, query release.ProductQuery) bool {
	return !slices.ContainsFunc(query.Filter.Searches, func(search index.Search) bool {
		found := m.searched(search)
		return !slices.ContainsFunc(m.family(p, query), func(p *modelProduct) bool { _, is := found[p.id]; return is })
	})
}

// score sums the best scores of a product's family.
func (m *model) score(p *modelProduct, query release.ProductQuery) (score uint32) {
	for _, search := range query.Filter.Searches {
		best := uint32(0)
		for _, p := range m.family(p, query) {
			best = max(best, m.searched(search)[p.id])
		}
		score += best
	}
	return score
}

// searchScores reads the products that a search finds, with their scores.
func searchScores(t require.TestingT, v *release.View, search index.Search) map[string]uint32 {
	result, err := v.Searched(context.Background(), search)
	require.NoError(t, err)
	ids, err := v.ProductIDs(context.Background(), result.Found)
	require.NoError(t, err)
	scores := make(map[string]uint32, len(ids))
	for i, id := range ids {
		scores[id] = result.Scores[i]
	}
	return scores
}

// searchesMatchModel checks what searches find. A product that has all words is found, and scores more
// than one that does not have one of them in any way. A product that is found has all words in some way,
// or all but one if fewer than three have all.
func searchesMatchModel(h *modelShop) func(*testing.T) {
	return func(t *testing.T) {
		v := storetest.View(t, h.Store, h.shopper())
		rapid.Check(t, func(t *rapid.T) {
			search := h.drawSearch(t, h.products[rapid.SampledFrom(h.every).Draw(t, "about")])
			found := searchScores(t, v, search)
			words := eachOnce(plainWords(h.typed[search.Key()]))
			complete := 0
			for _, id := range h.every {
				score, isFound := found[id]
				exact, loose := 0, 0
				for i, word := range words {
					if h.has(h.products[id], word, i == len(words)-1, 0, 1, 2) {
						exact++
					}
					if isFound && h.hasLoosely(h.products[id], words, i) {
						loose++
					}
				}
				if exact == len(words) {
					require.True(t, isFound, "%s has all words of %s", id, search)
				}
				if isFound {
					require.GreaterOrEqual(t, loose, len(words)-1, "%s was found by %s", id, search)
				}
				if isFound && score >= completeScore {
					require.Equal(t, len(words), loose, "%s was found by all words of %s", id, search)
					complete++
				}
				require.False(t, isFound && exact == len(words) && score < completeScore, "%s: score %d", id, score)
			}
			if len(found) > complete {
				require.Less(t, complete, 3, "one word of %s is missing", search)
			}
		})
	}
}

// eachOnce leaves out repeated words, but not the last.
func eachOnce(words []string) (once []string) {
	for i, word := range words {
		if i == len(words)-1 || !slices.Contains(once, word) {
			once = append(once, word)
		}
	}
	return once
}

// completeScore is the least score of a product that has all words.
const completeScore = 1 << 24

// hasLoosely reports whether a product has a word in some way: a beginning of one of its words, a word of
// the same stem, joined with its neighbor, in two parts, or mistyped. Function words are no condition.
func (m *model) hasLoosely(p *modelProduct, words []string, i int) bool {
	texts := []int{0, 1, 2}
	word := words[i]
	if m.has(p, word, true, texts...) || slices.Contains([]string{"a", "an", "and", "are", "as", "at", "by", "for", "from", "in", "is", "it", "of", "on", "or", "that", "the", "this", "to", "with",
		"au", "aux", "avec", "ce", "ces", "d", "dans", "de", "des", "du", "en", "et", "l", "la", "le", "les", "ou", "par", "pour", "sur", "un", "une"}, word) {
		return true
	}
	for first := max(0, i-2); first <= i; first++ {
		for end := i + 1; end <= len(words) && end-first <= 3; end++ {
			joined := strings.Join(words[first:end], "")
			english, french := index.Stem("en", joined), index.Stem("fr", joined)
			for _, have := range m.wordsOf(p) {
				if strings.HasPrefix(have, joined) || index.Stem("en", have) == english || index.Stem("fr", have) == french {
					return true
				}
			}
		}
	}
	for _, have := range m.wordsOf(p) {
		if (len(word) > 3 && editDistance([]rune(word), []rune(have)) <= 2) || len(have) >= len(word) && len(word) > 3 && editDistance([]rune(word), []rune(have)[:min(len([]rune(have)), len([]rune(word)))]) <= 2 {
			return true
		}
	}
	for cut := range word {
		if cut > 0 && m.has(p, word[:cut], false, texts...) && m.has(p, word[cut:], false, texts...) {
			return true
		}
	}
	return false
}

// wordsOf returns the words of a product, and neighbors that punctuation joins.
func (m *model) wordsOf(p *modelProduct) (words []string) {
	for _, language := range append([]string{""}, m.languages...) {
		for _, text := range p.texts[language] {
			for field := range strings.FieldsSeq(text) {
				parts := plainWords(field)
				words = append(append(words, parts...), strings.Join(parts, ""))
				for i := 1; i < len(parts); i++ {
					words = append(words, parts[i-1]+parts[i])
				}
			}
			words = append(words, strings.Join(plainWords(text), ""))
		}
	}
	return words
}

// editDistance counts the letters to insert, delete or replace; a swap counts as one.
func editDistance(a, b []rune) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range b {
		rows[0][j+1] = j + 1
	}
	for i := range a {
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			rows[i+1][j+1] = min(rows[i][j]+cost, rows[i][j+1]+1, rows[i+1][j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				rows[i+1][j+1] = min(rows[i+1][j+1], rows[i-1][j-1]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
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
	h.typed[search.Key()] = typed.String()
	if len(search.Words) == 0 {
		search, err = index.NewSearch("nothing")
		require.NoError(t, err)
		h.typed[search.Key()] = "nothing"
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
				for _, price := range product.prices {
					want.Min, want.Max = min(want.Min, price), max(want.Max, price)
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
