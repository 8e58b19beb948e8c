package segment

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRowsOfEarlierFormats(t *testing.T) {
	t.Parallel()
	read, err := parseProductRow("anvil\n12 fr=13 de=14\n15\n@16\n=USD retail 1999 0 \n")
	require.NoError(t, err)
	require.Equal(t, productRow{"anvil", []numberedDocument{{"", 12}, {"fr", 13}, {"de", 14}}, 15, 16, "=USD retail 1999 0 \n"}, read)
	require.Equal(t, numberedDocument{"de", 14}, read.best([]string{"it", "de", "fr"}))
	require.Equal(t, numberedDocument{"", 12}, read.best([]string{"it"}))
	read, err = parseProductRow("brush\n1\n2\n")
	require.NoError(t, err)
	require.Equal(t, productRow{"brush", []numberedDocument{{"", 1}}, 2, 0, ""}, read)
	for _, damaged := range []string{"", "anvil", "anvil\n12\n", "anvil\n12\nx\n", "anvil\n\n15\n", "anvil\nfr=x\n15\n", "anvil\n12\n15\n@x\n"} {
		_, err := parseProductRow(damaged)
		require.Error(t, err, "%q", damaged)
	}
}
