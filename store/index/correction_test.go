package index

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Of more near words than are kept, the most frequent ones are meant.
func TestNearestWordsThatAreFrequent(t *testing.T) {
	t.Parallel()
	var found []FoundCorrection
	for _, word := range []string{"cart", "colt", "cord", "core", "cork", "corn", "corp", "cost"} {
		found = append(found, FoundCorrection{SimilarWord{Text: word, Distance: 1}, 1})
	}
	found = append(found, FoundCorrection{SimilarWord{Text: "court", Distance: 1}, 10000}, FoundCorrection{SimilarWord{Text: "carry", Distance: 2}, 9})
	meant := Meant(0, found)
	require.Len(t, meant, MaxCorrections)
	require.Equal(t, "court", meant[0].Text)
	require.Equal(t, "cart", meant[1].Text)
}
