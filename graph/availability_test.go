package graph_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store/stock"
	"portico/store/storetest"
)

// stools are a parent whose children are drafts, and one of whose children one has no stock record.
const stools = `
{"type":"product","id":"stool","attributes":{"name":"Stool","sku":"STOOL","slug":"stool","status":"live","base_product":true,"created_at":"2023-01-02T00:00:00.000Z","updated_at":"2024-01-02T00:00:00.000Z"},"relationships":{}}
{"type":"product","id":"stool-red","attributes":{"name":"Red stool","sku":"STOOL-RED","slug":"stool-red","status":"draft","base_product":false,"base_product_id":"stool","created_at":"2023-01-02T00:00:00.000Z","updated_at":"2024-01-02T00:00:00.000Z"},"relationships":{"parent":{"data":{"type":"product","id":"stool"}}}}
{"type":"product-price","id":"stool-price","attributes":{"sku":"STOOL","currencies":{"USD":{"amount":500,"includes_tax":false}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"standard"}}}}
{"type":"product","id":"bench","attributes":{"name":"Bench","sku":"BENCH","slug":"bench","status":"live","base_product":true,"created_at":"2023-01-02T00:00:00.000Z","updated_at":"2024-01-02T00:00:00.000Z"},"relationships":{}}
{"type":"product","id":"bench-oak","attributes":{"name":"Oak bench","sku":"BENCH-OAK","slug":"bench-oak","status":"live","base_product":false,"base_product_id":"bench","created_at":"2023-01-02T00:00:00.000Z","updated_at":"2024-01-02T00:00:00.000Z"},"relationships":{"parent":{"data":{"type":"product","id":"bench"}}}}
{"type":"product","id":"bench-ash","attributes":{"name":"Ash bench","sku":"BENCH-ASH","slug":"bench-ash","status":"live","base_product":false,"base_product_id":"bench","created_at":"2023-01-02T00:00:00.000Z","updated_at":"2024-01-02T00:00:00.000Z"},"relationships":{"parent":{"data":{"type":"product","id":"bench"}}}}
{"type":"stock","id":"bench-oak","available":0,"allocated":0,"total":0,"created_at":"2024-01-01T00:00:00.000Z","updated_at":"2024-01-01T00:00:00.000Z"}
{"type":"node","id":"seats","attributes":{"name":"Seats"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"workshop"}},"products":{"data":[{"type":"product","id":"stool"},{"type":"product","id":"bench"}]}}}
`

func TestAvailabilityOfParents(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		runScenarios(t, graphtest.Open(t, e, graphtest.Shop()+stools), []scenario{
			{name: "a parent without live children cannot be bought", query: `{ product(by: {id: "stool"}) { price { money { amount } } availability availableForSale onSale priceRange { min { money { amount } } } originalPriceRange { min { money { amount } } } } }`,
				data: `{"product":{"price":{"money":{"amount":"500"}},"availability":"OUT","availableForSale":false,"onSale":false,"priceRange":null,"originalPriceRange":null}}`},
			{name: "one child without a stock record is not limited", query: `{ product(by: {id: "bench"}) { availability availableForSale children { sku availability } } }`,
				data: `{"product":{"availability":"UNTRACKED","availableForSale":true,"children":[{"sku":"BENCH-ASH","availability":"UNTRACKED"},{"sku":"BENCH-OAK","availability":"OUT"}]}}`},
		})
	})
}

// baskets are bundles of products with stock: one of two parts that may be chosen, two of three, and one part that is a draft.
const baskets = `
{"type":"product","id":"basket","attributes":{"name":"Basket","sku":"BASKET","slug":"basket","status":"live","components":{
 "tea":{"name":"Tea","min":1,"max":2,"sort_order":1,"options":[{"id":"green","type":"product","quantity":2},{"id":"black","type":"product","quantity":1}]},
 "extra":{"name":"Extra","min":0,"max":1,"sort_order":2,"options":[{"id":"chalk","type":"product","quantity":1}]}}},"relationships":{}}
{"type":"product","id":"hamper","attributes":{"name":"Hamper","sku":"HAMPER","slug":"hamper","status":"live","components":{
 "tea":{"name":"Tea","min":2,"max":2,"sort_order":1,"options":[{"id":"green","type":"product","quantity":1},{"id":"black","type":"product","quantity":1},{"id":"white","type":"product","quantity":1}]}}},"relationships":{}}
{"type":"product","id":"crate","attributes":{"name":"Crate","sku":"CRATE","slug":"crate","status":"live","components":{"tea":{"name":"Tea","min":1,"max":1,"sort_order":1,"options":[{"id":"stool-red","type":"product","quantity":1}]}}},"relationships":{}}
{"type":"product","id":"green","attributes":{"name":"Green tea","sku":"GREEN","slug":"green","status":"live"},"relationships":{}}
{"type":"product","id":"black","attributes":{"name":"Black tea","sku":"BLACK","slug":"black","status":"live"},"relationships":{}}
{"type":"product","id":"white","attributes":{"name":"White tea","sku":"WHITE","slug":"white","status":"live"},"relationships":{}}
{"type":"stock","id":"green","available":5,"allocated":0,"total":5}
{"type":"stock","id":"black","available":1,"allocated":0,"total":1}
{"type":"stock","id":"white","available":0,"allocated":0,"total":0}
{"type":"product-price","id":"basket-price","attributes":{"sku":"BASKET","currencies":{"USD":{"amount":1000,"includes_tax":false}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"standard"}}}}
{"type":"product-price","id":"green-price","attributes":{"sku":"GREEN","currencies":{"USD":{"amount":300,"includes_tax":false}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"standard"}}}}
{"type":"product-price","id":"white-price","attributes":{"sku":"WHITE","currencies":{"USD":{"amount":300,"includes_tax":false}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"standard"}}}}
{"type":"node","id":"baskets","attributes":{"name":"Baskets"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"workshop"}},"products":{"data":[{"type":"product","id":"basket"},{"type":"product","id":"hamper"},{"type":"product","id":"crate"}]}}}
`

// TestStockOfBundles checks that a bundle is available as its required components are, in every place that shows it.
func TestStockOfBundles(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop()+stools+strings.ReplaceAll(baskets, "\n ", " "))
		set := func(id string, available int) {
			t.Helper()
			_, err := s.Store.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{{ProductID: id, Action: stock.StockSet, Quantity: available}})
			require.NoError(t, err)
		}
		for _, c := range []struct {
			green, black, white    int
			basket, hamper, listed string
		}{
			{5, 1, 0, "LOW", "LOW", "basket hamper"},
			{1, 1, 0, "LOW", "LOW", "basket hamper"},
			{1, 0, 0, "OUT", "OUT", ""},
			{2, 0, 0, "LOW", "OUT", "basket"},
			{0, 0, 9, "OUT", "OUT", ""},
			{0, 7, 9, "IN_STOCK", "IN_STOCK", "basket hamper"},
			{100, 7, 0, "IN_STOCK", "IN_STOCK", "basket hamper"},
		} {
			set("green", c.green)
			set("black", c.black)
			set("white", c.white)
			a := s.Post(t, `{ basket: product(by: {id: "basket"}) { availability availableForSale } hamper: product(by: {id: "hamper"}) { availability availableForSale }
				crate: product(by: {id: "crate"}) { availability availableForSale }
				true: products(filter: {catalogNodeIds: ["baskets"], inStock: true}, orderBy: {field: ID}) { nodes { uuid } } false: products(filter: {catalogNodeIds: ["baskets"], inStock: false}) { totalCount } }`, nil)
			require.Empty(t, a.Errors)
			nodes := []string{}
			for _, id := range strings.Fields(c.listed) {
				nodes = append(nodes, `{"uuid":"`+id+`"}`)
			}
			require.JSONEq(t, fmt.Sprintf(`{"basket":{"availability":"%s","availableForSale":%t},"hamper":{"availability":"%s","availableForSale":%t},"crate":{"availability":"OUT","availableForSale":false},
				"true":{"nodes":[%s]},"false":{"totalCount":%d}}`, c.basket, c.basket != "OUT", c.hamper, c.hamper != "OUT", strings.Join(nodes, ","), 3-len(nodes)), string(a.Data), "%+v", c)
		}
	})
}

// TestStockOfCarts checks the lines that the stock does not allow, by tokens that may read it.
func TestStockOfCarts(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop()+stools+strings.ReplaceAll(baskets, "\n ", " "))
		choose := func(options ...string) string {
			return `choices: [{component: "tea", options: [{id: "` + strings.Join(options, `, quantity: 1}, {id: "`) + `, quantity: 1}]}]`
		}
		for _, c := range []struct{ lines, want string }{
			{`{productId: "green", quantity: 5}`, `null`},
			{`{productId: "green", quantity: 6}`, `INSUFFICIENT_STOCK The product has 5 units left for this line, which needs 6. Lower the quantity.`},
			{`{productId: "green", quantity: 3}, {productId: "green", quantity: 3}, {productId: "green", quantity: 2}`, `null, INSUFFICIENT_STOCK The product has 2 units left for this line, which needs 3. Lower the quantity., null`},
			{`{productId: "white"}`, `OUT_OF_STOCK The product is out of stock. Remove it from the cart.`},
			{`{productId: "basket"}`, `null`},
			{`{productId: "basket", quantity: 2}`, `null`},
			{`{productId: "basket", quantity: 3}`, `INSUFFICIENT_STOCK The product has 2 units left for this line, which needs 3. Lower the quantity.`},
			{`{productId: "basket", quantity: 1, ` + choose(`green"`) + `}, {productId: "green", quantity: 5}`, `null, INSUFFICIENT_STOCK The product has 4 units left for this line, which needs 5. Lower the quantity.`},
			{`{productId: "basket", quantity: 2, ` + choose(`green"`, `black"`) + `}, {productId: "green", quantity: 5}`, `INSUFFICIENT_STOCK The option "black" of the component "tea" has 1 units left for this line, which needs 2. Lower the quantity., null`},
			{`{productId: "basket", quantity: 3, choices: [{component: "tea", options: [{id: "green", quantity: 2}]}]}`, `INSUFFICIENT_STOCK The option "green" of the component "tea" has 5 units left for this line, which needs 6. Lower the quantity.`},
			{`{productId: "chalk"}`, `NO_PRICE The product has no price in USD.`},
			{`{productId: "easel"}`, `VARIANT_REQUIRED The product is sold as its variants. Put one of them into the cart.`},
		} {
			query := `{ cartPreview(lines: [` + c.lines + `]) { lines { price { amount } problem { reason message } } subtotal { amount } } }`
			a := s.Send(t, graphtest.As(graphtest.NewPost(t, query, nil), graphtest.Client("catalog:read", "inventory:read")))
			require.Empty(t, a.Errors, c.lines)
			var got struct {
				CartPreview struct {
					Lines []struct {
						Price   *struct{ Amount string }
						Problem *struct{ Reason, Message string }
					}
					Subtotal struct{ Amount string }
				}
			}
			require.NoError(t, json.Unmarshal(a.Data, &got))
			var problems []string
			subtotal := 0
			for _, line := range got.CartPreview.Lines {
				require.True(t, (line.Price == nil) == (line.Problem != nil), c.lines)
				if line.Problem == nil {
					amount, err := strconv.Atoi(line.Price.Amount)
					require.NoError(t, err)
					subtotal += amount
					problems = append(problems, "null")
				} else {
					problems = append(problems, line.Problem.Reason+" "+line.Problem.Message)
				}
			}
			require.Equal(t, c.want, strings.Join(problems, ", "), c.lines)
			require.Equal(t, strconv.Itoa(subtotal), got.CartPreview.Subtotal.Amount, "a line with a problem counts for nothing")
			a = s.Send(t, graphtest.As(graphtest.NewPost(t, query, nil), graphtest.Client("catalog:read")))
			require.Empty(t, a.Errors)
			require.NotContains(t, string(a.Data), "STOCK", "without the scope to read stock, %s", c.lines)
		}
	})
}
