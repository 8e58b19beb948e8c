package price

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOfferLines(t *testing.T) {
	t.Parallel()
	offers := map[string]*Offer{
		"USD": {PricebookID: "retail", Base: &TieredPrice{Minor: 1999, Tiers: []Tier{{Name: "a box of\nten", MinimumQuantity: 10, Minor: 1500}}},
			Sales: []Sale{{ID: "summer = 50 %", From: 1, To: 2, TieredPrice: TieredPrice{Minor: 999}}}},
		"EUR": {PricebookID: "europe", Base: &TieredPrice{Minor: 0, IncludesTax: true}},
		"JPY": {PricebookID: "japan", Sales: []Sale{{ID: "only", TieredPrice: TieredPrice{Minor: 100}}}},
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
		require.Equal(t, &Offer{}, found, "%q", currency)
	}
}
