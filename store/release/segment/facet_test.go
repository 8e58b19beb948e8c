package segment

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store/index"
)

// TestFacetCounts compares counts with those of each product's values, for frequent and rare values, few and
// many products found, and layers that begin at any ordinal.
func TestFacetCounts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		first := rapid.SampledFrom([]uint32{0, 1, 63, 64, 130}).Draw(t, "first ordinal")
		products := rapid.IntRange(0, 700).Draw(t, "products")
		f := &Facet{first: first}
		for i := range rapid.IntRange(1, 12).Draw(t, "values") {
			f.values = append(f.values, fmt.Sprint(i))
		}
		found := index.NewOrdinalSet(int(first) + products)
		every := rapid.SampledFrom([]int{1, 2, 300}).Draw(t, "found one of")
		for ordinal := range first {
			found.Add(ordinal) // of the layer below
		}
		want, total := map[string]int{}, int(first)
		for i := range uint32(products) {
			isFound := random.IntN(every) == 0
			if isFound {
				found.Add(first + i)
				total++
			}
			for number := range f.values {
				if random.IntN(1+number*10) == 0 {
					f.numbers.Add(uint32(number))
					if isFound {
						want[f.values[number]]++
					}
				}
			}
			f.numbers.End()
		}
		f.invert()
		inverted := 4 * len(f.lists.Items)
		for _, set := range f.sets {
			inverted += 8 * len(set)
		}
		require.LessOrEqual(t, inverted, 4*len(f.numbers.Items)+16*len(f.values), "four bytes a product and value")
		got := map[string]int{}
		f.Count(found, total, got)
		if !maps.Equal(want, got) {
			require.Equal(t, want, got)
		}
	})
}
