package graph_test

import (
	"testing"

	"portico/graph/graphtest"
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
			{name: "a parent without live children cannot be bought", query: `{ product(by: {id: "stool"}) { price { money { amount } } availability availableForSale onSale priceRange { min { withoutTax { amount } } } originalPriceRange { min { withoutTax { amount } } } } }`,
				data: `{"product":{"price":{"money":{"amount":"500"}},"availability":null,"availableForSale":false,"onSale":false,"priceRange":null,"originalPriceRange":null}}`},
			{name: "one child without a stock record is not limited", query: `{ product(by: {id: "bench"}) { availability availableForSale children { sku availability } } }`,
				data: `{"product":{"availability":null,"availableForSale":true,"children":[{"sku":"BENCH-ASH","availability":null},{"sku":"BENCH-OAK","availability":"OUT"}]}}`},
		})
	})
}
