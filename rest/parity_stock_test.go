package rest_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"portico/store"
)

// stockHeaders draws the header that selects the shape of stock.
func (d *dice) stockHeaders() []string {
	if d.chance(30) {
		return []string{"EP-Inventories-Multi-Location", pick(d, "true", "TRUE")}
	}
	return nil
}

const stockMembers = `...stock`

// wireStockAs converts a stock record to the shape that the headers select.
func wireStockAs(headers []string) func(map[string]any) any {
	if len(headers) == 0 {
		return wireStock
	}
	return func(s map[string]any) any {
		counts := func() map[string]any {
			return map[string]any{"total": s["total"], "available": s["available"], "allocated": s["allocated"]}
		}
		attributes := counts()
		attributes["locations"] = map[string]any{"default": counts()}
		return map[string]any{"id": s["uuid"], "type": "stock", "attributes": attributes,
			"meta": map[string]any{"stock_id": s["uuid"], "timestamps": map[string]any{"created_at": s["createdAt"], "updated_at": s["updatedAt"]}}}
	}
}

// drawStock draws a request for the stock of a product.
func drawStock(d *dice) *parityCase {
	id := pick(d, d.known.products...)
	if n := len(d.stocks); n > 0 && d.chance(30) {
		id = d.stocks[d.IntN(n)][d.IntN(2)]
	}
	q := &parityCase{method: "GET", headers: d.stockHeaders(), variables: map[string]any{"id": d.id(store.TypeProduct, id)},
		document: `query($id: ID!) { stock(productId: $id) { ` + stockMembers + ` } }`}
	if d.chance(15) {
		q.variables["id"] = d.unknownProduct()
	} else if d.chance(10) {
		q.client = d.rejectedClient()
	}
	q.target = "/v2/inventories/" + url.PathEscape(q.variables["id"].(string)) + pick(d, "", "/")
	q.same = func(t require.TestingT, rest, data map[string]any) {
		require.Equal(t, wireStockAs(q.headers)(data["stock"].(map[string]any)), rest["data"])
	}
	return q
}

// drawStocksByID draws a request for the stock of several products.
func drawStocksByID(d *dice) *parityCase {
	n := pick(d, 0, 1, 3, 30, 100)
	if d.chance(10) {
		n = 101
	}
	ids, resources := []any{}, []any{}
	for range n {
		id := d.id(store.TypeProduct, pick(d, append([]string{"nobody", "a b", ""}, d.known.products...)...))
		ids, resources = append(ids, id), append(resources, map[string]any{"id": id, "type": "stock"})
	}
	q := &parityCase{method: "POST", target: "/v2/inventories/multiple", headers: d.stockHeaders(), variables: map[string]any{"ids": ids},
		document: `query($ids: [ID!]!) { stocksById(productIds: $ids) { ` + stockMembers + ` } }`}
	text, _ := json.Marshal(map[string]any{"data": resources}) // cannot fail
	q.body = string(text)
	switch {
	case n < 101 && d.chance(6):
		q.client = d.rejectedClient()
	case n < 101 && d.chance(6):
		q.body, q.raw = pick(d, "", "{", "[]", `{"data":{}}`, `{"data":[5]}`, `{}`), "{"
	}
	q.same = func(t require.TestingT, rest, data map[string]any) {
		require.Equal(t, mapList(data["stocksById"], wireStockAs(q.headers)), rest["data"])
	}
	return q
}

// drawStockCreate creates a stock record with each API, for different products.
func drawStockCreate(coordinate string) func(*dice) *parityCase {
	return func(d *dice) *parityCase {
		n := len(d.stocks)
		ids := [2]string{fmt.Sprintf("rest-%d", n), fmt.Sprintf("graphql-%d", n)}
		quantity := any(d.IntN(50))
		switch d.IntN(8) {
		case 0:
			quantity = pick[any](d, -1, -5)
		case 1:
			if n > 0 {
				ids = d.stocks[d.IntN(n)] // products that have a record
			}
		case 2:
			ids = [2]string{"a b", "a b"}
		}
		body := map[string]any{"quantity": quantity}
		if d.chance(40) {
			body = map[string]any{"type": "stock", "attributes": pick(d, map[string]any{"available": quantity},
				map[string]any{"locations": map[string]any{"default": map[string]any{"available": quantity}}})}
		}
		q := &parityCase{method: "POST", target: "/v2/inventories", headers: d.stockHeaders(),
			variables: map[string]any{"input": map[string]any{"productId": ids[1], "quantity": quantity}},
			document: `mutation($input: StockCreateInput!) { stockCreate(input: $input) { stock { ` + stockMembers +
				` } userErrors { field code message } } }`}
		if strings.HasSuffix(coordinate, ":id") {
			q.target += "/" + url.PathEscape(ids[0])
		} else {
			body["id"] = ids[0]
		}
		q.send(d, body)
		q.same = func(t require.TestingT, rest, data map[string]any) {
			d.stocks = append(d.stocks, ids)
			stock := data["stockCreate"].(map[string]any)["stock"].(map[string]any)
			stock["uuid"] = ids[0]
			require.Equal(t, wireStockAs(q.headers)(stock), rest["data"])
		}
		return q
	}
}

// drawStockDelete deletes two records, one created by each API, or an unknown one. Some have
// allocated units.
func drawStockDelete(d *dice) *parityCase {
	ids := [2]string{"nowhere", "nowhere"}
	place := -1
	if n := len(d.stocks); n > 0 && d.chance(80) {
		place = d.IntN(n)
		ids = d.stocks[place]
	}
	return &parityCase{method: "DELETE", target: "/v2/inventories/" + ids[0], variables: map[string]any{"id": ids[1]},
		document: `mutation($id: ID!) { stockDelete(input: {productId: $id}) { deletedId userErrors { field code message } } }`,
		same: func(t require.TestingT, rest, data map[string]any) {
			require.Nil(t, rest)
			require.Equal(t, store.GlobalID(store.TypeStock, ids[1]), data["stockDelete"].(map[string]any)["deletedId"])
			d.stocks = slices.Delete(d.stocks, place, place+1)
		}}
}

const transactionMembers = `...transaction`

// wireTransactionAs converts a ledger entry to the shape that the headers select.
func wireTransactionAs(headers []string) func(map[string]any) any {
	return func(l map[string]any) any {
		change := map[string]any{"action": strings.ToLower(l["action"].(string)), "product_id": l["productUuid"], "quantity": l["quantity"],
			"reason": orEmpty(l["reason"]), "reference": orEmpty(l["reference"])}
		times := map[string]any{"created_at": l["createdAt"]}
		if len(headers) > 0 {
			change["location"] = "default"
			return map[string]any{"id": l["uuid"], "type": "stock-transaction", "attributes": change, "meta": map[string]any{"timestamps": times}}
		}
		change["id"], change["type"], change["timestamps"] = l["uuid"], "stock-transaction", times
		return change
	}
}

// drawTransact changes the stock of two products with equal ledgers, one with each API.
func drawTransact(d *dice) *parityCase {
	ids := [2]string{"nobody", "nobody"}
	if n := len(d.stocks); n > 0 && d.chance(90) {
		ids = d.stocks[d.IntN(n)]
	}
	change := map[string]any{"action": pick(d, "increment", "increment", "decrement", "allocate", "deallocate", "set"),
		"quantity": 1 + d.IntN(20)}
	if d.chance(40) {
		change["reason"], change["reference"] = "counted", pick(d, "order-1", "é")
	}
	if d.chance(10) && ids[0] != "nobody" {
		if d.chance(50) {
			change["quantity"] = -1
		} else {
			change["reason"] = strings.Repeat("x", 256)
		}
	}
	input := map[string]any{"productId": ids[1]}
	body := map[string]any{"type": "stock-transaction"}
	for name, value := range change {
		input[name], body[name] = value, value
	}
	input["action"] = strings.ToUpper(change["action"].(string))
	if d.chance(40) {
		body["location"], body["product_id"] = "default", ids[0]
		body = map[string]any{"attributes": body}
	}
	q := &parityCase{method: "POST", target: "/v2/inventories/" + ids[0] + "/transactions", headers: d.stockHeaders(),
		variables: map[string]any{"input": map[string]any{"changes": []any{input}}},
		document: `mutation($input: StockTransactInput!) { stockTransact(input: $input) { transactions { ` + transactionMembers +
			` } userErrors { field code message } } }`}
	q.send(d, body)
	q.same = func(t require.TestingT, rest, data map[string]any) {
		line := data["stockTransact"].(map[string]any)["transactions"].([]any)[0].(map[string]any)
		got := rest["data"].(map[string]any)
		d.ledgerEntries = append(d.ledgerEntries, [2]string{ids[1], line["uuid"].(string)}, [2]string{ids[0], got["id"].(string)})
		line["uuid"], line["productUuid"] = got["id"], ids[0]
		require.Equal(t, wireTransactionAs(q.headers)(line), any(got))
	}
	return q
}

// drawTransactions draws a request for a product's ledger.
func drawTransactions(d *dice) *parityCase {
	l := d.list("GET /v2/inventories/:id/transactions")
	l.keys = []string{"created_at"}
	q := &parityCase{method: "GET", headers: d.stockHeaders()}
	id := pick(d, "anvil", "anvil", "nobody", "a b")
	if n := len(d.stocks); n > 0 && d.chance(80) {
		id = d.stocks[d.IntN(n)][d.IntN(2)]
	}
	var resume *pageChoice
	request := func(l *drawnRequest) {
		l.where = id
		l.order()
		if l.chance(30) {
			condition, key, operator, value := l.bound()
			if key != "updatedAt" {
				bounds := map[string]any{key: map[string]any{operator: value}}
				l.query.Set("filter", condition)
				l.argument("filter", "ListBounds", graphqlLiteral(bounds), bounds)
				l.where += " where " + condition
			}
		}
	}
	if places := d.cursors[l.coordinate]; len(places) > 0 && d.chance(35) {
		p := pick(d, places...)
		resume, request, id = &p, p.repeat, strings.Fields(p.where)[0]
	}
	again := l.replayable(request)
	if d.chance(15) && id != "nobody" && id != "a b" {
		l.badPage()
	} else {
		l.page(resume)
		if d.chance(8) {
			q.client = d.rejectedClient()
		}
	}
	l.arguments = append(l.arguments, fmt.Sprintf("productId: %q", id))
	q.target = l.address("/v2/inventories/" + url.PathEscape(id) + "/transactions")
	q.document = l.document(`%s { stockTransactions%s { totalCount pageInfo { hasNextPage hasPreviousPage endCursor } edges { cursor } nodes { ` + transactionMembers + ` } } }`)
	q.variables = l.variables
	q.same = func(t require.TestingT, rest, data map[string]any) {
		list := data["stockTransactions"].(map[string]any)
		l.samePage(t, rest, list, again)
		require.Equal(t, mapList(list["nodes"], wireTransactionAs(q.headers)), rest["data"])
	}
	return q
}

// drawTransaction draws a request for a ledger entry.
func drawTransaction(d *dice) *parityCase {
	line := [2]string{pick(d, "anvil", "nobody"), pick(d, "ledger-5", "none", "a b")}
	if n := len(d.ledgerEntries); n > 0 && d.chance(70) {
		line = d.ledgerEntries[d.IntN(n)]
	}
	q := &parityCase{method: "GET", target: "/v2/inventories/" + line[0] + "/transactions/" + url.PathEscape(line[1]),
		headers:   d.stockHeaders(),
		variables: map[string]any{"productId": line[0], "id": line[1]},
		document:  `query($productId: ID!, $id: ID!) { stockTransaction(productId: $productId, id: $id) { ` + transactionMembers + ` } }`}
	if d.chance(10) {
		q.client = d.rejectedClient()
	}
	q.same = func(t require.TestingT, rest, data map[string]any) {
		require.Equal(t, wireTransactionAs(q.headers)(data["stockTransaction"].(map[string]any)), rest["data"])
	}
	return q
}
