package index

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestOrdinalSets compares sets with lists.
func TestOrdinalSets(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		ordinals := rapid.IntRange(1, 300).Draw(t, "ordinals")
		draw := func(name string) (OrdinalSet, Ordinals) {
			set, every := NewOrdinalSet(ordinals), rapid.SampledFrom([]int{1, 3, 100}).Draw(t, name)
			for ordinal := range uint32(ordinals) {
				if random.IntN(every) == 0 {
					set.Add(ordinal)
				}
			}
			return set, set.List()
		}
		a, as := draw("one of")
		b, bs := draw("other one of")
		require.Equal(t, len(as), a.Len())
		both := Intersect(as, bs)
		require.Equal(t, both, append(Ordinals{}, a.AppendCommon(b, nil)...))
		require.Equal(t, len(both), a.LenIn(b))
		require.Equal(t, len(both), a.LenOf(bs))
		union, rest, removed := a.Clone(), a.Clone(), a.Clone()
		union.Or(b)
		rest.AndNot(b)
		for _, ordinal := range bs {
			removed.Remove(ordinal)
		}
		for ordinal := range uint32(ordinals) {
			require.Equal(t, a.Has(ordinal) || b.Has(ordinal), union.Has(ordinal))
			require.Equal(t, a.Has(ordinal) && !b.Has(ordinal), rest.Has(ordinal))
		}
		require.Equal(t, rest, removed)
		keys := make([]int64, rapid.IntRange(0, ordinals).Draw(t, "with a key"))
		for i := range keys {
			keys[i] = rapid.SampledFrom([]int64{-1, 0, 5, 7, math.MaxInt64, math.MinInt64}).Draw(t, "key")
		}
		low, high := rapid.SampledFrom([]int64{math.MinInt64, -1, 0, 6}).Draw(t, "low"), rapid.SampledFrom([]int64{-5, 5, 6, math.MaxInt64}).Draw(t, "high")
		kept := a.Clone()
		kept.FilterKeys(keys, low, high)
		require.Equal(t, slices.Clone(as).FilterKeys(keys, low, high), kept.List())
		lowest, highest := int64(math.MaxInt64), int64(math.MinInt64)
		for _, ordinal := range as {
			if int(ordinal) < len(keys) && keys[ordinal] >= 0 {
				lowest, highest = min(lowest, keys[ordinal]), max(highest, keys[ordinal])
			}
		}
		gotLowest, gotHighest := a.Bounds(keys, 0)
		require.Equal(t, [2]int64{lowest, highest}, [2]int64{gotLowest, gotHighest})
	})
}
