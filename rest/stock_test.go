package rest_test

import (
	"testing"

	"portico/store/storetest"
)

// stockedProducts are the products with stock, drafts included, by id.
var stockedProducts = []string{"anvil", "brush", "chalk", "drill-draft"}

func TestStocks(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(storetest.NewClock(noon)))
		list := func(name, query string, ids ...string) scenario {
			return scenario{name: name, path: "/v2/inventories?" + query, ids: append([]string{}, ids...)}
		}
		bad := func(name, query string, words ...string) scenario {
			return scenario{name: name, path: "/v2/inventories?" + query, status: 400,
				holds: append(words, "Could not parse the supplied filter: it ")}
		}
		runScenarios(t, s, []scenario{
			list("all, by id", "", stockedProducts...),
			{name: "a record: total is available and allocated", path: "/v2/inventories", holds: []string{
				`{"id":"anvil","type":"stock","total":9,"available":7,"allocated":2}`,
				`{"id":"chalk","type":"stock","total":0,"available":0,"allocated":0}`}},
			{name: "timestamps of the list, with a zone", path: "/v2/inventories?page[limit]=1",
				holds: []string{`"timestamps":{"created_at":"2023-03-01T00:00:00.000Z","updated_at":"2023-03-05T00:00:00.000Z"}`}},
			{name: "links are query strings", path: "/v2/inventories?page[limit]=2", holds: []string{
				`"current":"?page[offset]=0&page[limit]=2"`, `"first":"?page[offset]=0&page[limit]=2"`,
				`"last":"?page[offset]=2&page[limit]=2"`, `"prev":null`, `"next":"?page[offset]=2&page[limit]=2&page[after]=`}},
			list("by id, descending", "sort=-id", "drill-draft", "chalk", "brush", "anvil"),
			list("by created_at, then id", "sort=created_at", "anvil", "chalk", "drill-draft", "brush"),
			list("by updated_at, descending", "sort=-updated_at", "brush", "anvil", "drill-draft", "chalk"),
			list("gt of an id", "filter=gt(id,brush)", "chalk", "drill-draft"),
			list("le of a time", "filter=le(updated_at,2023-03-04T00:00:00Z)&sort=updated_at", "chalk", "drill-draft", "anvil"),
			list("between", "filter=gt(id,anvil):lt(id,chalk)", "brush"),
			list("none", "filter=gt(id,zzz)"),
			bad("eq is not known here", "filter=eq(id,anvil)", `\"eq\"`, "gt, ge, lt or le on id, created_at and updated_at"),
			bad("an attribute that does not compare", "filter=gt(total,5)", `\"total\"`, "id, created_at and updated_at"),
			bad("two values", "filter=gt(id,a,b)", "gt(id,…) with 2 values"),
			bad("the same bound twice", "filter=gt(id,a):gt(id,b)", "gt(id,…) twice"),
			bad("NUL", "filter=gt(id,%00)", "id"),
			{name: "headers without effect", path: "/v2/inventories", headers: []string{"EP-Channel", "web", "Accept-Language", "*"},
				ids: stockedProducts},
		})
	})
}
