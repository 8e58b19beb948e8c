package segment

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProductRow(t *testing.T) {
	t.Parallel()
	row := ProductRow{"anvil", "12 fr=13", 14, "=USD retail 1999 0 \n%JPY japan []\n"}
	read, err := parseProductRow(row.text())
	require.NoError(t, err)
	require.Equal(t, row, read)
	for _, damaged := range []string{"", "anvil", "anvil\n12\n14", "anvil\n12\nx\n"} {
		_, err := parseProductRow(damaged)
		require.Error(t, err, "%q", damaged)
	}
}
