package shop_test

import (
	"database/sql"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/exchange"
	"portico/store/shop"
	"portico/store/storetest"
)

// fill writes n rows of everything that the lists below read, unordered and with equal keys.
var fill = []string{
	`INSERT INTO stock (product_id, available, allocated, created_at, updated_at)
	 WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
	 SELECT 'p' || SUBSTR('00000' || CAST(i AS TEXT), LENGTH(CAST(i AS TEXT))), 1, 0, i * 7919 % 20000, i * 104729 % 20000 / 4 * 4 FROM n`,
	`UPDATE counter SET value = 20000 WHERE name = 'stock'`,
	`INSERT INTO catalog (id, created_at, sequence, body)
	 WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
	 SELECT 'c' || SUBSTR('000000' || CAST(i AS TEXT), LENGTH(CAST(i AS TEXT))), i, i, '{}' FROM n`,
	`INSERT INTO catalog_rule (id, catalog_id, created_at, sequence, body) SELECT id, id, created_at, sequence, body FROM catalog`,
	`INSERT INTO hierarchy (id, sequence, created_at, updated_at, body) SELECT id, sequence, created_at, created_at, body FROM catalog`,
	`INSERT INTO node (id, hierarchy_id, parent_id, slug, name_folded, name_key, position, sequence, created_at, updated_at, body)
	 SELECT id, 'h' || CAST(sequence % 4 AS TEXT), id, id, id, id, sequence, sequence, created_at, created_at, body FROM catalog`,
	`INSERT INTO redirect (id, sequence, from_path, to_path, body) SELECT id, sequence, id, id, body FROM catalog`,
	`INSERT INTO product (id, live, parent_id, component_ids, created_at, updated_at, sku, slug, body)
	 SELECT id, sequence % 2 = 0, '', '', sequence, sequence, id, id, body FROM catalog`,
	`INSERT INTO promotion (id, number, epoch, name, name_key, name_folded, promotion_type, enabled, automatic, start_at, end_at, created_at, updated_at, body)
	 SELECT id, sequence, 0, id, id, id, 'x_for_y', TRUE, FALSE, 0, sequence, sequence, sequence, body FROM catalog`,
	`INSERT INTO promotion_archive (number, id, epoch, archived_at, archived_by, body) SELECT number + 100000, id, 0, 0, '', body FROM promotion`,
	`INSERT INTO promotion_code (promotion_number, epoch, code, id, max_uses, used, consume_unit, users, created_at)
	 SELECT available * 7, i % 2, product_id, product_id, NULL, 0, '', '', created_at
	 FROM (SELECT product_id, available, created_at, created_at AS i FROM stock) AS numbered`,
	`INSERT INTO code_claim (code, promotion_number, epoch) SELECT code, promotion_number, epoch FROM promotion_code`,
	`INSERT INTO code_usage (id, promotion_number, epoch, code, user_id, units_asked, units, reference, actor, created_at)
	 SELECT product_id, 7, 1, product_id, '', 1, 1, 'order-' || product_id, 'client:test', created_at FROM stock`,
	`INSERT INTO code_usage_total (promotion_number, part, usages) SELECT number, 3, 1 FROM promotion`,
}

func TestListsUseIndexes(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s, db := backend.Open(t), backend.SQL(t)
		for _, statement := range fill {
			run(t, db, statement)
		}
		if backend.Name == "postgres" { // PostgreSQL analyzes automatically; SQLite stays without statistics
			run(t, db, `ANALYZE`)
		}
		for _, queries := range [][]shop.Query{
			shop.StockQueries(),
			shop.AuthoredQueries(),
			shop.PromotionQueries(),
		} {
			for _, query := range queries {
				t.Run(query.Name, func(t *testing.T) {
					plan, err := s.Plan(t.Context(), query)
					require.NoError(t, err)
					require.NotEmpty(t, plan)
					for _, step := range plan {
						require.False(t, readsWholeTable(step), "%s\n%s", query.Text, strings.Join(plan, "\n"))
					}
				})
			}
		}
	})
}

// TestPublicationPagesUseIndexes checks that each page of a publication's reads begins at an
// index position. Sorting or skipping rows for each page would take quadratic time.
func TestPublicationPagesUseIndexes(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		if backend.Name != "sqlite" {
			t.Skip("PostgreSQL has the same indexes, but its plans depend on the number of rows")
		}
		db := backend.SQL(t)
		ctx, counter := store.CountStatements(t.Context())
		for _, cardProcessor := range []bool{false, true, true} {
			s := backend.Open(t, func(config *shop.Config) { config.WholeReleases = cardProcessor })
			_, err := s.Exchange.Import(t.Context(), "test", func() (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader(strings.ReplaceAll(strings.Join(storetest.ShopLines(), "\n"), "Anvil", "Anvil "+strconv.Itoa(counter.Count())))), nil
			}, exchange.ImportOptions{})
			require.NoError(t, err)
			_, err = s.Publisher.Publish(ctx, "test", "main", nil)
			require.NoError(t, err)
			_, err = s.Exchange.Export(ctx, io.Discard, exchange.ExportOptions{WithClients: true})
			require.NoError(t, err)
			require.NoError(t, s.Sweep(ctx))
		}
		places, seen := regexp.MustCompile(`\$\d+`), map[string]bool{}
		for _, query := range counter.Queries() {
			if !strings.Contains(query, "LIMIT 1000") || seen[query] {
				continue
			}
			seen[query] = true
			rows, err := db.Query("EXPLAIN QUERY PLAN "+query, make([]any, len(places.FindAllString(query, -1)))...)
			require.NoError(t, err, query)
			for rows.Next() {
				var id, parent, unused int
				var step string
				require.NoError(t, rows.Scan(&id, &parent, &unused, &step))
				require.NotContains(t, step, "TEMP B-TREE", query)
			}
			require.NoError(t, rows.Close())
		}
		require.Greater(t, len(seen), 10, "the number of paged queries")
	})
}

// readsWholeTable reports whether a step of a plan scans a table or sorts.
func readsWholeTable(step string) bool {
	switch {
	case strings.Contains(step, "Seq Scan"), strings.Contains(step, "Sort"), strings.Contains(step, "USE TEMP B-TREE"):
		return true
	case strings.HasPrefix(step, "SCAN "):
		return !strings.Contains(step, "INDEX")
	}
	return false
}

func TestReadsWholeTable(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]bool{
		"SCAN stock": true,
		"SCAN stock USING INDEX stock_by_created":                 false,
		"SEARCH stock USING INDEX stock_by_created":               false,
		"USE TEMP B-TREE FOR ORDER BY":                            true,
		"  ->  Seq Scan on stock  (cost=0.00..347.00 rows=20000)": true,
		"  ->  Sort  (cost=0.00..347.00 rows=20000)":              true,
		"  ->  Index Scan using stock_pkey on stock":              false,
	} {
		require.Equal(t, want, readsWholeTable(step), step)
	}
}

func run(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	_, err := db.Exec(statement)
	require.NoError(t, err, statement)
}
