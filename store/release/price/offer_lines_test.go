package price

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/catalog"
)

func TestOfferLines(t *testing.T) {
	t.Parallel()
	offers := map[string]*catalog.Offer{
		"USD": {PricebookID: "retail", Base: &catalog.TieredPrice{Minor: 1999, Tiers: []catalog.Tier{{Name: "a box of\nten", MinimumQuantity: 10, Minor: 1500}}},
			Sales: []catalog.Sale{{ID: "summer = 50 %", From: 1, To: 2, TieredPrice: catalog.TieredPrice{Minor: 999}}}},
		"EUR": {PricebookID: "europe", Base: &catalog.TieredPrice{Minor: 0, IncludesTax: true}},
		"JPY": {PricebookID: "japan", Sales: []catalog.Sale{{ID: "only", TieredPrice: catalog.TieredPrice{Minor: 100}}}},
	}
	lines := OfferLines(offers)
	for _, currency := range []string{"USD", "EUR", "JPY"} {
		found, err := OfferIn(lines, currency)
		require.NoError(t, err)
		require.Equal(t, offers[currency], found, currency)
	}
	for _, currency := range []string{"", "US", "USD ", "=USD", "CHF"} {
		found, err := OfferIn(lines, currency)
		require.NoError(t, err)
		require.Equal(t, &catalog.Offer{}, found, "%q", currency)
	}
}
