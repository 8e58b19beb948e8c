package exchange_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store"
	"portico/store/exchange"
	"portico/store/shop"
	"portico/store/storetest"
)

func deletes(kind, id string) string {
	return fmt.Sprintf(`{"type":%q,"id":%q,"deleted":true}`, kind, id)
}

// TestImportDeletes checks what deletion lines delete of a shop, and what they warn of.
func TestImportDeletes(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s, db := backend.Open(t), backend.SQL(t)
		for _, c := range []struct {
			name     string
			lines    []string
			gone     []string // type and id
			warnings []string
			errors   []string // then nothing is deleted
		}{
			{"a product", []string{deletes("product", "glue")}, []string{"product glue"}, []string{`1 id is still used by the node "sale"`}, nil},
			{"a product that others use", []string{deletes("product", "anvil")}, []string{"product anvil"}, []string{`1 id is still used by the node "tools" and 3 more`}, nil},
			{"a file", []string{deletes("file", "photo-1")}, []string{"file photo-1"}, []string{`1 id is still used by the product "anvil"`}, nil},
			{"a file that a node shows", []string{deletes("file", "photo-2"), storetest.ChangedShopLine("product", "glue", `"id":"photo-2"`, `"id":"photo-1"`),
				storetest.ChangedShopLine("product", "anvil", `,{"type":"file","id":"photo-2"}`, ``)}, []string{"file photo-2"}, []string{`1 id is still used by the node "empty"`}, nil},
			{"a hierarchy with nodes", []string{deletes("hierarchy", "attic")}, nil, nil, []string{`1 id cannot be deleted: it is used by the node "box"; change or delete that first`}},
			{"a hierarchy and its nodes", []string{deletes("hierarchy", "attic"), deletes("node", "box")}, []string{"hierarchy attic", "node box"}, nil, nil},
			{"a node with a child", []string{deletes("node", "tools")}, nil, nil, []string{`1 id cannot be deleted: it is used by the node "hand-tools"`}},
			{"nodes, the parent first", []string{deletes("node", "tools"), deletes("node", "hand-tools")}, []string{"node tools", "node hand-tools"}, []string{`1 id is still used by the redirect "old-tools"`}, nil},
			{"a price book with prices and catalogs", []string{deletes("pricebook", "vip")}, nil, nil, []string{`1 id cannot be deleted: it is used by the price "vip-anvil" and 1 more`}},
			{"a price book of a catalog that the file changes", []string{deletes("pricebook", "vip"), deletes("product-price", "vip-anvil"),
				storetest.ChangedShopLine("catalog", "main", `,{"id":"vip","priority":5}`, ``)}, []string{"pricebook vip", "product-price vip-anvil"}, nil, nil},
			{"a hierarchy that a line of the file refers to", []string{deletes("hierarchy", "attic"), deletes("node", "box"),
				`{"type":"node","id":"new","attributes":{"name":"N"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"attic"}}}}`}, nil, nil,
				[]string{`1 id cannot be deleted: it is used by the node "new"`}},
			{"a price modifier", []string{deletes("price_modifier", "bulk-1")}, []string{"price_modifier bulk-1"}, []string{`1 id is still used by the product `}, nil},
			{"synonyms and redirects", []string{deletes("synonym", "lutes"), deletes("redirect", "help")}, []string{"synonym lutes", "redirect help"}, nil, nil},
			{"an attribute with values", []string{deletes("attribute", "brand")}, nil, nil, []string{`1 id cannot be deleted: it is used by the product "`}},
			{"an attribute with a value of a node", []string{deletes("attribute", "fragile"), storetest.ChangedShopLine("product", "chalk", `"fragile":true,`, `"fragile":null,`), storetest.ChangedShopLine("node", "empty", `"brand":"Acme"`, `"fragile":true`)},
				nil, nil, []string{`1 id cannot be deleted: it is used by the node "empty"; change or delete that first`}},
			{"an attribute and its values", []string{deletes("attribute", "fragile"), storetest.ChangedShopLine("product", "chalk", `"fragile":true,`, `"fragile":null,`)}, []string{"attribute fragile"}, nil, nil},
			{"a catalog with rules", []string{deletes("catalog", "outlet")}, nil, nil, []string{`1 id cannot be deleted: it is used by the catalog rule "club"`}},
			{"a catalog and its rules", []string{deletes("catalog", "outlet"), deletes("catalog_rule", "club")}, []string{"catalog outlet", "catalog_rule club"}, nil, nil},
			{"all catalogs", []string{deletes("catalog", "outlet"), deletes("catalog_rule", "club"), deletes("catalog", "main"), deletes("catalog_rule", "everyone")}, nil, nil,
				[]string{`1 id must stay: without a catalog shoppers see nothing`}},
			{"a promotion", []string{deletes("promotion", "ten-off")}, []string{"promotion ten-off", "promotion_code code-1", "promotion_code code-2", "code_usage usage-1"},
				[]string{`1 id has 2 codes, which are deleted with it; its usages stay`}, nil},
			{"a code", []string{deletes("promotion_code", "code-2")}, []string{"promotion_code code-2"}, nil, nil},
			{"the code of an automatic promotion", []string{deletes("promotion_code", "code-3")}, nil, nil, []string{`1 id is the code of an automatic promotion`}},
			{"what does not exist", []string{deletes("product", "none")}, nil, []string{`1 id is not the id of a product: "none"`}, nil},
			{"twice", []string{deletes("file", "photo-2"), deletes("file", "photo-2")}, []string{"file photo-2"}, []string{`1 id is still used by the product `}, nil},
			{"what the file holds", []string{storetest.ShopLine("product", "glue"), deletes("product", "glue")}, nil, nil, []string{`2 deleted contradicts another line, which has the product "glue"`}},
			{"a type that stays", []string{`{"type":"stock","id":"anvil","deleted":true}`}, nil, nil, []string{`1 deleted is not possible for a stock`}},
			{"another value", []string{`{"type":"product","id":"glue","deleted":false}`}, nil, nil, []string{`1 deleted must be true, or absent`}},
			{"with other members", []string{`{"type":"product","id":"glue","attributes":{},"deleted":true}`}, nil, nil, []string{`1 attributes must be absent`}},
			{"without an id", []string{`{"type":"product","deleted":true}`}, nil, nil, []string{`1 id is required`}},
		} {
			t.Run(c.name, func(t *testing.T) {
				storetest.DeleteAllRows(t, db)
				storetest.Import(t, s, storetest.ShopFile)
				before := storetest.Export(t, s)
				text := storetest.JoinLines(c.lines...)
				for _, merge := range []bool{true, false} {
					options := exchange.ImportOptions{Merge: merge}
					if len(c.errors) > 0 {
						_, err := s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(text), options)
						found := errorTexts(t, err)
						require.Len(t, found, len(c.errors), "%v", found)
						require.Contains(t, found[0], c.errors[0])
						require.Equal(t, before, storetest.Export(t, s))
						continue
					}
					_, plan := planned(t, s, text, options)
					var planned []string
					for _, w := range plan.Warnings {
						planned = append(planned, fmt.Sprintf("%d %s %s", w.Line, strings.Join(w.Err.Path, "."), w.Err.Detail))
					}
					if merge {
						require.Len(t, planned, len(c.warnings), "%v", planned)
						for i, want := range c.warnings {
							require.Contains(t, planned[i], want)
						}
						require.Equal(t, before, storetest.Export(t, s), "a plan writes nothing")
					}
					report, err := s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(text), options)
					require.NoError(t, err)
					require.Equal(t, plan.Deleted, report.Deleted)
					require.ElementsMatch(t, c.gone, missingLines(before, storetest.Export(t, s)), "merge %t", merge)
				}
			})
		}
	})
}

// Deletions and exports read the products of all nodes together: the number of statements does not grow with the nodes.
func TestNodesAreReadTogether(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		db := backend.SQL(t)
		statements := func(nodes int, do func(ctx context.Context, s *shop.Store)) []string {
			s := backend.Open(t)
			storetest.DeleteAllRows(t, db)
			storetest.Import(t, s, storetest.ShopFile)
			var lines []string
			for i := range nodes {
				lines = append(lines, fmt.Sprintf(`{"type":"node","id":"n%d","attributes":{"name":"N"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"attic"}},"products":{"data":[{"type":"product","id":"glue"},{"type":"product","id":"anvil"}]}}}`, i))
			}
			storetest.Import(t, s, storetest.JoinLines(lines...))
			ctx, counter := store.CountStatements(t.Context())
			do(ctx, s)
			return counter.Queries()
		}
		imports := func(line string) func(context.Context, *shop.Store) {
			return func(ctx context.Context, s *shop.Store) {
				_, err := s.Exchange.Import(ctx, storetest.Actor, storetest.Source(line), exchange.ImportOptions{})
				require.NoError(t, err)
			}
		}
		for name, do := range map[string]func(context.Context, *shop.Store){
			"a file": imports(deletes("file", "photo-1")), "a product": imports(deletes("product", "glue")),
			"an export": func(ctx context.Context, s *shop.Store) {
				_, err := s.Exchange.Export(ctx, io.Discard, exchange.ExportOptions{})
				require.NoError(t, err)
			},
		} {
			require.Len(t, statements(200, do), len(statements(2, do)), name)
			if name == "a file" {
				require.NotContains(t, strings.Join(statements(2, do), "\n"), "node_product", "files are not the products of nodes")
			}
		}
	})
}

// TestDeletionsOfKeysThatOthersDefine checks that an import does not warn of uses of a SKU or name that another resource
// defines too, wherever it is: later in the file, or in the store. Nor does it warn that a deleted resource has the SKU.
func TestDeletionsOfKeysThatOthersDefine(t *testing.T) {
	t.Parallel()
	modifier := func(id string) string {
		return fmt.Sprintf(`{"type":"price_modifier","id":%q,"attributes":{"name":"large","modifier_type":"price_equals","currencies":{}}}`, id)
	}
	withSKU := func(id, sku string) string {
		return strings.Replace(product(id, ``, ``), "SKU-"+strings.ToUpper(id), sku, 1)
	}
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.JoinLines(`{"type":"pricebook","id":"book","attributes":{"name":"B"}}`, withSKU("mug", "MUG"), withSKU("jug", "JUG"), withSKU("jug-2", "JUG"),
			modifier("m1"), modifier("m2"), product("cup", `,"price_modifiers":["large"]`, ``)))
		for _, c := range []struct {
			name  string
			lines []string
			want  []string
		}{
			{"nobody else", []string{deletes("product", "mug"), priceOf("MUG", "USD")}, []string{`1 is still used by the price "p-MUG"`}},
			{"a later line", []string{deletes("product", "mug"), priceOf("MUG", "USD"), withSKU("mug-2", "MUG")}, nil},
			{"a line in another case", []string{deletes("product", "mug"), withSKU("mug-2", "Mug")}, nil},
			{"another slug", []string{deletes("product", "jug"), strings.Replace(withSKU("mug-2", "PIN"), `"slug":"mug-2"`, `"slug":"jug"`, 1)}, nil},
			{"a product that stays", []string{deletes("product", "jug"), withSKU("mug-2", "MUG")}, []string{`2 is also the sku of the product "mug" in the store`}},
			{"a stored product", []string{deletes("product", "jug"), priceOf("JUG", "USD")}, nil},
			{"a stored price modifier", []string{deletes("price_modifier", "m1")}, nil},
			{"both price modifiers", []string{deletes("price_modifier", "m1"), deletes("price_modifier", "m2")}, []string{`1 is still used by the product "cup"`, `2 is still used by the product "cup"`}},
		} {
			t.Run(c.name, func(t *testing.T) {
				_, plan := planned(t, s, storetest.JoinLines(c.lines...), exchange.ImportOptions{})
				var found []string
				for _, w := range plan.Warnings {
					if strings.Contains(w.Err.Detail, "still used") || strings.Contains(w.Err.Detail, "in the store") {
						found = append(found, fmt.Sprintf("%d %s", w.Line, w.Err.Detail))
					}
				}
				require.Equal(t, c.want, found)
			})
		}
	})
}

// missingLines lists the types and ids of the lines of before that after lacks.
func missingLines(before, after string) (missing []string) {
	head := func(line string) string {
		parts := strings.Split(line, `"`)
		return parts[3] + " " + parts[7]
	}
	var left []string
	for line := range strings.Lines(after) {
		left = append(left, head(line))
	}
	for line := range strings.Lines(before) {
		if !slices.Contains(left, head(line)) {
			missing = append(missing, head(line))
		}
	}
	return missing
}

// TestReplaceLeavesTheFile draws which lines of some types a file holds. An import that replaces
// these types leaves exactly them, and the plan says so before.
func TestReplaceLeavesTheFile(t *testing.T) {
	t.Parallel()
	replaced := []string{"file", "product", "product-price", "price_modifier", "catalog_rule", "node", "promotion"}
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		backend.FullTestsOnlyOnPostgres(t)
		s := backend.Open(t)
		rapid.Check(t, func(t *rapid.T) {
			storetest.Import(t, s, storetest.ShopFile)
			before := storetest.Export(t, s)
			kinds := rapid.SliceOfNDistinct(rapid.SampledFrom(replaced), 1, 3, rapid.ID).Draw(t, "kinds")
			parents := slices.Contains(kinds, "node")
			var lines []string
			for line := range strings.Lines(before) {
				if kind := storetest.LineType(line); slices.Contains(kinds, kind) && (parents && kind == "node" && strings.Contains(line, `"id":"tools"`) || rapid.Bool().Draw(t, "held")) {
					lines = append(lines, strings.TrimSuffix(line, "\n"))
				}
			}
			text, options := storetest.JoinLines(lines...), exchange.ImportOptions{Replace: kinds}
			changes, plan := planned(t, s, text, options)
			require.Len(t, changes, total(plan.Deleted), "it deletes and changes nothing else: %v", changes)
			var asked []exchange.Replacement
			options.Confirm = func(list []exchange.Replacement) error { asked = list; return nil }
			report, err := s.Exchange.Import(context.Background(), storetest.Actor, storetest.Source(text), options)
			require.NoError(t, err)
			require.Equal(t, plan.Deleted, report.Deleted)
			var left []string
			after := storetest.Export(t, s)
			for line := range strings.Lines(after) {
				if slices.Contains(kinds, storetest.LineType(line)) {
					left = append(left, strings.TrimSuffix(line, "\n"))
				}
			}
			require.ElementsMatch(t, lines, left)
			for _, r := range asked {
				require.Equal(t, report.Deleted[r.Type], r.Deleted)
				require.Equal(t, strings.Count("\n"+before, "\n"+`{"type":"`+r.Type+`"`), r.All)
			}
			for _, missing := range missingLines(before, after) {
				kind, _, _ := strings.Cut(missing, " ")
				require.True(t, slices.Contains(kinds, kind) || slices.Contains(kinds, "promotion") && (kind == "promotion_code" || kind == "code_usage"), "%s", missing)
			}
		})
	})
}

func total(counts map[string]int) (n int) {
	for _, count := range counts {
		n += count
	}
	return n
}

// TestReplaceAsks checks that nothing is written if the caller refuses.
func TestReplaceAsks(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.ShopFile)
		before, refused := storetest.Export(t, s), errors.New("no")
		_, err := s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(product("mug", ``, ``)), exchange.ImportOptions{
			Replace: []string{"product"}, Confirm: func([]exchange.Replacement) error { return refused }})
		require.ErrorIs(t, err, refused)
		require.Equal(t, before, storetest.Export(t, s))
	})
}

// TestImportSkips checks that lines of skipped types are left alone and counted, also invalid ones.
func TestImportSkips(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		text := storetest.JoinLines(product("mug", ``, ``), `{"type":"file","id":"f"}`, `{"id":"g","type":"file"}`, deletes("file", "h"))
		for _, merge := range []bool{false, true} {
			report := storetest.ImportWithOptions(t, s, text, func(o *exchange.ImportOptions) { o.Skip, o.Merge = []string{"file"}, merge })
			require.Equal(t, map[string]int{"product": 1}, report.Resources)
			require.Equal(t, map[string]int{"file": 3}, report.Left)
			require.Equal(t, 0, report.WarningCount)
		}
		require.NotContains(t, storetest.Export(t, s), `"type":"file"`)
	})
}
