package release_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
	"portico/store/release/price"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// storefrontFile is a shop with a bundle that has its own price, one without, and files that
// are shown or not.
const storefrontFile = `{"type":"file","id":"front","file_name":"front.jpg","link":{"href":"https://cdn.example/front.jpg"},"meta":{"timestamps":{}}}
{"type":"file","id":"draft","file_name":"draft.jpg","link":{"href":"https://cdn.example/draft.jpg"},"meta":{"timestamps":{}}}
{"type":"file","id":"spare","file_name":"spare.jpg","link":{"href":"https://cdn.example/spare.jpg"},"meta":{"timestamps":{}}}
{"type":"product","id":"cup","attributes":{"name":"Cup","sku":"CUP","slug":"cup","status":"live","created_at":"2024-01-01T00:00:00Z"},"relationships":{"main_image":{"data":{"type":"main_image","id":"front"}}}}
{"type":"product","id":"bun","attributes":{"name":"Bun","sku":"BUN","slug":"bun","status":"live","created_at":"2024-01-01T00:00:00Z"}}
{"type":"product","id":"gift","attributes":{"name":"Gift","sku":"GIFT","slug":"gift","status":"live","created_at":"2024-01-01T00:00:00Z"}}
{"type":"product","id":"hidden","attributes":{"name":"Hidden","sku":"HIDDEN","slug":"hidden","status":"draft","created_at":"2024-01-01T00:00:00Z"},"relationships":{"main_image":{"data":{"type":"main_image","id":"draft"}}}}
{"type":"product","id":"sum","attributes":{"name":"Sum","sku":"SUM","slug":"sum","status":"live","created_at":"2024-01-01T00:00:00Z","custom_inputs":{"bundle_configuration":{"selected_options":{}}},"components":{"drink":{"name":"Drink","min":1,"max":1,"sort_order":1,"options":[{"id":"cup","type":"product","quantity":1},{"id":"gift","type":"product","quantity":1},{"id":"hidden","type":"product","quantity":1}]},"food":{"name":"Food","min":0,"max":2,"sort_order":2,"options":[{"id":"bun","type":"product","quantity":1},{"id":"cup","type":"product","quantity":1}]}}}}
{"type":"product","id":"fixed","attributes":{"name":"Fixed","sku":"FIXED","slug":"fixed","status":"live","created_at":"2024-01-01T00:00:00Z","components":{"food":{"name":"Food","min":1,"max":1,"sort_order":1,"options":[{"id":"bun","type":"product","quantity":1}]}}}}
{"type":"pricebook","id":"book","attributes":{"name":"Book"}}
{"type":"product-price","id":"p-cup","attributes":{"sku":"CUP","currencies":{"USD":{"amount":300,"includes_tax":true},"EUR":{"amount":9007199254740991,"includes_tax":true}},"sales":{"spring":{"schedule":{"valid_from":"2024-01-01T00:00:00Z","valid_to":"2025-01-01T00:00:00Z"},"currencies":{"USD":{"amount":200,"includes_tax":true}}}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"book"}}}}
{"type":"product-price","id":"p-bun","attributes":{"sku":"BUN","currencies":{"USD":{"amount":150,"includes_tax":true},"JPY":{"amount":5,"includes_tax":false}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"book"}}}}
{"type":"product-price","id":"p-fixed","attributes":{"sku":"FIXED","currencies":{"USD":{"amount":99,"includes_tax":true}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"book"}}}}
{"type":"hierarchy","id":"menu","attributes":{"name":"Menu"}}
{"type":"node","id":"all","attributes":{"name":"All"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"menu"}},"products":{"data":[{"type":"product","id":"sum"},{"type":"product","id":"fixed"},{"type":"product","id":"hidden"}]}}}
{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["menu"],"pricebook_ids":[{"id":"book","priority":1}],"created_at":"2024-01-01T00:00:00Z"}}
`

// TestStorefronts tests configured bundles, files and currencies.
func TestStorefronts(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t, storetest.WithClock(testkit.NewClock(testkit.Noon)))
		storetest.Import(t, s, storefrontFile)
		storetest.Publish(t, s, "main")
		t.Run("configured bundles", bundleChosen(s))
		t.Run("refused configurations", bundleRefused(s))
		t.Run("files of products", filesShown(s))
		t.Run("currencies", currenciesListed(s))
	})
}

// parseChoices parses choices such as "component=option*quantity,option*quantity".
func parseChoices(t *testing.T, text string) (choices []release.BundleChoice) {
	for _, part := range strings.Fields(text) {
		component, options, _ := strings.Cut(part, "=")
		choice := release.BundleChoice{Component: component, Options: []release.BundleOption{}}
		for _, option := range strings.FieldsFunc(options, func(c rune) bool { return c == ',' }) {
			id, times, _ := strings.Cut(option, "*")
			quantity, err := strconv.Atoi(times)
			require.NoError(t, err)
			choice.Options = append(choice.Options, release.BundleOption{ID: id, Quantity: quantity})
		}
		choices = append(choices, choice)
	}
	return choices
}

func bundleChosen(s *shop.Store) func(*testing.T) {
	return func(t *testing.T) {
		for _, c := range []struct{ name, id, choice, currency, price, original string }{
			{"options add up", "sum", "drink=cup*2 food=bun*3", "USD", "850", "1050"},
			{"one product in two components", "sum", "drink=cup*1 food=bun*1,cup*1", "USD", "550", "750"},
			{"what is not chosen costs nothing", "sum", "drink=cup*1", "USD", "200", "300"},
			{"a component of which nothing is chosen", "sum", "drink=cup*1 food=", "USD", "200", "300"},
			{"an option without a price", "sum", "drink=gift*1 food=bun*1", "USD", "", ""},
			{"an option without one in the currency", "sum", "drink=cup*1", "JPY", "", ""},
			{"as much as prices can be", "sum", "drink=cup*1", "EUR", "9007199254740991", ""},
			{"more than prices can be", "sum", "drink=cup*2", "EUR", "", ""},
			{"a price of its own", "fixed", "food=bun*4", "USD", "99", ""},
		} {
			t.Run(c.name, func(t *testing.T) {
				v := storetest.View(t, s, release.ShopperContext{Currency: c.currency})
				chosen, err := v.ConfiguredProduct(t.Context(), c.id, parseChoices(t, c.choice))
				require.NoError(t, err)
				require.Equal(t, parseChoices(t, c.choice), chosen.BundleChoices())
				require.Equal(t, c.price, amountOf(chosen.Price()))
				require.Equal(t, c.original, amountOf(chosen.OriginalPrice()))
				whole, plain := storetest.ProductJSON(t, chosen), storetest.ProductJSON(t, storetest.FindProduct(t, v, c.id))
				require.Equal(t, c.price != "", len(whole["attributes"].(map[string]any)["price"].(map[string]any)) > 0)
				for _, members := range []map[string]any{whole, plain} { // other members do not change
					delete(members["attributes"].(map[string]any), "price")
					for _, name := range []string{"bundle_configuration", "display_price", "original_price", "original_display_price"} {
						delete(members["meta"].(map[string]any), name)
					}
				}
				if c.id == "sum" {
					require.Equal(t, plain, whole)
				}
			})
		}
	}
}

func amountOf(price *price.Price) string {
	if price == nil {
		return ""
	}
	return strconv.FormatInt(price.Minor, 10)
}

func bundleRefused(s *shop.Store) func(*testing.T) {
	return func(t *testing.T) {
		v := storetest.View(t, s, release.ShopperContext{})
		for _, c := range []struct{ name, id, choice, words string }{
			{"no bundle", "cup", "drink=cup*1", `"cup" has no components`},
			{"an unknown component", "sum", "drink=cup*1 dish=bun*1", `choices.1.component must be a component of the bundle, which are "drink", "food", got "dish"`},
			{"an unknown option", "sum", "drink=bun*1", `choices.0.options.0.id must be an option of the component "drink", got "bun"`},
			{"an option that is a draft", "sum", "drink=hidden*1", `must be an option of the component "drink", got "hidden"`},
			{"too few options", "sum", "food=bun*1", `choices must name 1 to 1 options of the component "drink", got 0`},
			{"too many options", "sum", "drink=cup*1,gift*1", `choices.0.options must name 1 to 1 options of the component "drink", got 2`},
			{"none of it", "sum", "drink=cup*0", `choices.0.options.0.quantity must be between 1 and 1000000, got 0`},
			{"less than none", "sum", "drink=cup*-1", `choices.0.options.0.quantity must be between 1 and 1000000, got -1`},
			{"too much of it", "sum", "drink=cup*1000001", `choices.0.options.0.quantity must be between 1 and 1000000, got 1000001`},
			{"a component twice", "sum", "drink=cup*1 drink=gift*1", `choices.1.component must be another than before, got "drink" again`},
			{"several faults", "sum", "dish=bun*1 drink=cup*0,bun*1", `choices.0.component must be a component of the bundle, which are "drink", "food", got "dish".; choices.1.options.0.quantity must be between 1 and 1000000, got 0 of the option "cup" of the component "drink".; choices.1.options.1.id must be an option of the component "drink", got "bun".; choices.1.options must name 1 to 1 options of the component "drink", got 2.`},
			{"an option twice", "sum", "drink=cup*1,cup*1", `choices.0.options.1.id must be another than before, got the option "cup"`},
		} {
			t.Run(c.name, func(t *testing.T) {
				_, err := v.ConfiguredProduct(t.Context(), c.id, parseChoices(t, c.choice))
				require.True(t, store.HasCode(err, store.Unprocessable), "%v", err)
				require.ErrorContains(t, err, c.words)
			})
		}
		_, err := v.ConfiguredProduct(t.Context(), "nobody", nil)
		require.True(t, store.HasCode(err, store.NotFound), "%v", err)
	}
}

func filesShown(s *shop.Store) func(*testing.T) {
	return func(t *testing.T) {
		v := storetest.View(t, s, release.ShopperContext{})
		ids := func(query release.FileQuery) (list []string) {
			slice, err := v.Files(t.Context(), query)
			require.NoError(t, err)
			for _, file := range slice.Items {
				list = append(list, file.ID)
			}
			return list
		}
		require.Equal(t, []string{"front"}, ids(release.FileQuery{}))
		require.Equal(t, []string{"draft", "front", "spare"}, ids(release.FileQuery{All: true}))
		named := []string{"spare", "nobody", "front", "draft", "front"}
		require.Equal(t, []string{"front"}, ids(release.FileQuery{IDs: named}))
		require.Equal(t, []string{"draft", "front", "spare"}, ids(release.FileQuery{IDs: named, All: true}))
		require.Empty(t, ids(release.FileQuery{IDs: []string{}}))
		first, err := v.Files(t.Context(), release.FileQuery{All: true, Page: store.Page{First: new(1)}})
		require.NoError(t, err)
		require.True(t, first.HasNext)
		require.Equal(t, []string{"front", "spare"}, ids(release.FileQuery{All: true, Page: store.Page{After: &first.Cursors()[0]}}))
		_, err = v.Files(t.Context(), release.FileQuery{IDs: make([]string, store.MaxFilterValues+1)})
		storetest.RequireError(t, err, store.Invalid, "filter", "at most 1000")

		cup := strings.Split(storefrontFile, "\n")[3]
		storetest.Import(t, s, strings.Replace(cup, `"id":"front"`, `"id":"spare"`, 1)+"\n")
		newest, err := s.Publisher.Publish(t.Context(), storetest.Actor, "main", nil)
		require.NoError(t, err)
		require.NotZero(t, newest.BaseID)
		v = storetest.View(t, s, release.ShopperContext{})
		require.Equal(t, []string{"spare"}, ids(release.FileQuery{}), "also from a delta")
		require.Equal(t, []string{"spare"}, ids(release.FileQuery{IDs: named}))
	}
}

func currenciesListed(s *shop.Store) func(*testing.T) {
	return func(t *testing.T) {
		for _, c := range []struct{ locale, want string }{
			{"", "EUR .,2 €{price}; JPY .,0 ¥{price}; USD* .,2 ${price}; "},
			{"de", "EUR ,.2 {price}\u00a0€; JPY ,.0 {price}\u00a0¥; USD* ,.2 {price}\u00a0$; "},
			{"de-CH", "EUR .'2 €\u00a0{price}; JPY .'0 ¥\u00a0{price}; USD* .'2 $\u00a0{price}; "},
		} {
			t.Run("formatted for "+c.locale, func(t *testing.T) {
				list, err := storetest.View(t, s, release.ShopperContext{Languages: testkit.Languages(c.locale), Currency: "EUR"}).Currencies(t.Context())
				require.NoError(t, err)
				got := ""
				for _, currency := range list {
					got += currency.Code
					if currency.Default {
						got += "*"
					}
					got += " " + currency.DecimalPoint + currency.ThousandSeparator + string(rune('0'+currency.DecimalPlaces)) + " " + currency.Format + "; "
				}
				require.Equal(t, c.want, got)
			})
		}
	}
}
