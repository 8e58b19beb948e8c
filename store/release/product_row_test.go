package release

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/catalog"
)

func TestProductRow(t *testing.T) {
	offers := map[string]*catalog.Offer{
		"USD": {PricebookID: "retail", Base: &catalog.TieredPrice{Minor: 1999, Tiers: []catalog.Tier{{Name: "a box of\nten", MinimumQuantity: 10, Minor: 1500}}},
			Sales: []catalog.Sale{{ID: "summer = 50 %", From: 1, To: 2, TieredPrice: catalog.TieredPrice{Minor: 999}}}},
		"EUR": {PricebookID: "europe", Base: &catalog.TieredPrice{Minor: 0, IncludesTax: true}},
		"JPY": {PricebookID: "japan", Sales: []catalog.Sale{{ID: "only", TieredPrice: catalog.TieredPrice{Minor: 100}}}},
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
		require.Equal(t, &catalog.Offer{}, found, "%q", currency)
	}
	for _, damaged := range []string{"", "anvil", "anvil\n12\n14", "anvil\n12\nx\n"} {
		_, err := parseProductRow(damaged)
		require.Error(t, err, "%q", damaged)
	}
}
