package rest_test

import (
	"testing"

	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// stockedProducts are the products with stock, drafts included, by id.
var stockedProducts = []string{"anvil", "brush", "chalk", "drill-draft"}

func TestInvalidStockFilters(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		bad := func(name, query string, words ...string) scenario {
			return scenario{name: name, path: "/v2/inventories?" + query, status: 400,
				holds: append(words, "Could not parse the supplied filter: it ")}
		}
		runScenarios(t, s, []scenario{
			bad("eq is not known here", "filter=eq(id,anvil)", `\"eq\"`, "gt, ge, lt or le on id, created_at and updated_at"),
			bad("an attribute that does not compare", "filter=gt(total,5)", `\"total\"`, "id, created_at and updated_at"),
			bad("two values", "filter=gt(id,a,b)", "gt(id,…) with 2 values"),
			bad("the same bound twice", "filter=gt(id,a):gt(id,b)", "gt(id,…) twice"),
			bad("NUL", "filter=gt(id,%00)", "id"),
		})
	})
}
