package graph_test

import (
	"slices"
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
			holds: []string{`"transactions":[{"uuid":"ledger-5","productUuid":"anvil","action":"DEALLOCATE","quantity":2,"availableDelta":2,"allocatedDelta":-2,"reason":"","reference":"",`,
				`"action":"DECREMENT","quantity":1,"availableDelta":-1,"allocatedDelta":0`, `"action":"ALLOCATE","quantity":4,"availableDelta":-4,"allocatedDelta":4`,
				`"action":"SET","quantity":10,"availableDelta":10,"allocatedDelta":0,"reason":"count","reference":"sheet 1","actor":"client:a","createdAt":"2023-03-01T00:00:00.000Z","stock":{"total":9}`}},
		{name: "the ledger's newest line", query: `{ stock(productId: "anvil") { transactions(first: 1) { uuid } } }`, data: `{"stock":{"transactions":[{"uuid":"ledger-5"}]}}`},
		{name: "one ledger per alias", query: `{ stock(productId: "anvil") { a: transactions(first: 1) { uuid } b: transactions(first: 2) { uuid } } }`,
			data: `{"stock":{"a":[{"uuid":"ledger-5"}],"b":[{"uuid":"ledger-5"},{"uuid":"ledger-4"}]}}`},
		{name: "too few lines", query: `{ stock(productId: "anvil") { transactions(first: 0) { uuid } } }`, codes: unprocessable, argument: "first", data: `{"stock":{"transactions":null}}`},
		{name: "too many lines", query: `{ stock(productId: "anvil") { transactions(first: 101) { uuid } } }`, codes: unprocessable, argument: "first", holds: []string{"between 1 and 100, got 101"}},
	}
}

func stockLists() []scenario {
	list := func(arguments string) string { return `{ stocks(` + arguments + `) { totalCount nodes { uuid } } }` }
	rows := func(total string, ids ...string) string {
		if len(ids) == 0 {
			return `{"stocks":{"totalCount":` + total + `,"nodes":[]}}`
		}
		return `{"stocks":{"totalCount":` + total + `,"nodes":[{"uuid":"` + strings.Join(ids, `"},{"uuid":"`) + `"}]}}`
	}
	return []scenario{
		{name: "all, including drafts", query: `{ stocks { totalCount nodes { uuid total available allocated } timestamps { createdAt updatedAt } } }`,
			data: `{"stocks":{"totalCount":4,"nodes":[{"uuid":"anvil","total":9,"available":7,"allocated":2},{"uuid":"brush","total":3,"available":0,"allocated":3},
			{"uuid":"chalk","total":0,"available":0,"allocated":0},{"uuid":"drill-draft","total":7,"available":7,"allocated":0}],
			"timestamps":{"createdAt":"2023-03-01T00:00:00.000Z","updatedAt":"2023-03-05T00:00:00.000Z"}}}`},
		{name: "descending", query: list(`orderBy: {field: ID, direction: DESC}, first: 2`), data: rows("4", "drill-draft", "chalk")},
		{name: "by creation, then id", query: list(`orderBy: {field: CREATED_AT}`), data: rows("4", "anvil", "chalk", "drill-draft", "brush")},
		{name: "by update, descending", query: list(`orderBy: {field: UPDATED_AT, direction: DESC}, first: 2`), data: rows("4", "brush", "anvil")},
		{name: "bounded by id", query: list(`filter: {id: {gt: "anvil", le: "chalk"}}`), data: rows("2", "brush", "chalk")},
		{name: "bounded by a global id", query: list(`filter: {id: {ge: ` + global("Product", "chalk") + `}}`), data: rows("2", "chalk", "drill-draft")},
		{name: "bounded by time", query: list(`filter: {updatedAt: {ge: "2023-03-02T00:00:00Z", lt: "2023-03-05T00:00:00+00:00"}}`), data: rows("2", "anvil", "drill-draft")},
		{name: "bounded by two keys", query: list(`filter: {createdAt: {lt: "2023-03-02"}, id: {gt: "anvil"}}`), data: rows("2", "chalk", "drill-draft")},
		{name: "bounds that leave nothing", query: list(`filter: {id: {gt: "z"}}`), data: rows("0")},
		{name: "at an offset", query: list(`offset: 3`), data: rows("4", "drill-draft")},
		{name: "past the end", query: list(`offset: 10000`), data: rows("4")},
		{name: "products that are in the catalog", query: `{ stocks { nodes { product { uuid } } } }`, data: `{"stocks":{"nodes":[{"product":{"uuid":"anvil"}},{"product":{"uuid":"brush"}},{"product":{"uuid":"chalk"}},{"product":null}]}}`},
		{name: "an invalid time", query: list(`filter: {updatedAt: {gt: "later"}}`), codes: invalid, data: `{"stocks":null}`},
		{name: "a cursor that was not signed", query: `query($after: String) { stocks(after: $after) { totalCount } }`, variables: graphtest.Variables{"after": "eyJsIjoiYSJ9"}, codes: invalid, argument: "after"},
	}
}

func TestLedgers(t *testing.T) {
	t.Parallel()
	runOnTestShop(t, []scenario{
		{name: "newest first", query: `{ stockTransactions(productId: ` + global("Product", "anvil") + `, first: 2) { totalCount pageInfo { hasNextPage } nodes { uuid action quantity stock { total } } } }`,
			data: `{"stockTransactions":{"totalCount":4,"pageInfo":{"hasNextPage":true},"nodes":[{"uuid":"ledger-5","action":"DEALLOCATE","quantity":2,"stock":{"total":9}},{"uuid":"ledger-4","action":"DECREMENT","quantity":1,"stock":{"total":9}}]}}`},
		{name: "oldest first", query: `{ stockTransactions(productId: "anvil", first: 1, orderBy: {field: CREATED_AT}) { nodes { uuid } } }`, data: `{"stockTransactions":{"nodes":[{"uuid":"ledger-1"}]}}`},
		{name: "bounded", query: `{ stockTransactions(productId: "anvil", filter: {createdAt: {gt: "2023-03-03T00:00:00Z"}}) { totalCount nodes { uuid } } }`, data: `{"stockTransactions":{"totalCount":1,"nodes":[{"uuid":"ledger-5"}]}}`},
		{name: "by id", query: `{ stockTransactions(productId: "anvil", orderBy: {field: ID}) { totalCount } }`, codes: invalid},
		{name: "of no product", query: `{ stockTransactions(productId: "nobody") { totalCount } }`, codes: notFound, data: `{"stockTransactions":null}`},
		{name: "one line", query: `{ stockTransaction(productId: "anvil", id: "ledger-1") { action reason reference } none: stockTransaction(productId: "brush", id: "ledger-1") { action } }`,
			data: `{"stockTransaction":{"action":"SET","reason":"count","reference":"sheet 1"},"none":null}`},
	})
}

func TestStockByIDs(t *testing.T) {
	t.Parallel()
	runOnTestShop(t, []scenario{
		{name: "in the order of the ids, each once", query: `{ stocksById(productIds: ["chalk", "nobody", ` + global("Product", "anvil") + `, "chalk", "a b"]) { uuid total product { sku } } }`,
			data: `{"stocksById":[{"uuid":"chalk","total":0,"product":{"sku":"CHALK"}},{"uuid":"anvil","total":9,"product":{"sku":"ANVIL"}}]}`},
		{name: "none", query: `{ stocksById(productIds: []) { uuid } }`, data: `{"stocksById":[]}`},
		{name: "101", query: `query($ids: [ID!]!) { stocksById(productIds: $ids) { uuid } }`, variables: graphtest.Variables{"ids": slices.Repeat([]any{"anvil"}, 101)}, codes: unprocessable, argument: "productIds", holds: []string{"at most 100 elements, got 101"}},
	})
}

func TestNewStock(t *testing.T) {
	t.Parallel()
	create := func(product, quantity string) string {
		return `mutation { stockCreate(input: {productId: ` + product + `, quantity: ` + quantity + `}) { stock { uuid total available transactions { action quantity actor } } userErrors { field code message } } }`
	}
	runOnTestShop(t, []scenario{
		{name: "of a product", query: create(global("Product", "glue"), "12"),
			data: `{"stockCreate":{"stock":{"uuid":"glue","total":12,"available":12,"transactions":[{"action":"INCREMENT","quantity":12,"actor":"client:tester"}]},"userErrors":[]}}`},
		{name: "once more", query: create(`"glue"`, "12"),
			data: `{"stockCreate":{"stock":null,"userErrors":[{"field":["input","productId"],"code":"CONFLICT","message":"productId already has a stock record: \"glue\"; change it with a transaction."}]}}`},
		{name: "a negative number", query: create(`"new"`, "-1"),
			data: `{"stockCreate":{"stock":null,"userErrors":[{"field":["input","quantity"],"code":"UNPROCESSABLE","message":"quantity must be between 0 and 2147483647, got -1."}]}}`},
		{name: "no partial result", query: `{ stock(productId: "new") { total } stocks { totalCount } }`, data: `{"stock":null,"stocks":{"totalCount":5}}`},
	})
}

func TestStockTransactions(t *testing.T) {
	t.Parallel()
	transact := func(changes string) string {
		return `mutation { stockTransact(input: {changes: [` + changes + `]}) { transactions { productUuid action quantity availableDelta allocatedDelta reason reference actor stock { uuid total available allocated } } userErrors { field code message } } }`
	}
	failed := func(faults string) string {
		return `{"stockTransact":{"transactions":[],"userErrors":[` + faults + `]}}`
	}
	balance := scenario{name: "no partial result", query: `{ stocks { nodes { uuid available allocated } } stock(productId: "anvil") { transactions { quantity } } }`,
		data: `{"stocks":{"nodes":[{"uuid":"anvil","available":12,"allocated":2},{"uuid":"brush","available":0,"allocated":3},{"uuid":"chalk","available":4,"allocated":0},{"uuid":"drill-draft","available":7,"allocated":0}]},
		"stock":{"transactions":[{"quantity":5},{"quantity":2},{"quantity":1},{"quantity":4},{"quantity":10}]}}`}
	runOnTestShop(t, []scenario{
		{name: "a batch, in order, by uuid and global id", query: transact(`{productId: "anvil", action: INCREMENT, quantity: 5, reason: "found", reference: "shelf 1"}, {productId: ` + global("Product", "chalk") + `, action: SET, quantity: 9}, {productId: "chalk", action: DECREMENT, quantity: 5, expectedAvailable: 9}`),
			data: `{"stockTransact":{"transactions":[
			{"productUuid":"anvil","action":"INCREMENT","quantity":5,"availableDelta":5,"allocatedDelta":0,"reason":"found","reference":"shelf 1","actor":"client:tester","stock":{"uuid":"anvil","total":14,"available":12,"allocated":2}},
			{"productUuid":"chalk","action":"SET","quantity":9,"availableDelta":9,"allocatedDelta":0,"reason":"","reference":"","actor":"client:tester","stock":{"uuid":"chalk","total":4,"available":4,"allocated":0}},
			{"productUuid":"chalk","action":"DECREMENT","quantity":5,"availableDelta":-5,"allocatedDelta":0,"reason":"","reference":"","actor":"client:tester","stock":{"uuid":"chalk","total":4,"available":4,"allocated":0}}],"userErrors":[]}}`},
		{name: "errors of every change", query: transact(`{productId: "anvil", action: INCREMENT, quantity: 0}, {productId: "chalk", action: SET, quantity: -1}, {productId: "chalk", action: SET, quantity: 1, reason: "` + strings.Repeat("x", 256) + `"}`),
			data: failed(`{"field":["input","changes","0","quantity"],"code":"UNPROCESSABLE","message":"changes.0.quantity must be between 1 and 2147483647, got 0."},
			{"field":["input","changes","1","quantity"],"code":"UNPROCESSABLE","message":"changes.1.quantity must be between 0 and 2147483647, got -1."},
			{"field":["input","changes","2","reason"],"code":"UNPROCESSABLE","message":"changes.2.reason must be at most 255 bytes, got 256."}`)},
		{name: "too little stock rejects the whole batch", query: transact(`{productId: "anvil", action: INCREMENT, quantity: 1}, {productId: "chalk", action: DECREMENT, quantity: 5}`),
			data: failed(`{"field":["input","changes","1","quantity"],"code":"UNPROCESSABLE","message":"changes.1.quantity must be at most the 4 available units of chalk, got 5."}`)},
		{name: "a product without a record", query: transact(`{productId: "anvil", action: INCREMENT, quantity: 1}, {productId: "glue", action: SET, quantity: 5}`),
			data: failed(`{"field":["input","changes","1","productId"],"code":"NOT_FOUND","message":"changes.1.productId has no stock record: \"glue\"; create one first."}`)},
		{name: "another write came first", query: transact(`{productId: "anvil", action: ALLOCATE, quantity: 1, expectedAvailable: 7}`),
			data: failed(`{"field":["input","changes","0","expectedAvailable"],"code":"CONFLICT","message":"changes.0.expectedAvailable was 7, but 12 are available; read the stock again, then retry with the new value."}`)},
		{name: "more than was allocated", query: transact(`{productId: "anvil", action: DEALLOCATE, quantity: 3}`),
			data: failed(`{"field":["input","changes","0","quantity"],"code":"UNPROCESSABLE","message":"changes.0.quantity must be at most the 2 allocated units of anvil, got 3."}`)},
		{name: "more than 32 bits", query: transact(`{productId: "anvil", action: INCREMENT, quantity: 2147483647}`),
			data: failed(`{"field":["input","changes","0","quantity"],"code":"UNPROCESSABLE","message":"changes.0.quantity would raise the total of anvil above 2147483647; it is 14 now."}`)},
		{name: "no changes", query: transact(``), data: failed(`{"field":["input","changes"],"code":"UNPROCESSABLE","message":"changes must have between 1 and 1000 changes, got 0."}`)},
		{name: "1001 changes", query: `mutation($c: [StockChangeInput!]!) { stockTransact(input: {changes: $c}) { transactions { uuid } userErrors { field code message } } }`,
			variables: graphtest.Variables{"c": slices.Repeat([]any{graphtest.Variables{"productId": "anvil", "action": "INCREMENT", "quantity": 1}}, 1001)},
			data:      failed(`{"field":["input","changes"],"code":"UNPROCESSABLE","message":"changes must have between 1 and 1000 changes, got 1001."}`)},
		{name: "no quantity", query: transact(`{productId: "anvil", action: INCREMENT}`), codes: invalid},
		{name: "a fraction", query: transact(`{productId: "anvil", action: INCREMENT, quantity: 1.5}`), codes: invalid},
		{name: "a huge number", query: transact(`{productId: "anvil", action: INCREMENT, quantity: 99999999999999999999}`), codes: invalid},
		{name: "a number past 32 bits", query: `mutation($q: Int!) { stockTransact(input: {changes: [{productId: "anvil", action: SET, quantity: $q}]}) { userErrors { field } transactions { uuid } } }`,
			variables: graphtest.Variables{"q": 1 << 40}, codes: invalid, argument: "q"},
		balance,
	})
}
