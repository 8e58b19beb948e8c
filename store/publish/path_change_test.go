package publish_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/release"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestPathChangesAreBounded counts the rows of moves, and what a sweep leaves of many.
func TestPathChangesAreBounded(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s, db := backend.Open(t), backend.SQL(t)
		lines, refs := []string{`{"type":"hierarchy","id":"h","attributes":{"name":"H","slug":"shop"}}`, `{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["h"]}}`}, []string{}
		for i := range 80 {
			lines = append(lines, fmt.Sprintf(`{"type":"product","id":"p%d","attributes":{"name":"P","sku":"P%[1]d","slug":"p%[1]d","status":"live"},"relationships":{}}`, i))
			refs = append(refs, fmt.Sprintf(`{"type":"product","id":"p%d"}`, i))
		}
		node := func(id, slug, parent, products string) string {
			if parent != "" {
				parent = `,"parent":{"data":{"type":"node","id":"` + parent + `"}}`
			}
			return `{"type":"node","id":"` + id + `","attributes":{"name":"N","slug":"` + slug + `"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}}` + parent + `,"products":{"data":[` + products + `]}}}`
		}
		publish := func(lines ...string) (statements, rows int) {
			storetest.Import(t, s, storetest.JoinLines(lines...))
			before := storetest.CountRows(t, db, "path_change")
			statements = storetest.CountStatements(t, func(ctx context.Context) error {
				_, err := s.Publisher.Publish(ctx, storetest.Actor, "main", nil)
				return err
			})
			return statements, storetest.CountRows(t, db, "path_change") - before
		}
		_, rows := publish(append(lines, node("a", "a", "", ""), node("b", "b", "a", strings.Join(refs, ",")), node("c", "c", "a", refs[0]), node("d", "d", "", ""))...)
		require.Zero(t, rows, "no path is of the past")
		renamed, rows := publish(strings.ReplaceAll(storetest.JoinLines(lines[2:]...), `"name":"P"`, `"name":"Other"`))
		require.Zero(t, rows, "a name is no part of a path")
		_, rows = publish(node("c", "c", "d", refs[0]))
		require.Equal(t, 2, rows, "one step ends, and one begins")
		moved, rows := publish(node("b", "b", "d", strings.Join(refs, ",")))
		require.Equal(t, 2, rows, "whatever is below the node")
		require.LessOrEqual(t, moved, renamed+20, "statements of a publication do not follow the moved products")
		_, rows = publish(node("b", "b", "d", strings.Join(refs[10:], ",")))
		require.Equal(t, 10, rows, "products that a node lists no longer")

		for _, statement := range []string{
			fmt.Sprintf(`INSERT INTO path_change SELECT 'main', 'loop', 3, 'h', 'node', CAST(x.n * 1000 + y.n AS TEXT), FALSE FROM (WITH RECURSIVE c(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n < 99) SELECT n FROM c) AS x,
				(WITH RECURSIVE c(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n < %d) SELECT n FROM c) AS y`, testkit.QuickOrFull(10, 999)), // the catalog has too many in the full tests only
			`INSERT INTO path_change SELECT 'main', 'back', 1000000 + n, 'h', 'node', 'a', FALSE FROM (WITH RECURSIVE c(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n < 1499) SELECT n FROM c) AS x`,
			`INSERT INTO path_change SELECT 'gone', slug, turn, above_id, kind, target_id, came FROM path_change WHERE slug = 'back'`,
		} {
			_, err := db.Exec(statement)
			require.NoError(t, err)
		}
		require.NoError(t, s.Sweep(t.Context()))
		left := func(where string) (n int) {
			require.NoError(t, db.QueryRow(`SELECT COUNT(*) FROM path_change WHERE `+where).Scan(&n))
			return n
		}
		require.Equal(t, 1000, left(`target_id = 'a'`), "of one node")
		require.Equal(t, 1000, left(`turn >= 1000500`), "the last")
		require.Zero(t, left(`catalog_id = 'gone'`))
		require.LessOrEqual(t, left(`catalog_id = 'main'`), 100_000)
		found, err := storetest.View(t, s, release.ShopperContext{}).Redirect(t.Context(), "a/b/p20")
		require.NoError(t, err)
		require.Equal(t, "shop/d/b/p20", found.Path)
	})
}
