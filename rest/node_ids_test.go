package rest_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestNodesByManyIDs requests all breadcrumbs of a page at once. Only the size of the request
// limits the number of ids.
func TestNodesByManyIDs(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		const nodes = 2500
		lines := []string{`{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`,
			`{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["h"]}}`}
		ids := make([]string, nodes)
		for i := range ids {
			ids[i] = fmt.Sprintf("n%04d", i)
			lines = append(lines, fmt.Sprintf(`{"type":"node","id":%q,"attributes":{"name":"N"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}}}}`, ids[i]))
		}
		s := openShop(t, e, strings.Join(lines, "\n"), withClock(testkit.NewClock(noon)))
		slices.Reverse(ids) // the response is ordered by last update and id, not as requested
		wanted := slices.Clone(ids)
		slices.Sort(wanted)
		walk := pageWalk{s: s, path: "/catalog/nodes",
			query: modelQuery{filters: []modelFilter{{text: "in(id," + strings.Join(ids, ",") + ",nowhere)"}}}, limit: 100}
		var found []string
		for _, page := range walk.follow(t, walk.at("page[offset]=0"), "next") {
			require.Equal(t, nodes, page.Meta.Results.Total)
			for _, row := range page.Data {
				found = append(found, row.ID)
			}
		}
		require.Equal(t, wanted, found)
		for _, named := range [][]string{ids[:1], ids} {
			address := "/catalog/nodes?filter=in(id," + strings.Join(named, ",") + ")"
			require.Equal(t, 0, statementCount(t, s, "GET", address, ""), "the tree is cached")
			body, err := json.Marshal(map[string]any{"query": `query($ids: [ID!]) { catalogNodes(filter: {ids: $ids}) { totalCount } }`,
				"variables": map[string]any{"ids": named}})
			require.NoError(t, err)
			w := s.send(t, "POST", "/graphql", string(body))
			require.JSONEq(t, fmt.Sprintf(`{"data":{"catalogNodes":{"totalCount":%d}}}`, len(named)), w.Body.String())
		}
	})
}
