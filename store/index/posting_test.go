package index

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// packIndex packs the ordinals of each value as a release does.
func packIndex(values map[string][]uint32) (packed PackedHashes) {
	var entries [][EntrySize]byte
	for value, ordinals := range values {
		for _, ordinal := range ordinals {
			entries = append(entries, NewEntry(value, ordinal))
		}
	}
	slices.SortFunc(entries, func(a, b [EntrySize]byte) int { return slices.Compare(a[:], b[:]) })
	for _, entry := range entries {
		packed = append(packed, entry[:]...)
	}
	return packed
}

// TestPostings checks that a posting filters like a test of each ordinal, for lists of all lengths.
func TestPostings(t *testing.T) {
	t.Parallel()
	const productCount = 5000
	random := rand.New(rand.NewPCG(1, 2))
	some := func(n int) Ordinals {
		set := NewOrdinalSet(productCount)
		for range n {
			set.Add(uint32(random.IntN(productCount)))
		}
		return set.List()
	}
	for _, n := range []int{0, 1, 3, 100, productCount} {
		one, other := some(n), some(n/2)
		index := packIndex(map[string][]uint32{"one": one, "other": other, "a third": some(50)})
		p := Posting{Runs: []PackedHashes{index.Find(Hash("one")), index.Find(Hash("other"))}}
		require.Empty(t, index.Find(Hash("none")))
		require.Equal(t, len(one)+len(other), p.Len())
		want := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(one), other...))))
		require.ElementsMatch(t, want, p.List(productCount))
		require.True(t, slices.IsSorted(p.List(productCount)))
		require.ElementsMatch(t, want, p.List(1<<20), "many more products than matches")
		for _, m := range []int{0, 1, 30, productCount} {
			list := some(m)
			kept := slices.DeleteFunc(slices.Clone(list), func(ordinal uint32) bool { return !slices.Contains(want, ordinal) })
			require.Equal(t, kept, p.Filter(slices.Clone(list), productCount), "%d of %d", m, n)
			require.Equal(t, kept, Posting{Ordinals: want}.Filter(slices.Clone(list), productCount), "%d of %d ordinals", m, n)
		}
	}
}

// TestFilterOfFewCostsLittle requires that few matches of many products are not put into a set of all products.
func TestFilterOfFewCostsLittle(t *testing.T) {
	const productCount, times = 1 << 20, 100
	index := packIndex(map[string][]uint32{"one": {1, 5, 1 << 10, 1 << 19}, "other": {5, 9, 1 << 18}})
	p := Posting{Runs: []PackedHashes{index.Find(Hash("one")), index.Find(Hash("other"))}}
	list := Ordinals{0, 5, 1 << 10, 1 << 18, 1<<20 - 1}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range times {
		require.Equal(t, Ordinals{5, 1 << 10, 1 << 18}, p.Filter(slices.Clone(list), productCount))
	}
	runtime.ReadMemStats(&after)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)/times, uint64(productCount/64), "bytes of a call")
}

// TestFilterKeys checks the bounds, which are inclusive, and ordinals without a key.
func TestFilterKeys(t *testing.T) {
	t.Parallel()
	keys := []int64{5, -1, 7, 9, 7}
	for _, c := range []struct {
		low, high int64
		want      Ordinals
	}{
		{7, 9, Ordinals{2, 3, 4}}, {5, 7, Ordinals{0, 2, 4}}, {0, 1 << 40, Ordinals{0, 2, 3, 4}}, {10, 20, Ordinals{}}, {-1, -1, Ordinals{1}},
	} {
		require.Equal(t, c.want, Ordinals{0, 1, 2, 3, 4, 5, 1000}.FilterKeys(keys, c.low, c.high), "%d to %d", c.low, c.high)
	}
	require.Empty(t, Ordinals{0, 1}.FilterKeys(nil, 0, 1))
}
