package shop

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProductRow(t *testing.T) {
	offers := map[string]*offer{
		"USD": {PricebookID: "retail", Base: &asked{Minor: 1999, Tiers: []tier{{"a box of\nten", 10, 1500}}},
			Sales: []sale{{ID: "summer = 50 %", From: 1, To: 2, asked: asked{Minor: 999}}}},
		"EUR": {PricebookID: "europe", Base: &asked{Minor: 0, IncludesTax: true}},
		"JPY": {PricebookID: "japan", Sales: []sale{{ID: "only", asked: asked{Minor: 100}}}},
	}
	row := productRow{"anvil", "12 fr=13", 14, offerLines(offers)}
	read, err := parseProductRow(row.text())
	require.NoError(t, err)
	require.Equal(t, row, read)
	for _, currency := range []string{"USD", "EUR", "JPY"} {
		found, err := offerIn(read.offers, currency)
		require.NoError(t, err)
		require.Equal(t, offers[currency], found, currency)
	}
	for _, currency := range []string{"", "US", "USD ", "=USD", "CHF"} {
		found, err := offerIn(read.offers, currency)
		require.NoError(t, err)
		require.Equal(t, &offer{}, found, "%q", currency)
	}
	for _, damaged := range []string{"", "anvil", "anvil\n12\n14", "anvil\n12\nx\n"} {
		_, err := parseProductRow(damaged)
		require.Error(t, err, "%q", damaged)
	}
}
