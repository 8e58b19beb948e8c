package shop

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// index packs which ordinals have which values, as a release does.
func indexOf(values map[string][]uint32) (packed packedHashes) {
	var entries [][indexEntry]byte
	for value, places := range values {
		for _, place := range places {
			entries = append(entries, newEntry(value, place))
		}
	}
	slices.SortFunc(entries, func(a, b [indexEntry]byte) int { return slices.Compare(a[:], b[:]) })
	for _, entry := range entries {
		packed = append(packed, entry[:]...)
	}
	return packed
}

// However long the lists are against each other, a posting keeps the same as
// one by one would.
func TestPostings(t *testing.T) {
	t.Parallel()
	const far = 5000
	random := rand.New(rand.NewPCG(1, 2))
	some := func(n int) ordinals {
		places := newOrdinalSet(far)
		for range n {
			places.add(uint32(random.IntN(far)))
		}
		return places.list()
	}
	for _, n := range []int{0, 1, 3, 100, far} {
		one, other := some(n), some(n/2)
		index := indexOf(map[string][]uint32{"one": one, "other": other, "a third": some(50)})
		p := posting{runs: []packedHashes{index.find(hashValue("one")), index.find(hashValue("other"))}}
		require.Empty(t, index.find(hashValue("none")))
		require.Equal(t, len(one)+len(other), p.len())
		want := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(one), other...))))
		require.ElementsMatch(t, want, p.ordinals(far), "of so many products")
		require.True(t, slices.IsSorted(p.ordinals(far)))
		require.ElementsMatch(t, want, p.ordinals(1<<20), "of far more products")
		for _, m := range []int{0, 1, 30, far} {
			list := some(m)
			kept := slices.DeleteFunc(slices.Clone(list), func(place uint32) bool { return !slices.Contains(want, place) })
			require.Equal(t, kept, p.among(slices.Clone(list), far), "%d of %d", m, n)
			require.Equal(t, kept, posting{places: want}.among(slices.Clone(list), far), "%d of %d places", m, n)
		}
	}
}
