package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store"
	"portico/store/authoring"
)

// TestStoredPricesAreDecoded compares the scanner of plain prices with the decoder of all.
func TestStoredPricesAreDecoded(t *testing.T) {
	t.Parallel()
	amounts := rapid.MapOfN(rapid.StringMatching("[A-Z]{3}"), rapid.Custom(func(t *rapid.T) AmountPrice {
		amount := AmountPrice{Amount: rapid.OneOf(rapid.Int64Range(0, 2_000_000_000), rapid.Int64()).Draw(t, "amount"), IncludesTax: rapid.Bool().Draw(t, "tax")}
		if rapid.IntRange(0, 4).Draw(t, "tiers") == 0 {
			amount.Tiers = map[string]AmountTier{"box": {10, 5}}
		}
		return amount
	}), 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		price := PriceSource{Type: "product-price", ID: rapid.StringMatching("[a-z0-9-]{1,9}").Draw(t, "id")}
		price.Attributes.SKU = rapid.String().Draw(t, "sku")
		price.Relationships.Pricebook = &authoring.LinkSource{Data: &authoring.RefSource{Type: "pricebook", ID: "b"}}
		if rapid.IntRange(0, 4).Draw(t, "currencies") > 0 {
			price.Attributes.Currencies = amounts.Draw(t, "amounts")
		}
		if rapid.IntRange(0, 4).Draw(t, "sales") == 0 {
			price.Attributes.Sales = map[string]saleSource{"day": {Currencies: amounts.Draw(t, "sale")}}
		}
		body := store.Encode(price)
		var want PriceSource
		require.NoError(t, store.Decode(body, &want))
		got, err := DecodePrice(body)
		require.NoError(t, err)
		require.Equal(t, want, *got, "%s", body)
	})
	_, ok := scanPrice([]byte(`{"type":"product-price","id":"p","attributes":{"sku":"S","currencies":{"USD":{"amount":5,"includes_tax":false}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"b"}}}}`))
	require.True(t, ok)
}
