package segment

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProductRow(t *testing.T) {
	t.Parallel()
	for _, published := range []int64{0, 1732275466000000} {
		for _, offers := range []string{"", "=USD retail 1999 0 \n%JPY japan []\n"} {
			row := ProductRow{"anvil", "12 fr=13", 14, published, offers}
			read, err := parseProductRow(row.text())
			require.NoError(t, err)
			require.Equal(t, row, read)
		}
	}
	for _, damaged := range []string{"", "anvil", "anvil\n12\n14", "anvil\n12\nx\n", "anvil\n12\n14\n@noon\n"} {
		_, err := parseProductRow(damaged)
		require.Error(t, err, "%q", damaged)
	}
}
