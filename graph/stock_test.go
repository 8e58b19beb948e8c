package graph_test

import (
	"strings"
	"testing"

	"portico/graph/graphtest"
)

func stockByProduct() []scenario {
	return []scenario{
		{name: "by uuid", query: `{ stock(productId: "anvil") { id uuid total available allocated createdAt updatedAt product { uuid sku } } }`,
			data: `{"stock":{"id":"U3RvY2s6YW52aWw","uuid":"anvil","total":9,"available":7,"allocated":2,"createdAt":"2023-03-01T00:00:00.000Z","updatedAt":"2023-03-04T00:00:00.000Z","product":{"uuid":"anvil","sku":"ANVIL"}}}`},
		{name: "by the product's global id", query: `{ stock(productId: ` + global("Product", "anvil") + `) { uuid } }`, data: `{"stock":{"uuid":"anvil"}}`},
		{name: "by its own global id", query: `{ stock(productId: ` + global("Stock", "anvil") + `) { uuid } }`, data: `{"stock":{"uuid":"anvil"}}`},
		{name: "of a draft", query: `{ stock(productId: "drill-draft") { total product { uuid } } }`, data: `{"stock":{"total":7,"product":null}}`},
		{name: "none", query: `{ stock(productId: "glue") { total } }`, data: `{"stock":null}`},
		{name: "of no product", query: `{ stock(productId: "nobody") { total } }`, data: `{"stock":null}`},
		{name: "the ledger, newest first", query: `{ stock(productId: "anvil") { transactions { uuid productUuid action quantity availableDelta allocatedDelta reason reference actor createdAt stock { total } } } }`,
			holds: []string{`"transactions":[{"uuid":"ledger-5","productUuid":"anvil","action":"DEALLOCATE","quantity":2,"availableDelta":2,"allocatedDelta":-2,"reason":null,"reference":null,`,
				`"action":"DECREMENT","quantity":1,"availableDelta":-1,"allocatedDelta":0`, `"action":"ALLOCATE","quantity":4,"availableDelta":-4,"allocatedDelta":4`,
				`"action":"SET","quantity":10,"availableDelta":10,"allocatedDelta":0,"reason":"count","reference":"sheet 1","actor":"client:a","createdAt":"2023-03-01T00:00:00.000Z","stock":{"total":9}`}},
		{name: "one ledger per alias", query: `{ stock(productId: "anvil") { a: transactions(first: 1) { uuid } b: transactions(first: 2) { uuid } } }`,
			data: `{"stock":{"a":[{"uuid":"ledger-5"}],"b":[{"uuid":"ledger-5"},{"uuid":"ledger-4"}]}}`},
		{name: "too few lines", query: `{ stock(productId: "anvil") { transactions(first: 0) { uuid } } }`, codes: unprocessable, argument: "first", data: `{"stock":{"transactions":null}}`},
		{name: "too many lines", query: `{ stock(productId: "anvil") { transactions(first: 101) { uuid } } }`, codes: unprocessable, argument: "first", holds: []string{"between 1 and 100, got 101"}},
	}
}

func stockLists() []scenario {
	return []scenario{
		{name: "all, including drafts", query: `{ stocks { totalCount nodes { uuid total available allocated } } }`,
			data: `{"stocks":{"totalCount":4,"nodes":[{"uuid":"anvil","total":9,"available":7,"allocated":2},{"uuid":"brush","total":3,"available":0,"allocated":3},
			{"uuid":"chalk","total":0,"available":0,"allocated":0},{"uuid":"drill-draft","total":7,"available":7,"allocated":0}]}}`},
		{name: "bounded by a global id", query: `{ stocks(filter: {id: {ge: ` + global("Product", "chalk") + `}}) { totalCount nodes { uuid } } }`, data: `{"stocks":{"totalCount":2,"nodes":[{"uuid":"chalk"},{"uuid":"drill-draft"}]}}`},
		{name: "products that are in the catalog", query: `{ stocks { nodes { product { uuid } } } }`, data: `{"stocks":{"nodes":[{"product":{"uuid":"anvil"}},{"product":{"uuid":"brush"}},{"product":{"uuid":"chalk"}},{"product":null}]}}`},
		{name: "an invalid time", query: `{ stocks(filter: {updatedAt: {gt: "later"}}) { totalCount } }`, codes: invalid, data: `{"stocks":null}`},
		{name: "a cursor that was not signed", query: `query($after: String) { stocks(after: $after) { totalCount } }`, variables: graphtest.Variables{"after": "eyJsIjoiYSJ9"}, codes: invalid, argument: "after"},
	}
}

func TestStockTransactions(t *testing.T) {
	t.Parallel()
	transact := func(changes string) string {
		return `mutation { stockTransact(input: {changes: [` + changes + `]}) { transactions { productUuid action quantity availableDelta allocatedDelta reason reference actor stock { uuid total available allocated } } userErrors { field code message } } }`
	}
	runOnTestShop(t, []scenario{
		{name: "a batch, in order, by uuid and global id", query: transact(`{productId: "anvil", action: INCREMENT, quantity: 5, reason: "found", reference: "shelf 1"}, {productId: ` + global("Product", "chalk") + `, action: SET, quantity: 9}, {productId: "chalk", action: DECREMENT, quantity: 5, expectedAvailable: 9}`),
			data: `{"stockTransact":{"transactions":[
			{"productUuid":"anvil","action":"INCREMENT","quantity":5,"availableDelta":5,"allocatedDelta":0,"reason":"found","reference":"shelf 1","actor":"client:tester","stock":{"uuid":"anvil","total":14,"available":12,"allocated":2}},
			{"productUuid":"chalk","action":"SET","quantity":9,"availableDelta":9,"allocatedDelta":0,"reason":null,"reference":null,"actor":"client:tester","stock":{"uuid":"chalk","total":4,"available":4,"allocated":0}},
			{"productUuid":"chalk","action":"DECREMENT","quantity":5,"availableDelta":-5,"allocatedDelta":0,"reason":null,"reference":null,"actor":"client:tester","stock":{"uuid":"chalk","total":4,"available":4,"allocated":0}}],"userErrors":[]}}`},
		{name: "errors of every change", query: transact(`{productId: "anvil", action: INCREMENT, quantity: 0}, {productId: "chalk", action: SET, quantity: -1}, {productId: "chalk", action: SET, quantity: 1, reason: "` + strings.Repeat("x", 256) + `"}`),
			data: `{"stockTransact":{"transactions":[],"userErrors":[{"field":["input","changes","0","quantity"],"code":"UNPROCESSABLE","message":"changes.0.quantity must be between 1 and 2147483647, got 0."},
			{"field":["input","changes","1","quantity"],"code":"UNPROCESSABLE","message":"changes.1.quantity must be between 0 and 2147483647, got -1."},
			{"field":["input","changes","2","reason"],"code":"UNPROCESSABLE","message":"changes.2.reason must be at most 255 bytes, got 256."}]}}`},
	})
}
