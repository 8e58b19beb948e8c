package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store/storetest"
)

// connection is a page of a list.
type connection struct {
	TotalCount int
	Edges      []struct {
		Cursor string
		Node   struct{ UUID string }
	}
	Nodes    []struct{ UUID string }
	PageInfo struct {
		HasNextPage, HasPreviousPage bool
		StartCursor, EndCursor       *string
	}
}

func (c *connection) ids() []string {
	ids := make([]string, len(c.Nodes))
	for i, node := range c.Nodes {
		ids[i] = node.UUID
	}
	return ids
}

// list is a query of a list, with %s in place of the page's arguments.
type list struct{ name, field string }

// lists returns all lists of the schema, some sorted, some filtered.
func lists() []list {
	const order = `orderBy: {field: UPDATED_AT, direction: DESC},`
	return []list{
		{"products", `list: products(%s)`},
		{"products sorted", `list: products(` + order + ` %s)`},
		{"products filtered", `list: products(filter: {tags: {in: ["paint", "light", "wood"]}}, %s)`},
		{"products bounded", `list: products(filter: {bounds: {id: {gt: "brush"}}}, orderBy: {field: ID}, %s)`},
		{"a node's products", `in: catalogNode(by: {id: "tools"}) { list: products(%s)`},
		{"a node's products sorted", `in: catalogNode(by: {id: "tools"}) { list: products(orderBy: {field: CREATED_AT}, %s)`},
		{"a hierarchy's products", `in: node(id: ` + global("Hierarchy", "workshop") + `) { ... on Hierarchy { list: products(%s)`},
		{"nodes", `list: catalogNodes(%s)`},
		{"these nodes", `list: catalogNodes(filter: {ids: ["tools", "sale", "paints", "empty"]}, %s)`},
		{"hierarchies", `list: hierarchies(%s)`},
		{"authored nodes by position", `list: authoredCatalogNodes(orderBy: {field: POSITION}, %s)`},
		{"authored nodes by name, the last first", `list: authoredCatalogNodes(orderBy: {field: NAME, direction: DESC}, %s)`},
		{"authored nodes by creation", `list: authoredCatalogNodes(filter: {search: "o"}, orderBy: {field: CREATED_AT}, %s)`},
		{"a node's children", `in: catalogNode(by: {id: "workshop"}) { list: children(%s)`},
		{"a hierarchy's children", `in: node(id: ` + global("Hierarchy", "seasons") + `) { ... on Hierarchy { list: children(%s)`},
		{"stock", `list: stocks(%s)`},
		{"stock sorted", `list: stocks(` + order + ` %s)`},
		{"stock bounded", `list: stocks(filter: {createdAt: {le: "2023-03-02"}}, %s)`},
	}
}

// page reads a page of the list.
func (l list) page(t *testing.T, s *graphtest.Service, format string, arguments ...any) *connection {
	t.Helper()
	c := &connection{}
	l.ask(t, s, format, arguments...).Read(t, &struct {
		List, In any
	}{c, &struct{ List *connection }{c}})
	return c
}

func (l list) ask(t *testing.T, s *graphtest.Service, format string, arguments ...any) *graphtest.Response {
	t.Helper()
	query := `{ ` + fmt.Sprintf(l.field, fmt.Sprintf(format, arguments...)) + ` { totalCount edges { cursor node { uuid } } nodes { uuid } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }`
	return s.Post(t, query+strings.Repeat(" }", strings.Count(query, "{")-strings.Count(query, "}")), nil)
}

func TestEveryListPages(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		for _, l := range lists() {
			whole := l.page(t, s, `first: 100`)
			require.Equal(t, whole.TotalCount, len(whole.ids()), "the handmade shop fits on a page")
			require.GreaterOrEqual(t, whole.TotalCount, 2, "or there is nothing to see of %s", l.name)
			require.Len(t, slices.Compact(slices.Sorted(slices.Values(whole.ids()))), whole.TotalCount, "each row once")
			for way, read := range map[string]func(*testing.T, *graphtest.Service, list, []string){
				"forwards": readForwards, "backwards": readBackwards, "by offset": readByOffset,
				"between two rows": readBetweenTwoRows, "from the middle": readFromTheMiddle,
			} {
				t.Run(l.name+" "+way, func(t *testing.T) { read(t, s, l, whole.ids()) })
			}
		}
	})
}

// requirePage requires that a page has the rows from start to end of the whole list.
func requirePage(t *testing.T, c *connection, whole []string, start, end int) {
	t.Helper()
	require.Equal(t, whole[start:end], c.ids())
	require.Len(t, c.Edges, end-start)
	for i, edge := range c.Edges {
		require.Equal(t, whole[start+i], edge.Node.UUID, "edges and nodes agree")
	}
	require.Equal(t, len(whole), c.TotalCount, "totalCount counts the whole list")
	require.Equal(t, end < len(whole), c.PageInfo.HasNextPage, "hasNextPage of rows %d to %d of %d", start, end, len(whole))
	require.Equal(t, start > 0, c.PageInfo.HasPreviousPage, "hasPreviousPage of rows %d to %d of %d", start, end, len(whole))
	if start < end {
		require.Equal(t, c.Edges[0].Cursor, *c.PageInfo.StartCursor)
		require.Equal(t, c.Edges[len(c.Edges)-1].Cursor, *c.PageInfo.EndCursor)
		return
	}
	require.Nil(t, c.PageInfo.StartCursor)
	require.Nil(t, c.PageInfo.EndCursor)
}

func readForwards(t *testing.T, s *graphtest.Service, l list, whole []string) {
	for size := 1; size <= len(whole)+1; size++ {
		after := ""
		for start := 0; start < len(whole); start += size {
			c := l.page(t, s, `first: %d%s`, size, after)
			requirePage(t, c, whole, start, min(start+size, len(whole)))
			after = fmt.Sprintf(", after: %q", *c.PageInfo.EndCursor)
		}
		require.Empty(t, l.page(t, s, `first: %d%s`, size, after).ids(), "nothing after the last row")
	}
}

func readBackwards(t *testing.T, s *graphtest.Service, l list, whole []string) {
	for size := 1; size <= len(whole)+1; size++ {
		before := ""
		for end := len(whole); end > 0; end -= size {
			c := l.page(t, s, `last: %d%s`, size, before)
			requirePage(t, c, whole, max(0, end-size), end)
			before = fmt.Sprintf(", before: %q", *c.PageInfo.StartCursor)
		}
		require.Empty(t, l.page(t, s, `last: %d%s`, size, before).ids(), "nothing before the first row")
	}
}

func readByOffset(t *testing.T, s *graphtest.Service, l list, whole []string) {
	for offset := range len(whole) + 2 {
		c := l.page(t, s, `first: 2, offset: %d`, offset)
		if offset > len(whole) {
			require.Empty(t, c.ids(), "nothing past the end")
			require.False(t, c.PageInfo.HasNextPage)
			require.Equal(t, len(whole), c.TotalCount)
			continue
		}
		requirePage(t, c, whole, offset, min(offset+2, len(whole)))
	}
	require.Empty(t, l.page(t, s, `offset: 10000`).ids())
}

func readBetweenTwoRows(t *testing.T, s *graphtest.Service, l list, whole []string) {
	cursors := l.page(t, s, `first: 100`).Edges
	for i := range cursors {
		for j := i + 1; j < len(cursors); j++ {
			between := fmt.Sprintf("after: %q, before: %q", cursors[i].Cursor, cursors[j].Cursor)
			require.Equal(t, whole[i+1:j], l.page(t, s, "%s", between).ids(), "between %d and %d", i, j)
			require.Equal(t, whole[i+1:min(i+2, j)], l.page(t, s, "first: 1, %s", between).ids())
			require.Equal(t, whole[max(i+1, j-1):j], l.page(t, s, "last: 1, %s", between).ids())
		}
	}
}

func readFromTheMiddle(t *testing.T, s *graphtest.Service, l list, whole []string) {
	for i, edge := range l.page(t, s, `first: 100`).Edges {
		require.Equal(t, whole[i+1:], l.page(t, s, "after: %q", edge.Cursor).ids())
		require.Equal(t, whole[:i], l.page(t, s, "before: %q", edge.Cursor).ids())
		require.Equal(t, whole[i+1:min(i+2, len(whole))], l.page(t, s, "first: 1, after: %q", edge.Cursor).ids())
		require.Equal(t, whole[max(0, i-1):i], l.page(t, s, "last: 1, before: %q", edge.Cursor).ids())
	}
}

func TestPageSizesOutOfRangeAreInvalid(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		for _, l := range lists() {
			cursor := l.page(t, s, `first: 1`).Edges[0].Cursor
			for _, bad := range []struct {
				page, argument, code, says string
			}{
				{`first: 0`, "first", "UNPROCESSABLE", "between 1 and 100, got 0"},
				{`first: 101`, "first", "UNPROCESSABLE", "between 1 and 100, got 101"},
				{`first: -1`, "first", "UNPROCESSABLE", "between 1 and 100, got -1"},
				{`first: 2147483647`, "first", "UNPROCESSABLE", "between 1 and 100"},
				{`last: 0`, "last", "UNPROCESSABLE", "between 1 and 100, got 0"},
				{`last: 101`, "last", "UNPROCESSABLE", "between 1 and 100, got 101"},
				{`offset: -1`, "offset", "UNPROCESSABLE", "between 0 and 10000, got -1"},
				{`offset: 10001`, "offset", "UNPROCESSABLE", "to read further"},
				{`first: 1, last: 1`, "last", "INVALID", "cannot be combined with first"},
				{`last: 1, offset: 1`, "offset", "INVALID", "cannot be combined"},
				{`offset: 0, after: "` + cursor + `"`, "offset", "INVALID", "cannot be combined"},
				{`offset: 0, before: "` + cursor + `"`, "offset", "INVALID", "cannot be combined"},
				{`after: "nonsense"`, "after", "INVALID", "is not a cursor"},
				{`before: "nonsense"`, "before", "INVALID", "is not a cursor"},
				{`after: "bm9uc2Vuc2U"`, "after", "INVALID", "is not a cursor"},
				{`first: "1"`, "first", "INVALID", "Int"},
				{`first: 1.5`, "first", "INVALID", "Int"},
				{`first: 99999999999999999999`, "first", "INVALID", "Int"},
			} {
				t.Run(l.name+" "+bad.page, func(t *testing.T) {
					a := l.ask(t, s, "%s", bad.page)
					require.NotEmpty(t, a.Errors, "%s", a.Body)
					require.Equal(t, bad.code, string(a.Errors[0].Extensions.Code), "%s", a.Body)
					require.Equal(t, bad.argument, strings.Join(a.Errors[0].Extensions.Argument, "."))
					require.Contains(t, a.Errors[0].Message, bad.says)
				})
			}
		}
		require.Empty(t, s.Log.String())
	})
}

// A cursor is valid for one list, order and filter.
func TestCursorOfAnotherListIsAMismatch(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		for _, from := range lists() {
			t.Run("of "+from.name, func(t *testing.T) {
				cursor := from.page(t, s, `first: 1`).Edges[0].Cursor
				for _, to := range lists() {
					if from.name == to.name {
						continue
					}
					for _, member := range []string{"after", "before"} {
						a := to.ask(t, s, `%s: %q`, member, cursor)
						require.Equal(t, mismatch, a.Codes(), "brought to %s it answers %s", to.name, a.Body)
						require.Equal(t, []string{member}, a.Errors[0].Extensions.Argument)
					}
				}
			})
		}
	})
}
