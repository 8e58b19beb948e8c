package index_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store/index"
)

// TestStringListFinds compares StringList with a binary search. Texts may share their first bytes.
func TestStringListFinds(t *testing.T) {
	t.Parallel()
	texts := rapid.OneOf(rapid.StringMatching("[ab]{0,12}"), rapid.StringMatching("sameheads[ab\x00]{0,2}"), rapid.StringMatching("[ab\x00]{0,9}"))
	rapid.Check(t, func(t *rapid.T) {
		sorted := rapid.SliceOfDistinct(texts, rapid.ID[string]).Draw(t, "texts")
		slices.Sort(sorted)
		var list index.StringList
		for _, text := range sorted {
			list.Add(text)
		}
		for _, text := range append(sorted, texts.Draw(t, "other")) {
			wantAt, wantFound := slices.BinarySearch(sorted, text)
			at, found := list.Find(text)
			require.Equal(t, wantFound, found, "%q", text)
			require.Equal(t, wantAt, int(at), "%q", text)
		}
	})
}
