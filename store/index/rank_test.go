package index

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawnList is a list of a word for the model: what products have, by ordinal.
type drawnList struct {
	WeightedList
	of  map[uint32]Occurrence
	set *WeightedSet // in place of a list
}

// modelMatch is the match of a word in a product: by the best of its lists, and that by which its place is known.
type modelMatch struct {
	value   uint32
	list    drawnList
	onlySKU bool
	Occurrence
}

// with returns the match with a further list. Forms of the word count together, other ways only if they are better.
func (m modelMatch) with(list drawnList, ordinal uint32, word WordMatches) modelMatch {
	o, weight := list.of[ordinal], list.Weight
	strengths := wordStrengths
	if word.Head || list.Prefix {
		strengths = headStrengths
	}
	if list.Prefix && !word.whole() {
		weight *= onlyPrefixFactor
	}
	value := strengths.of(o.code()) * weight
	if list.set != nil {
		value = uint32(list.set.value(ordinal))
	}
	switch {
	case m.value == 0 || list.Weight < WeightStem && value > m.value || list.set != nil && value > m.value:
		return modelMatch{value, list, o.InSKU && o.Texts == 0, o}
	case list.Weight >= WeightStem && list.set == nil:
		m.onlySKU = m.onlySKU && o.InSKU && o.Texts == 0
		more, less := max(m.value, value), min(m.value, value)
		if m.value = more + (65280-more)*less/65280*30/100; m.Position == 0 || m.list.Language > maxPlaceLanguage {
			m.list, m.Occurrence = list, o
		}
	}
	return m
}

// modelNearness returns what two neighboring words add.
func modelNearness(a, b modelMatch, step int) uint32 {
	if a.Position == 0 || b.Position == 0 || a.list.Language != b.list.Language || a.list.Language > maxPlaceLanguage {
		return 0
	}
	value := map[int]uint32{0: adjacentValue, -1: closeValue, 2: closeValue, 1: adjacentValue}
	value[step] = adjacentValue
	found := value[int(b.Position)-int(a.Position)]
	if min(a.list.Weight, b.list.Weight) < WeightStem {
		return found / unsureShare
	}
	return found
}

// drawList draws a list of about a share of the ordinals, of all or of a third. Long ones have marks.
func drawList(t *rapid.T, random *rand.Rand, ordinals int) (WeightedList, drawnList) {
	weighted := WeightedList{
		Weight:   rapid.SampledFrom([]uint32{WeightExact, WeightStem, WeightPrefix, WeightTypo}).Draw(t, "weight"),
		Language: rapid.SampledFrom([]uint8{0, 0, 1, maxPlaceLanguage, maxPlaceLanguage + 1}).Draw(t, "language"),
	}
	weighted.Prefix = weighted.Weight == WeightPrefix
	of := map[uint32]Occurrence{}
	every := rapid.SampledFrom([]int{1, 2, 20, 500}).Draw(t, "one of")
	from, to := 0, ordinals
	if third := rapid.IntRange(0, 5).Draw(t, "third"); third < 3 {
		from, to = third*ordinals/3, (third+1)*ordinals/3
	}
	var body []byte
	last := uint32(0)
	for ordinal := range uint32(ordinals) {
		if int(ordinal) < from || to <= int(ordinal) || random.IntN(every) > 0 {
			continue
		}
		o := drawOccurrence(random)
		body, last, of[ordinal] = AppendOccurrence(body, ordinal-last, o), ordinal, o
	}
	list := OccurrenceList{Body: body}
	require.Equal(t, len(of), list.Count())
	if rapid.Bool().Draw(t, "marked") {
		list = list.Marked(list.Marks())
		require.Equal(t, len(of), list.Count())
	}
	first, last, found := list.bounds()
	require.Equal(t, len(of) > 0, found)
	if found {
		held := slices.Sorted(maps.Keys(of))
		require.Equal(t, []uint32{held[0], held[len(held)-1]}, []uint32{first, last})
	}
	weighted.OccurrenceList = list
	if rapid.IntRange(0, 3).Draw(t, "with dead") == 0 {
		weighted.Dead = NewOrdinalSet(ordinals)
		for range ordinals / 10 {
			ordinal := uint32(random.IntN(ordinals))
			weighted.Dead.Add(ordinal)
			delete(of, ordinal)
		}
		weighted.DeadCount = weighted.Dead.Len()
	}
	weighted.Products = LiveProducts([]OccurrenceList{list}, weighted.Dead.List(), ordinals)
	require.Equal(t, len(of), weighted.Products)
	require.Equal(t, len(of), LiveProducts([]OccurrenceList{list, list}, weighted.Dead.List(), ordinals))
	return weighted, drawnList{WeightedList: weighted, of: of}
}

// drawOccurrence draws an occurrence in a name, a SKU or a description.
func drawOccurrence(random *rand.Rand) Occurrence {
	o := Occurrence{Texts: uint8(random.IntN(4))}
	switch random.IntN(5) {
	case 0:
		o.Named, o.InSKU, o.WholeSKU = true, true, random.IntN(2) == 0
	case 1, 2:
		o.Named, o.NameWords, o.Role = true, uint8(1+random.IntN(5)), Role(random.IntN(roleCount))
		o.Position = uint8(random.IntN(int(o.NameWords) + 1))
	default:
		o.Texts++
	}
	if o.Texts > 0 {
		o.TextWords = uint16(textLength(random.IntN(textLengths)))
	}
	return o
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
			words[i].Head = rapid.Bool().Draw(t, "head")
			words[i].Position = 2*i + rapid.IntRange(0, 1).Draw(t, "position")
			for range rapid.IntRange(0, 3).Draw(t, "lists") {
				_, drawn := drawList(t, random, ordinals)
				model[i] = append(model[i], drawn)
			}
			slices.SortStableFunc(model[i], func(a, b drawnList) int { return cmp.Compare(b.Weight, a.Weight) })
			for _, drawn := range model[i] {
				words[i].Lists = append(words[i].Lists, drawn.WeightedList)
			}
			if rapid.IntRange(0, 4).Draw(t, "with a set") == 0 {
				set := WeightedSet{NewOrdinalSet(ordinals), NewOrdinalSet(ordinals), WeightSplit}
				drawn := drawnList{WeightedList: WeightedList{Weight: WeightSplit}, of: map[uint32]Occurrence{}, set: &set}
				for range ordinals / 5 {
					ordinal := uint32(random.IntN(ordinals))
					set.All.Add(ordinal)
					if ordinal%2 == 0 {
						set.Named.Add(ordinal)
					}
					drawn.of[ordinal] = Occurrence{}
				}
				words[i].Sets, model[i] = append(words[i].Sets, set), append(model[i], drawn)
			}
		}
		products := rapid.SampledFrom([]int{100, 5000}).Draw(t, "products")
		want := map[uint32]uint32{}
		lacking := map[int][]uint32{} // the products that lack a word
		for _, mayLack := range []bool{false, true} {
			for ordinal := range uint32(ordinals) {
				missing, lack, score, onlySKU := 0, 0, uint32(0), len(words) <= 8
				best := make([]modelMatch, len(words))
				for i, word := range words {
					for _, list := range model[i] {
						if _, found := list.of[ordinal]; found {
							best[i] = best[i].with(list, ordinal, word)
						}
					}
					if score += best[i].value / 32 * word.rarity(products); best[i].value == 0 {
						if missing, lack = missing+1, i; word.Required {
							missing = 99
						}
					} else {
						onlySKU = onlySKU && best[i].onlySKU
					}
					if 0 < i && i < 8 {
						score += modelNearness(best[i-1], best[i], word.Position-words[i-1].Position) * min(word.rarity(products), words[i-1].rarity(products))
					}
				}
				switch {
				case missing == 0:
					want[ordinal] = score + completeScore
				case missing == 1 && mayLack:
					if lacking[lack] = append(lacking[lack], ordinal); !onlySKU {
						want[ordinal] = score
					}
				}
			}
			if len(want) >= fewMatches || len(words) == 1 {
				break
			}
		}
		for _, list := range lacking {
			if len(list) > max(10, products/10) {
				maps.DeleteFunc(want, func(ordinal, _ uint32) bool { return slices.Contains(list, ordinal) })
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
			if want, known := drawn.of[ordinal]; known != found || known && want.code() != code {
				require.Equal(t, want.code(), code, "%d: %v, not %v", ordinal, found, known)
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
