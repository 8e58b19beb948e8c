package index

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawnList is a list of a word for the model: what products have, by ordinal.
type drawnList struct {
	weight   uint32
	language uint8
	of       map[uint32]byte // codes
	dead     OrdinalSet
}

// modelMatch is the best match of a word in a product.
type modelMatch struct {
	value uint32
	list  drawnList
	Occurrence
}

// better returns the better match of two; the one of the first list if they count the same.
func (m modelMatch) better(list drawnList, code byte) modelMatch {
	if value := max(1, fieldValues[code]*list.weight/256); value > m.value {
		return modelMatch{value, list, occurrences[code]}
	}
	return m
}

// modelNearness returns what two neighboring words add.
func modelNearness(a, b modelMatch, step int) uint32 {
	if a.Position == 0 || b.Position == 0 || a.list.language != b.list.language || a.list.language > maxPlaceLanguage {
		return 0
	}
	value := map[int]uint32{0: adjacentValue, -1: closeValue, 2: closeValue, 1: adjacentValue}
	value[step] = adjacentValue
	found := value[int(b.Position)-int(a.Position)]
	if min(a.list.weight, b.list.weight) < WeightStem {
		return found / unsureShare
	}
	return found
}

// drawList draws a list of about a share of the ordinals. Long ones have marks.
func drawList(t *rapid.T, random *rand.Rand, ordinals int) (WeightedList, drawnList) {
	drawn := drawnList{
		weight:   rapid.SampledFrom([]uint32{WeightExact, WeightPrefix, WeightTypo}).Draw(t, "weight"),
		language: rapid.SampledFrom([]uint8{0, 0, 1, maxPlaceLanguage, maxPlaceLanguage + 1}).Draw(t, "language"),
		of:       map[uint32]byte{},
	}
	every := rapid.SampledFrom([]int{1, 2, 20, 500}).Draw(t, "one of")
	var body []byte
	last := uint32(0)
	for ordinal := range uint32(ordinals) {
		if random.IntN(every) > 0 {
			continue
		}
		o := Occurrence{Named: random.IntN(3) == 0}
		if o.Named {
			o.NameWords = uint8(1 + random.IntN(5))
			o.Position = uint8(random.IntN(int(o.NameWords) + 1))
		}
		body, last, drawn.of[ordinal] = AppendOccurrence(body, ordinal-last, o), ordinal, o.code()
	}
	list := OccurrenceList{Body: body}
	require.Equal(t, len(drawn.of), list.Count())
	if rapid.Bool().Draw(t, "marked") {
		list = list.Marked(list.Marks())
		require.Equal(t, len(drawn.of), list.Count())
	}
	weighted := WeightedList{OccurrenceList: list, Weight: drawn.weight, Language: drawn.language}
	if rapid.IntRange(0, 3).Draw(t, "with dead") == 0 {
		drawn.dead = NewOrdinalSet(ordinals)
		for range ordinals / 10 {
			ordinal := uint32(random.IntN(ordinals))
			drawn.dead.Add(ordinal)
			delete(drawn.of, ordinal)
		}
		weighted.Dead, weighted.DeadCount = drawn.dead, drawn.dead.Len()
	}
	weighted.Products = LiveProducts([]OccurrenceList{list}, drawn.dead.List(), ordinals)
	require.Equal(t, len(drawn.of), weighted.Products)
	require.Equal(t, len(drawn.of), LiveProducts([]OccurrenceList{list, list}, drawn.dead.List(), ordinals))
	return weighted, drawn
}

// TestMatchIsComplete compares what Match finds, and its scores, with a check of each product against each word.
func TestMatchIsComplete(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		ordinals := rapid.SampledFrom([]int{9, 200, 1000}).Draw(t, "ordinals")
		words := make([]WordMatches, rapid.SampledFrom([]int{1, 2, 3, 4, 10}).Draw(t, "words"))
		model := make([][]drawnList, len(words))
		for i := range words {
			words[i].Required = rapid.IntRange(0, 3).Draw(t, "required") == 0
			words[i].Position = 2*i + rapid.IntRange(0, 1).Draw(t, "position")
			for range rapid.IntRange(0, 3).Draw(t, "lists") {
				list, drawn := drawList(t, random, ordinals)
				words[i].Lists, model[i] = append(words[i].Lists, list), append(model[i], drawn)
			}
			if rapid.IntRange(0, 4).Draw(t, "with a set") == 0 {
				set := WeightedSet{NewOrdinalSet(ordinals), NewOrdinalSet(ordinals), WeightSplit}
				drawn := drawnList{weight: WeightSplit, of: map[uint32]byte{}}
				for range ordinals / 5 {
					ordinal := uint32(random.IntN(ordinals))
					set.All.Add(ordinal)
					if ordinal%2 == 0 {
						set.Named.Add(ordinal)
					}
					drawn.of[ordinal] = set.code(ordinal)
				}
				words[i].Sets, model[i] = append(words[i].Sets, set), append(model[i], drawn)
			}
		}
		const products = 5000
		want := map[uint32]uint32{}
		for _, mostMissing := range []int{0, 1} {
			for ordinal := range uint32(ordinals) {
				missing, score := 0, uint32(0)
				best := make([]modelMatch, len(words))
				for i, word := range words {
					for _, list := range model[i] {
						if code, found := list.of[ordinal]; found {
							best[i] = best[i].better(list, code)
						}
					}
					if score += best[i].value * word.rarity(products); best[i].value == 0 {
						if missing++; word.Required {
							missing = 99
						}
					}
					if 0 < i && i < 8 {
						score += modelNearness(best[i-1], best[i], word.Position-words[i-1].Position) * min(word.rarity(products), words[i-1].rarity(products))
					}
				}
				if missing == 0 {
					score += completeScore
				}
				if missing <= mostMissing {
					want[ordinal] = score
				}
			}
			if len(want) >= fewMatches || len(words) == 1 {
				break
			}
		}
		m := Match(ordinals, products, words, nil)
		got := map[uint32]uint32{}
		for i, ordinal := range m.Found {
			got[ordinal] = m.Scores[i]
		}
		require.True(t, slices.IsSorted(m.Found))
		if !maps.Equal(want, got) { // quicker than Equal
			require.Equal(t, want, got)
		}
	})
}

// TestListsWithMarks looks up ordinals in a list with marks, with gaps of any width.
func TestListsWithMarks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		list, drawn := drawList(t, random, 3000)
		every := rapid.SampledFrom([]int{1, 3, 100, 2000}).Draw(t, "looked up")
		var cursor occurrenceCursor
		cursor.reset(list.OccurrenceList)
		for ordinal := range uint32(3100) {
			if random.IntN(every) > 0 || list.Dead != nil && ordinal < 3000 && list.Dead.Has(ordinal) {
				continue
			}
			code, found := cursor.find(ordinal)
			if want, known := drawn.of[ordinal]; known != found || known && want != code {
				require.Equal(t, want, code, "%d: %v, not %v", ordinal, found, known)
				require.Equal(t, known, found, ordinal)
			}
		}
	})
}

// TestBestByScore compares the first products with those of the whole order.
func TestBestByScore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := &Matches{}
		for ordinal := range uint32(rapid.IntRange(0, 300).Draw(t, "products")) {
			m.Found, m.Scores = append(m.Found, ordinal), append(m.Scores, rapid.SampledFrom([]uint32{5, 70, 3000, 1 << 21, 1<<21 + 1}).Draw(t, "score"))
		}
		matches := []*Matches{m}
		list := slices.Clone(m.Found)
		if rapid.Bool().Draw(t, "another order") {
			slices.Reverse(list)
		}
		if rapid.Bool().Draw(t, "two searches") {
			matches = append(matches, m)
		}
		whole := slices.Clone(list)
		SortByScore(whole, 300, matches...)
		limit := rapid.IntRange(0, 310).Draw(t, "limit")
		require.Equal(t, append(Ordinals{}, whole[:min(limit, len(whole))]...), BestByScore(list, limit, 300, matches...))
		scores := map[uint32]uint32{}
		for i, ordinal := range m.Found {
			scores[ordinal] = m.Scores[i]
		}
		require.True(t, slices.IsSortedFunc(whole, func(a, b uint32) int { return int(scores[b]) - int(scores[a]) }))
	})
}
