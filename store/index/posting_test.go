package index

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// index packs which ordinals have which values, as a release does.
func indexOf(values map[string][]uint32) (packed PackedHashes) {
	var entries [][IndexEntry]byte
	for value, places := range values {
		for _, place := range places {
			entries = append(entries, NewEntry(value, place))
		}
	}
	slices.SortFunc(entries, func(a, b [IndexEntry]byte) int { return slices.Compare(a[:], b[:]) })
	for _, entry := range entries {
		packed = append(packed, entry[:]...)
	}
	return packed
}

// TestPostings: a posting filters like a check of each ordinal, whatever the lengths of the
// lists.
func TestPostings(t *testing.T) {
	t.Parallel()
	const far = 5000
	random := rand.New(rand.NewPCG(1, 2))
	some := func(n int) Ordinals {
		places := NewOrdinalSet(far)
		for range n {
			places.Add(uint32(random.IntN(far)))
		}
		return places.List()
	}
	for _, n := range []int{0, 1, 3, 100, far} {
		one, other := some(n), some(n/2)
		index := indexOf(map[string][]uint32{"one": one, "other": other, "a third": some(50)})
		p := Posting{Runs: []PackedHashes{index.Find(HashValue("one")), index.Find(HashValue("other"))}}
		require.Empty(t, index.Find(HashValue("none")))
		require.Equal(t, len(one)+len(other), p.Len())
		want := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(one), other...))))
		require.ElementsMatch(t, want, p.Ordinals(far), "of so many products")
		require.True(t, slices.IsSorted(p.Ordinals(far)))
		require.ElementsMatch(t, want, p.Ordinals(1<<20), "of far more products")
		for _, m := range []int{0, 1, 30, far} {
			list := some(m)
			kept := slices.DeleteFunc(slices.Clone(list), func(place uint32) bool { return !slices.Contains(want, place) })
			require.Equal(t, kept, p.Among(slices.Clone(list), far), "%d of %d", m, n)
			require.Equal(t, kept, Posting{Places: want}.Among(slices.Clone(list), far), "%d of %d places", m, n)
		}
	}
}
