package rest_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"
)

// drawStocks draws a request for the list of stock.
func drawStocks(d *dice) *parityCase {
	l := d.list("GET /v2/inventories")
	q := &parityCase{method: "GET"}
	var resume *pageChoice
	request := func(l *drawnRequest) {
		l.where = "stock"
		l.order()
		if l.chance(15) {
			l.lowStock()
		} else {
			l.stockFilter()
		}
	}
	if places := d.cursors[l.coordinate]; len(places) > 0 && d.chance(35) {
		p := pick(d, places...)
		resume, request = &p, p.repeat
	}
	fault := ""
	if d.chance(25) {
		fault = pick(d, "page", "page", "filter", "who")
	}
	if fault == "filter" {
		resume, request = nil, (*drawnRequest).badStockFilter
	}
	again := l.replayable(request)
	if fault == "page" {
		l.badPage()
	} else {
		l.page(resume)
	}
	if fault == "who" {
		q.client = d.rejectedClient()
	}
	q.target = l.address("/v2/inventories")
	q.document = l.document(`%s { stocks%s { totalCount pageInfo { hasNextPage hasPreviousPage endCursor } edges { cursor } nodes { ` + stockMembers + ` } }
		created: stocks(first: 1, orderBy: {field: CREATED_AT}) { nodes { createdAt } }
		updated: stocks(first: 1, orderBy: {field: UPDATED_AT, direction: DESC}) { nodes { updatedAt } } }`)
	q.variables = l.variables
	q.same = func(t require.TestingT, rest, data map[string]any) {
		list := data["stocks"].(map[string]any)
		l.samePage(t, rest, list, again)
		require.Equal(t, mapList(list["nodes"], wireStock), rest["data"])
		times := map[string]any{"created_at": nil, "updated_at": nil} // of all stock, on each page
		for _, created := range data["created"].(map[string]any)["nodes"].([]any) {
			times["created_at"] = created.(map[string]any)["createdAt"]
		}
		for _, updated := range data["updated"].(map[string]any)["nodes"].([]any) {
			times["updated_at"] = updated.(map[string]any)["updatedAt"]
		}
		require.Equal(t, times, rest["meta"].(map[string]any)["timestamps"])
	}
	return q
}

func wireStock(s map[string]any) any {
	return map[string]any{"id": s["uuid"], "type": "stock", "total": s["total"], "available": s["available"], "allocated": s["allocated"]}
}

// lowStock draws bounds on available units, which a drawn order contradicts.
func (l *drawnRequest) lowStock() {
	l.query.Set("filter", "le(available,7):gt( available , 1 )")
	l.argument("available", "IntBounds", `{le: 7, gt: 1}`, map[string]any{"le": 7, "gt": 1})
	l.where += " where low"
}

// stockFilter draws bounds, each with another key or operator.
func (l *drawnRequest) stockFilter() {
	n := pick(l.dice, 0, 0, 1, 1, 2, 3)
	var conditions []string
	bounds := map[string]any{}
	for range n {
		condition, key, operator, value := l.bound()
		of, ok := bounds[key].(map[string]any)
		if !ok {
			of = map[string]any{}
			bounds[key] = of
		}
		if of[operator] != nil {
			continue
		}
		of[operator] = value
		conditions = append(conditions, condition)
	}
	if len(conditions) == 0 {
		return
	}
	l.query.Set("filter", strings.Join(conditions, ":"))
	l.argument("filter", "ListBounds", graphqlLiteral(bounds), bounds)
	text, _ := json.Marshal(bounds) // sorts the members
	l.where += fmt.Sprintf(" where %s", text)
}

// badStockFilter draws an invalid filter.
func (l *drawnRequest) badStockFilter() {
	bad := pick(l.dice,
		[2]string{"gt(id", `{id: {gt: }}`},
		[2]string{"eq(id,a)", `{id: {eq: "a"}}`},
		[2]string{"in(id,a)", `{id: {in: ["a"]}}`},
		[2]string{"gt(available,many)", `{available: {gt: "many"}}`},
		[2]string{"gt(total,1)", `{total: {gt: 1}}`},
		[2]string{"gt(updated_at,later)", `{updatedAt: {gt: "later"}}`},
		[2]string{"gt(id,a):gt(id,b)", `{id: {gt: "a", gt: "b"}}`},
		[2]string{"gt(id,a,b)", `{id: {gt: ["a", "b"]}}`},
		[2]string{"gt(id,\x00)", `{id: {gt: "\u0000"}}`},
	)
	l.query.Set("filter", bad[0])
	l.arguments = append(l.arguments, "filter: "+bad[1])
}
