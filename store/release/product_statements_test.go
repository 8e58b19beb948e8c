package release_test

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/index"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// readCase is a kind of read of a release.
type readCase struct {
	name string
	run  func(ctx context.Context, v *release.View, rows int) error
}

// reads returns all kinds of reads of a release.
func (h *modelShop) reads(t require.TestingT) []readCase {
	term := func(attribute, operator string, values ...string) release.ProductFilter {
		term, err := release.NewTerm(attribute, operator, values)
		require.NoError(t, err)
		return release.ProductFilter{Terms: []store.Term{term}}
	}
	within := func(attribute, operator, value string) release.ProductFilter {
		r, err := store.NewRange(attribute, operator, value)
		require.NoError(t, err)
		return release.ProductFilter{Ranges: []store.Range{r}}
	}
	list := func(name string, query release.ProductQuery) readCase {
		return readCase{name, func(ctx context.Context, v *release.View, rows int) error {
			query := query
			if query.Page.Last != nil {
				query.Page.Last = &rows
			} else {
				query.Page.First = &rows
			}
			slice, err := v.Products(ctx, query)
			if err != nil {
				return err
			}
			if len(slice.Items) != rows {
				return fmt.Errorf("%d products, not %d", len(slice.Items), rows)
			}
			_, err = slice.Total(ctx)
			return err
		}}
	}
	middle := h.ids[len(h.ids)/2]
	cursor := h.cursorAt(t, storetest.View(t, h.Store, release.ShopperContext{}), release.ProductQuery{}, len(h.attached[""])/2)
	return []readCase{
		list("all products", release.ProductQuery{}),
		list("every product", release.ProductQuery{Unlisted: true}),
		list("the products of a hierarchy", release.ProductQuery{NodeID: h.largest()}),
		list("from the end", release.ProductQuery{Page: store.Page{Last: new(1)}}),
		list("after a cursor", release.ProductQuery{Page: store.Page{After: &cursor}}),
		list("by id", release.ProductQuery{Sort: store.Sort{By: store.SortID}}),
		list("by creation, the newest first", release.ProductQuery{Sort: store.Sort{By: store.SortCreatedAt, Descending: true}}),
		list("by creation, from a time on", release.ProductQuery{Sort: store.Sort{By: store.SortCreatedAt}, Filter: within("created_at", "ge", "2020-01-01")}),
		list("by id, beyond one", release.ProductQuery{Sort: store.Sort{By: store.SortID}, Filter: within("id", "gt", middle)}),
		list("updated since", release.ProductQuery{Filter: within("updated_at", "gt", "2020-01-01")}),
		list("of a tag", release.ProductQuery{Filter: term("tags", "eq", "new")}),
		list("of some tags", release.ProductQuery{Filter: term("tags", "in", "new", "sale", "no such tag")}),
		list("of a tag, sorted", release.ProductQuery{Filter: term("tags", "eq", "new"), Sort: store.Sort{By: store.SortUpdatedAt}}),
		list("by name", release.ProductQuery{Sort: store.Sort{By: store.SortName}}),
		list("by name, from the end of the alphabet", release.ProductQuery{Sort: store.Sort{By: store.SortName, Descending: true}}),
		list("by price", release.ProductQuery{Sort: store.Sort{By: store.SortPrice}}),
		list("of a tag, by price", release.ProductQuery{Filter: term("tags", "eq", "new"), Sort: store.Sort{By: store.SortPrice, Descending: true}}),
		list("searched", release.ProductQuery{Filter: searchFilter(t, "bam")}),
		list("searched, by relevance", release.ProductQuery{Filter: searchFilter(t, "bamboo two"), Sort: store.Sort{By: store.SortRelevance}}),
		facetRead("a facet of all", release.ProductFilter{}),
		facetRead("a facet of a search", searchFilter(t, "bam")),
		list("by their ids", release.ProductQuery{Filter: term("id", "in", h.attached[""][:200]...)}),
		{"products by their ids", func(ctx context.Context, v *release.View, rows int) error {
			found, err := v.ProductsByID(ctx, h.ids[:rows])
			if err == nil && len(found) == 0 {
				return fmt.Errorf("no product")
			}
			return err
		}},
		{"a product", func(ctx context.Context, v *release.View, _ int) error {
			_, err := v.Product(ctx, release.ProductKey{ID: h.attached[""][0]})
			return err
		}},
		{"a product by its SKU", func(ctx context.Context, v *release.View, _ int) error {
			_, err := v.Product(ctx, release.ProductKey{SKU: h.products[h.attached[""][0]].values["sku"][0]})
			return err
		}},
		{"a product by its slug", func(ctx context.Context, v *release.View, _ int) error {
			_, err := v.Product(ctx, release.ProductKey{Slug: h.products[h.attached[""][0]].values["slug"][0]})
			return err
		}},
		{"files by their ids", func(ctx context.Context, v *release.View, rows int) error {
			products, err := v.ProductsByID(context.Background(), h.attached[""][:rows])
			if err != nil {
				return err
			}
			var ids []string
			for _, id := range h.attached[""][:rows] {
				ids = append(ids, products[id].MainImageID())
			}
			found, err := v.FilesByID(ctx, ids)
			if err == nil && len(found) != rows {
				return fmt.Errorf("%d files, not %d", len(found), rows)
			}
			return err
		}},
		{"translations", func(ctx context.Context, v *release.View, rows int) error {
			found, err := v.TranslationsByID(ctx, h.attached[""][:rows])
			if err == nil && len(found) != rows {
				return fmt.Errorf("translations of %d products, not %d", len(found), rows)
			}
			return err
		}},
		{"nodes", func(ctx context.Context, v *release.View, rows int) error {
			_, err := v.Nodes(ctx, release.NodeQuery{Page: store.Page{First: &rows}})
			return err
		}},
		{"nodes by their ids", func(ctx context.Context, v *release.View, rows int) error {
			_, err := v.NodesByID(ctx, h.nodes[:min(rows, len(h.nodes))])
			return err
		}},
	}
}

// searchFilter returns a filter by words.
func searchFilter(t require.TestingT, text string) release.ProductFilter {
	search, err := index.NewSearch(text)
	require.NoError(t, err)
	return release.ProductFilter{Searches: []index.Search{search}}
}

func facetRead(name string, filter release.ProductFilter) readCase {
	return readCase{name, func(ctx context.Context, v *release.View, rows int) error {
		values, err := v.Facet(ctx, release.FacetQuery{Attribute: "tags", List: release.ProductQuery{Filter: filter}, First: rows})
		if err == nil && len(values) == 0 {
			return fmt.Errorf("no value")
		}
		return err
	}}
}

// nodeStatements counts the statements of lists of sibling nodes.
func nodeStatements(h *modelShop) func(*testing.T) {
	return func(t *testing.T) {
		s, err := shop.Open(context.Background(), shop.Config{URL: h.url, NoCache: true, Synchronous: "OFF"})
		require.NoError(t, err)
		defer s.Close()
		term, err := release.NewTerm("tags", "in", []string{"new", "sale"})
		require.NoError(t, err)
		since, err := store.NewRange("updated_at", "gt", "2020-01-01")
		require.NoError(t, err)
		tagged, recent := release.ProductFilter{Terms: []store.Term{term}}, release.ProductFilter{Ranges: []store.Range{since}}
		costs := func(t *testing.T, read func(ctx context.Context, v *release.View, nodes []string) error) {
			var counts []int
			var queries []string
			for _, nodes := range [][]string{h.nodes[1:3], h.nodes[1:]} {
				v := storetest.View(t, s, release.ShopperContext{})
				ctx, counter := store.CountStatements(t.Context())
				require.NoError(t, read(ctx, v, nodes))
				counts, queries = append(counts, counter.Count()), counter.Queries()
			}
			require.Equal(t, counts[0], counts[1], "%q", queries)
		}
		for name, query := range map[string]release.ProductQuery{
			"plain": {}, "from the end": {Page: store.Page{Last: new(2)}}, "filtered": {Filter: tagged}, "bounded": {Filter: recent},
			"by name": {Sort: store.Sort{By: store.SortName}}, "by creation, the newest first": {Sort: store.Sort{By: store.SortCreatedAt, Descending: true}},
			"sorted and bounded": {Filter: recent, Sort: store.Sort{By: store.SortUpdatedAt}}, "filtered, by price": {Filter: tagged, Sort: store.Sort{By: store.SortPrice}},
			"searched, by relevance": {Filter: searchFilter(t, "bam"), Sort: store.Sort{By: store.SortRelevance}},
		} {
			t.Run(name, func(t *testing.T) {
				if query.Page.Last == nil {
					query.Page.First = new(5) // products are read in batches of 512
				}
				costs(t, func(ctx context.Context, v *release.View, nodes []string) error {
					slices, err := v.ProductsOfNodes(ctx, nodes, query)
					for _, id := range nodes {
						own := query
						own.NodeID = id
						want, err := storetest.View(t, h.Store, release.ShopperContext{}).Products(context.Background(), own)
						require.NoError(t, err)
						require.Len(t, slices[id].Items, len(want.Items))
						for i, product := range want.Items {
							require.Equal(t, product.ID(), slices[id].Items[i].ID())
						}
					}
					return err
				})
			})
		}
		t.Run("facets", func(t *testing.T) {
			costs(t, func(ctx context.Context, v *release.View, nodes []string) error {
				_, err := v.FacetOfNodes(ctx, nodes, release.FacetQuery{Attribute: "tags", List: release.ProductQuery{Filter: tagged}, First: 5})
				return err
			})
		})
	}
}

// largest returns the node or hierarchy with the most products.
func (h *modelShop) largest() string {
	return slices.MaxFunc(h.nodes[1:], func(a, b string) int { return len(h.attached[a]) - len(h.attached[b]) })
}

func productStatements(backend storetest.Backend, h *modelShop) func(*testing.T) {
	return func(t *testing.T) {
		s, err := shop.Open(context.Background(), shop.Config{URL: h.url, NoCache: true, Synchronous: "OFF"})
		require.NoError(t, err)
		defer s.Close()
		for _, read := range h.reads(t) {
			t.Run(read.name, func(t *testing.T) {
				var counts []int
				var queries []string
				for _, rows := range []int{1, 100} {
					v := storetest.View(t, s, release.ShopperContext{}) // caches what it reads
					ctx, counter := store.CountStatements(t.Context())
					require.NoError(t, read.run(ctx, v, rows))
					counts, queries = append(counts, counter.Count()), counter.Queries()
				}
				require.Equal(t, counts[0], counts[1], "%q", queries)
			})
		}
		t.Run("any offset", func(t *testing.T) {
			var counts []int
			for _, offset := range []int{0, 1, testkit.QuickOrFull(500, 5000), testkit.QuickOrFull(1000, 10_000)} {
				v := storetest.View(t, s, release.ShopperContext{})
				ctx, counter := store.CountStatements(t.Context())
				slice, err := v.Products(ctx, release.ProductQuery{Page: store.Page{First: new(25), Offset: &offset}})
				require.NoError(t, err)
				require.Len(t, slice.Items, 25)
				_, err = slice.Total(ctx)
				require.NoError(t, err)
				counts = append(counts, counter.Count())
			}
			require.Len(t, slices.Compact(counts), 1, "statements at near and far offsets: %v", counts)
		})
		t.Run("many values of a term", func(t *testing.T) {
			var counts []int
			for _, n := range []int{1, 100} {
				var skus []string
				for _, id := range h.attached[""][:n] {
					skus = append(skus, h.products[id].values["sku"]...)
				}
				term, err := release.NewTerm("sku", "in", skus)
				require.NoError(t, err)
				v := storetest.View(t, s, release.ShopperContext{})
				ctx, counter := store.CountStatements(t.Context())
				slice, err := v.Products(ctx, release.ProductQuery{Filter: release.ProductFilter{Terms: []store.Term{term}}, Page: store.Page{First: new(100)}})
				require.NoError(t, err)
				require.Len(t, slice.Items, n)
				counts = append(counts, counter.Count())
			}
			require.LessOrEqual(t, counts[1], counts[0]+3, "statements for 1 SKU and for 100: %v", counts)
		})
	}
}

func productsCached(h *modelShop) func(*testing.T) {
	return func(t *testing.T) {
		for _, read := range h.reads(t) {
			t.Run(read.name, func(t *testing.T) {
				require.NoError(t, read.run(t.Context(), storetest.View(t, h.Store, release.ShopperContext{}), 100))
				ctx, counter := store.CountStatements(t.Context())
				v, err := h.Releases.View(ctx, release.ShopperContext{})
				require.NoError(t, err)
				require.NoError(t, read.run(ctx, v, 100))
				require.Empty(t, counter.Queries())
			})
		}
	}
}

// readPlans checks the query plan of each statement of the reads, with the statistics right
// after publishing and with full ones.
func readPlans(backend storetest.Backend, h *modelShop) func(*testing.T) {
	return func(t *testing.T) {
		testkit.FullTestsOnly(t, "a small table is cheap to go through, and is gone through")
		s, err := shop.Open(context.Background(), shop.Config{URL: h.url, NoCache: true, Synchronous: "OFF"})
		require.NoError(t, err)
		defer s.Close()
		db := backend.SQLAt(t, h.url)
		for _, state := range []string{"right after publishing", "later"} {
			for _, read := range h.reads(t) {
				t.Run(state+", "+read.name, func(t *testing.T) {
					v := storetest.View(t, s, release.ShopperContext{})
					ctx, counter := store.CountStatements(t.Context())
					require.NoError(t, read.run(ctx, v, 100))
					queries := slices.Compact(slices.Sorted(slices.Values(counter.Queries())))
					require.NotEmpty(t, queries)
					for _, query := range queries {
						plan := planOf(t, backend, db, query)
						require.NotEmpty(t, plan)
						require.Empty(t, tableScan(plan), "%s\n%s", query, strings.Join(plan, "\n"))
					}
				})
			}
			_, err := db.Exec(`ANALYZE`)
			require.NoError(t, err)
		}
	}
}

// tableScan returns the first step of a plan that reads a whole table, or a whole release for a
// few of its rows.
func tableScan(plan []string) string {
	keys := map[string]string{
		"release_place": "product_id", "release_block": "id", "release_chunk": "chunk", "release_file": "file_id",
		"release_list": "list", "release_index": "attribute", "release_facet": "attribute", "release_sale": "currency", "stock": "product_id",
		"release_word": "release_id", // PostgreSQL reads all of a few dozen big rows
	}
	table := ""
	for _, step := range plan {
		step = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(step), "->"))
		if strings.HasPrefix(step, "Seq Scan") || strings.HasPrefix(step, "SCAN ") && !strings.Contains(step, "before") && !strings.Contains(step, "subquery") {
			return step
		}
		for name := range keys { // PostgreSQL names the table or its index, then the condition
			if strings.Contains(step, " on "+name) {
				table = name
			}
		}
		condition, found := strings.CutPrefix(step, "Index Cond: ")
		if found && table != "" && !slices.ContainsFunc(strings.Fields(keys[table]), func(key string) bool { return strings.Contains(condition, key+" ") }) {
			return "on " + table + ": " + step
		}
		if found {
			table = ""
		}
		if strings.HasPrefix(step, "SEARCH ") && strings.HasSuffix(step, "(release_id=?)") && !strings.Contains(step, "release_node") {
			return step
		}
	}
	return ""
}

var placeholders = regexp.MustCompile(`\$(\d+)`)

// planOf returns a query's plan for any values. On PostgreSQL it disables sequential scans,
// because the small tables of a test would always be scanned.
func planOf(t *testing.T, backend storetest.Backend, db *sql.DB, query string) (plan []string) {
	t.Helper()
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	require.NoError(t, err)
	defer conn.Close()
	explain := `EXPLAIN QUERY PLAN ` + query
	var args []any
	most := 0
	for _, found := range placeholders.FindAllStringSubmatch(query, -1) {
		n, err := strconv.Atoi(found[1])
		require.NoError(t, err)
		most = max(most, n)
	}
	if backend.Name == "postgres" {
		for _, order := range []string{`SET enable_seqscan = off`, `SET plan_cache_mode = force_generic_plan`, `PREPARE examined AS ` + query} {
			_, err := conn.ExecContext(ctx, order)
			require.NoError(t, err, order)
		}
		defer conn.ExecContext(ctx, `DEALLOCATE examined`)
		explain = `EXPLAIN EXECUTE examined`
		if most > 0 {
			explain += `(` + strings.TrimSuffix(strings.Repeat(`NULL,`, most), ",") + `)`
		}
	} else {
		args = make([]any, most)
	}
	rows, err := conn.QueryContext(ctx, explain, args...)
	require.NoError(t, err, explain)
	defer rows.Close()
	columns, err := rows.Columns()
	require.NoError(t, err)
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		require.NoError(t, rows.Scan(values...))
		plan = append(plan, fmt.Sprint(*values[len(values)-1].(*any)))
	}
	require.NoError(t, rows.Err())
	return plan
}
