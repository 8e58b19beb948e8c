package release_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

func TestPrices(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := storetest.OpenPublished(t, backend)
		const us, apart = "$", "\u00a0" // a no-break space
		const (
			books     = "price books by priority, the highest with a price in that currency"
			formatted = "openapi.yaml, display_price: amount, currency, formatted as strings"
			none      = "a product without a price is shown without one"
		)
		for _, c := range []struct {
			source, name string
			shopper      release.ShopperContext
			product      string
			currency     string // of the view
			want         *wantPrice
			with         string // displayed prices, with and without tax
			without      string
		}{
			{books, "the book of the highest priority", release.ShopperContext{}, "anvil", "USD",
				&wantPrice{"99900", "USD", false, "vip"}, "", us + "999.00"},
			{none, "the next book, where that has no price in the currency", release.ShopperContext{Currency: "EUR"}, "anvil", "EUR",
				&wantPrice{"119900", "EUR", true, "standard"}, "€1,199.00", ""},
			{none, "the next book, where that has no price of the product", release.ShopperContext{}, "brush", "USD",
				&wantPrice{"500", "USD", true, "standard"}, us + "5.00", ""},
			{formatted, "a currency without minor units", release.ShopperContext{Currency: "JPY"}, "anvil", "JPY",
				&wantPrice{"150000", "JPY", false, "standard"}, "", "¥150,000"},
			{formatted, "the shopper's way to write it", release.ShopperContext{Currency: "EUR", Languages: testkit.Languages("de-DE")}, "anvil", "EUR",
				&wantPrice{"119900", "EUR", true, "standard"}, "1.199,00" + apart + "€", ""},
			{formatted, "that of the catalog's language, when the shopper's is none", release.ShopperContext{Languages: testkit.Languages("mul")}, "anvil", "USD",
				&wantPrice{"99900", "USD", false, "vip"}, "", us + "999.00"},
			{none, "no price at all", release.ShopperContext{}, "glue", "USD", nil, "", ""},
			{none, "no price in the currency", release.ShopperContext{Currency: "CHF"}, "anvil", store.NoCurrency, nil, "", ""},
			{none, "no such currency", release.ShopperContext{Currency: "no money"}, "anvil", store.NoCurrency, nil, "", ""},
		} {
			t.Run(c.source+": "+c.name, func(t *testing.T) {
				requirePrice(t, storetest.View(t, s, c.shopper), c.product, c.currency, c.want, c.with, c.without)
			})
		}
		t.Run("the catalog's currency and price books", func(t *testing.T) {
			price := &wantPrice{"119900", "EUR", true, "standard"}
			requirePrice(t, storetest.OutletView(t, s, release.ShopperContext{}), "anvil", "EUR", price, "1"+"\u202f"+"199,00"+apart+"€", "")
			price = &wantPrice{"129900", "USD", false, "standard"}
			requirePrice(t, storetest.OutletView(t, s, release.ShopperContext{Currency: "USD", Languages: testkit.Languages("en-US")}), "anvil", "USD", price, "", us+"1,299.00")
		})
	})
}

// wantPrice is an expected price. The amount is in minor units.
type wantPrice struct {
	amount, currency string
	includesTax      bool
	pricebook        string
}

func requirePrice(t *testing.T, v *release.View, id, currency string, want *wantPrice, with, without string) {
	t.Helper()
	require.Equal(t, currency, v.Currency)
	found := storetest.FindProduct(t, v, id)
	members := storetest.ProductJSON(t, found)
	if want == nil {
		require.Nil(t, found.Price())
		require.Empty(t, testkit.JSONAt(t, members, "attributes", "price"))
		require.Nil(t, testkit.JSONAt(t, members, "meta", "display_price"))
		require.Empty(t, testkit.JSONAt(t, members, "meta", "pricebook_id"))
		return
	}
	price := found.Price()
	require.NotNil(t, price)
	require.Equal(t, *want, wantPrice{fmt.Sprint(price.Minor), price.Money().Currency, price.IncludesTax, price.PricebookID})
	require.Equal(t, want.amount, fmt.Sprintf("%.0f", testkit.JSONAt(t, members, "attributes", "price", want.currency, "amount")))
	require.Equal(t, want.includesTax, testkit.JSONAt(t, members, "attributes", "price", want.currency, "includes_tax"))
	require.Equal(t, want.pricebook, testkit.JSONAt(t, members, "meta", "pricebook_id"))
	for name, formatted := range map[string]string{"with_tax": with, "without_tax": without} {
		shown := testkit.JSONAt(t, members, "meta", "display_price", name)
		if formatted == "" {
			require.Nil(t, shown, name)
			continue
		}
		require.Equal(t, map[string]any{"amount": want.amount, "currency": want.currency, "formatted": formatted}, shown)
	}
	for money, formatted := range map[*store.Money]string{price.WithTax(): with, price.WithoutTax(): without} {
		if money != nil {
			require.Equal(t, store.Money{Amount: want.amount, Currency: want.currency, Formatted: formatted}, *money)
		}
	}
}
