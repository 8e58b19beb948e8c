package graph_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store"
	"portico/store/storetest"
)

// scenario is an operation with what its response must be.
type scenario struct {
	name      string
	query     string
	variables graphtest.Variables
	headers   []string     // in pairs
	data      string       // the whole data as JSON; empty asks for none in particular
	codes     []store.Code // of the errors, neighbours of one kind once
	argument  string       // of the first error: the argument at fault, with dots
	holds     []string     // of the body
	lacks     []string
}

// runScenarios runs scenarios one after the other.
func runScenarios(t *testing.T, s *graphtest.Service, scenarios []scenario) {
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			a := s.Post(t, sc.query, sc.variables, sc.headers...)
			require.Equal(t, http.StatusOK, a.Code)
			require.Equal(t, fmt.Sprint(sc.codes), fmt.Sprint(slices.Compact(a.Codes())), "%s", a.Body)
			if sc.data != "" {
				require.JSONEq(t, sc.data, string(a.Data))
			}
			if sc.argument != "" {
				require.Equal(t, sc.argument, strings.Join(a.Errors[0].Extensions.Argument, "."), "the argument at fault in %s", a.Body)
				require.Contains(t, a.Errors[0].Message, sc.argument, "the message names it")
			}
			for _, text := range sc.holds {
				require.Contains(t, a.Body.String(), text)
			}
			for _, text := range sc.lacks {
				require.NotContains(t, a.Body.String(), text)
			}
		})
	}
}

// runOnTestShop runs scenarios on the test shop on each database.
func runOnTestShop(t *testing.T, scenarios []scenario) {
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		runScenarios(t, s, scenarios)
		require.Empty(t, s.Log.String(), "nothing unexpected")
	})
}

// The tables of scenarios stand in the files of their resources.
func TestQueries(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		for _, table := range []struct {
			name      string
			scenarios []scenario
		}{
			{"a product by one of its names", productsByName()},
			{"a product tells all there is", productMembers()},
			{"the edges of a product", productEdges()},
			{"lists of products", productLists()},
			{"lists of products, searched and sorted", searchedLists()},
			{"facets", facetLists()},
			{"a node by its id", nodesByID()},
			{"lists of nodes", nodeLists()},
			{"anything by its global id", anythingByID()},
			{"the stock of a product", stockByProduct()},
			{"lists of stock", stockLists()},
		} {
			t.Run(table.name, func(t *testing.T) { runScenarios(t, s, table.scenarios) })
		}
		require.Empty(t, s.Log.String(), "nothing unexpected")
	})
}

// The codes of a response's errors.
var (
	invalid       = []store.Code{store.Invalid}
	forbidden     = []store.Code{store.Forbidden}
	notFound      = []store.Code{store.NotFound}
	unprocessable = []store.Code{store.Unprocessable}
	mismatch      = []store.Code{store.CursorMismatch}
)

// global returns a global id as a string literal of a document.
func global(kind, id string) string { return `"` + store.GlobalID(kind, id) + `"` }
