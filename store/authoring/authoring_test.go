package authoring_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store"
	"portico/store/catalog"
	"portico/store/exchange"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestAuthoring tests writes of catalogs, rules, hierarchies and nodes: validation, and what
// holds for concurrent writers.
func TestAuthoring(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("catalogs", authorCatalog(backend))
		t.Run("rules", authorRule(backend))
		t.Run("products of nodes", authorProducts(backend))
		t.Run("an error names its member, and nothing is written", authorErrors(backend))
		t.Run("authored resources are exported, and visible after publishing", authorPublished(backend))
		t.Run("releases of a deleted catalog are swept", authorSwept(backend))
		t.Run("list pages", authorLists(backend))
		t.Run("nodes in each order", authorOrders(backend))
		t.Run("concurrent writes: a rule never outlives its catalog", concurrentRules(backend))
		t.Run("concurrent moves never make a cycle", concurrentMoves(backend))
		t.Run("concurrent attachments attach each product once", concurrentAttachments(backend))
		t.Run("concurrent writes: curated products stay attached", concurrentCuration(backend))
		t.Run("a deleted hierarchy leaves no catalog or node that refers to it", concurrentHierarchies(backend))
		t.Run("two writers of a list lose nothing", concurrentLists(backend))
		t.Run("random moves keep the tree valid", authorMoves(backend))
	})
}

func authorCatalog(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		s := backend.Open(t, storetest.WithClock(clock))
		storetest.Import(t, s, storetest.ShopFile)
		made, err := s.Catalogs.Create(t.Context(), storetest.Actor, "", catalog.Change{Name: new("New"), HierarchyIDs: []string{"attic", "seasons"},
			Pricebooks: []catalog.PricebookRank{{ID: "vip", Priority: 3}}, Locale: new("de"), Currency: new("CHF")})
		require.NoError(t, err)
		require.Regexp(t, `^[0-9a-f-]{36}$`, made.ID)
		require.Equal(t, &catalog.Catalog{ID: made.ID, Name: "New", HierarchyIDs: []string{"attic", "seasons"},
			Pricebooks: []catalog.PricebookRank{{ID: "vip", Priority: 3}}, Locale: "de", Currency: "CHF", CreatedAt: testkit.Noon}, made)
		clock.Advance(time.Hour)
		changed, err := s.Catalogs.Update(t.Context(), storetest.Actor, made.ID, catalog.Change{Name: new("Newer"), Pricebooks: []catalog.PricebookRank{}, Locale: new("")})
		require.NoError(t, err)
		require.Equal(t, &catalog.Catalog{ID: made.ID, Name: "Newer", HierarchyIDs: []string{"attic", "seasons"}, Currency: "CHF", CreatedAt: testkit.Noon}, changed, "other members and the creation time do not change")
		storetest.Publish(t, s, made.ID)
		changed, err = s.Catalogs.Get(t.Context(), made.ID)
		require.NoError(t, err)
		require.True(t, changed.Published)
		require.NoError(t, s.Catalogs.Delete(t.Context(), storetest.Actor, made.ID))
		_, err = s.Catalogs.Get(t.Context(), made.ID)
		storetest.RequireError(t, err, store.NotFound, "id", "not the id of a catalog")
		storetest.RequireError(t, s.Catalogs.Delete(t.Context(), storetest.Actor, made.ID), store.NotFound, "id", "not the id of a catalog")
		storetest.RequireError(t, s.Catalogs.Delete(t.Context(), storetest.Actor, "main"), store.Unprocessable, "id", `used by the catalog rule "everyone"`, "first")
		_, err = s.Catalogs.Update(t.Context(), storetest.Actor, "nowhere", catalog.Change{})
		storetest.RequireError(t, err, store.NotFound, "id", `"nowhere"`)
	}
}

func authorRule(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		s := backend.Open(t, storetest.WithClock(clock))
		storetest.Import(t, s, storetest.ShopFile)
		hour := catalog.Schedule{From: testkit.Noon, To: testkit.Noon.Add(time.Hour)}
		made, err := s.Catalogs.CreateRule(t.Context(), storetest.Actor, "C0FFEE00-0000-4000-8000-000000000001", catalog.RuleChange{Name: new("New"), CatalogID: new("outlet"),
			AccountIDs: []string{"C0FFEE00-0000-4000-8000-00000000000A"}, Channels: []string{"web"}, Tags: []string{"a b"}, Schedules: []catalog.Schedule{hour, {}}})
		require.NoError(t, err)
		require.Equal(t, "c0ffee00-0000-4000-8000-000000000001", made.ID)
		require.Equal(t, []string{"c0ffee00-0000-4000-8000-00000000000a"}, made.AccountIDs, "canonical ID")
		require.Equal(t, []catalog.Schedule{hour, {}}, made.Schedules)
		require.Equal(t, testkit.Noon, made.CreatedAt)
		clock.Advance(time.Hour)
		changed, err := s.Catalogs.UpdateRule(t.Context(), storetest.Actor, made.ID, catalog.RuleChange{Name: new("Newer"), Channels: []string{}, Schedules: []catalog.Schedule{}})
		require.NoError(t, err)
		require.Equal(t, []any{"Newer", "outlet", made.AccountIDs, []string(nil), []string{"a b"}, []catalog.Schedule(nil), testkit.Noon},
			[]any{changed.Name, changed.CatalogID, changed.AccountIDs, changed.Channels, changed.Tags, changed.Schedules, changed.CreatedAt})
		require.NoError(t, s.Catalogs.DeleteRule(t.Context(), storetest.Actor, made.ID))
		_, err = s.Catalogs.Rule(t.Context(), made.ID)
		storetest.RequireError(t, err, store.NotFound, "id", "not the id of a rule")
		storetest.RequireError(t, s.Catalogs.DeleteRule(t.Context(), storetest.Actor, "\x00"), store.NotFound, "id", "not the id of a rule")
	}
}

// putNode creates a node named as its id, or moves and renames one.
func putNode(ctx context.Context, s *shop.Store, id, parent string) error {
	_, err := s.Exchange.UpsertNodes(ctx, storetest.Actor, []*exchange.CatalogNodeItemInput{{ID: &id, ParentID: &parent, Name: &id}}, nil, false)
	return err
}

// attachedTo returns all products of a node, newest first.
func attachedTo(t require.TestingT, s *shop.Store, node string) []string {
	byNode, err := s.Catalogs.AttachedProducts(context.Background(), []string{node}, 1000, 0)
	require.NoError(t, err)
	counts, err := s.Catalogs.AttachedCounts(context.Background(), []string{node})
	require.NoError(t, err)
	require.Len(t, byNode[node], counts[node])
	return byNode[node]
}

func authorProducts(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.ShopFile)
		require.NoError(t, putNode(t.Context(), s, "shelf", "attic"))
		require.Empty(t, attachedTo(t, s, "shelf"))
		attach := func(ids ...string) {
			_, err := s.Catalogs.AttachProducts(t.Context(), storetest.Actor, "shelf", ids)
			require.NoError(t, err)
		}
		attach("anvil", "brush", "anvil")
		attach("chalk", "anvil", "drill-draft")
		require.Equal(t, []string{"drill-draft", "chalk", "brush", "anvil"}, attachedTo(t, s, "shelf"), "attached products keep their order, and drafts are allowed")
		page, err := s.Catalogs.AttachedProducts(t.Context(), []string{"shelf", "empty"}, 2, 1)
		require.NoError(t, err)
		require.Equal(t, map[string][]string{"shelf": {"chalk", "brush"}}, page)

		node, err := s.Catalogs.CurateProducts(t.Context(), storetest.Actor, "shelf", []string{"brush", "anvil"}, nil)
		require.NoError(t, err)
		require.Equal(t, []string{"brush", "anvil"}, node.CuratedProductIDs)
		_, err = s.Catalogs.CurateProducts(t.Context(), storetest.Actor, "shelf", []string{"brush", "glue"}, nil)
		storetest.RequireError(t, err, store.Unprocessable, "product_ids.1", `not attached to the node: "glue"`)
		_, err = s.Catalogs.CurateProducts(t.Context(), storetest.Actor, "shelf", []string{"brush", "brush"}, nil)
		storetest.RequireError(t, err, store.Unprocessable, "product_ids.1", "repeated")
		_, err = s.Catalogs.CurateProducts(t.Context(), storetest.Actor, "shelf", slices.Repeat([]string{"brush"}, 21), nil)
		storetest.RequireError(t, err, store.Unprocessable, "product_ids", "at most 20 products, got 21")
		node, err = s.Catalogs.DetachProducts(t.Context(), storetest.Actor, "shelf", []string{"brush", "glue", "\x00"})
		require.NoError(t, err)
		require.Equal(t, []string{"anvil"}, node.CuratedProductIDs, "a detached product is no longer curated")
		require.Equal(t, []string{"drill-draft", "chalk", "anvil"}, attachedTo(t, s, "shelf"))
		attach("brush")
		require.Equal(t, []string{"brush", "drill-draft", "chalk", "anvil"}, attachedTo(t, s, "shelf"), "attached again, it is the newest")

		_, err = s.Catalogs.AttachProducts(t.Context(), storetest.Actor, "shelf", []string{"glue", "nothing", "\x00"})
		storetest.RequireError(t, err, store.Unprocessable, "product_ids.1", `not a product: "nothing"`)
		require.NotContains(t, attachedTo(t, s, "shelf"), "glue", "nothing is attached")
		for _, n := range []int{0, 1001} {
			_, err = s.Catalogs.AttachProducts(t.Context(), storetest.Actor, "shelf", slices.Repeat([]string{"anvil"}, n))
			storetest.RequireError(t, err, store.Unprocessable, "product_ids", fmt.Sprintf("between 1 and 1000 products, got %d", n))
			_, err = s.Catalogs.DetachProducts(t.Context(), storetest.Actor, "shelf", slices.Repeat([]string{"anvil"}, n))
			storetest.RequireError(t, err, store.Unprocessable, "product_ids", "between 1 and 1000")
		}
		_, err = s.Catalogs.AttachProducts(t.Context(), storetest.Actor, "nowhere", []string{"anvil"})
		storetest.RequireError(t, err, store.NotFound, "id", "not the id of a node")
		_, err = s.Exchange.DeleteNodes(t.Context(), storetest.Actor, []string{"shelf"}, false)
		require.NoError(t, err)
		require.Equal(t, 0, storetest.CountRows(t, backend.SQL(t), `node_product WHERE node_id = 'shelf'`))
	}
}

func authorErrors(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.ShopFile)
		before := storetest.Export(t, s)
		long, ctx := strings.Repeat("x", 1025), t.Context()
		newCatalog := func(change catalog.Change) func() error {
			return func() error {
				if change.Name == nil {
					change.Name = new("New")
				}
				_, err := s.Catalogs.Create(ctx, storetest.Actor, "", change)
				return err
			}
		}
		rule := func(change catalog.RuleChange) func() error {
			return func() error { _, err := s.Catalogs.UpdateRule(ctx, storetest.Actor, "club", change); return err }
		}
		for _, c := range []struct {
			name   string
			write  func() error
			code   store.Code
			member string
			words  []string
		}{
			{"no name", newCatalog(catalog.Change{Name: new("")}), store.Unprocessable, "name", []string{"required"}},
			{"a long name", newCatalog(catalog.Change{Name: &long}), store.Unprocessable, "name", []string{"at most 1024 bytes, got 1025"}},
			{"a name with NUL", newCatalog(catalog.Change{Name: new("a\x00")}), store.Invalid, "name", []string{"without NUL"}},
			{"an unknown hierarchy", newCatalog(catalog.Change{HierarchyIDs: []string{"attic", "tools"}}), store.Unprocessable, "hierarchy_ids.1", []string{`hierarchy: "tools"`}},
			{"no id of a hierarchy", newCatalog(catalog.Change{HierarchyIDs: []string{"a b"}}), store.Invalid, "hierarchy_ids.0", []string{`"a b"`}},
			{"an unknown price book", newCatalog(catalog.Change{Pricebooks: []catalog.PricebookRank{{ID: "nothing"}}}), store.Unprocessable, "pricebooks.0.id", []string{`pricebook: "nothing"`}},
			{"a bad locale", newCatalog(catalog.Change{Locale: new("!")}), store.Invalid, "locale", []string{"BCP 47"}},
			{"a bad currency", newCatalog(catalog.Change{Currency: new("euro")}), store.Invalid, "currency", []string{"three-letter"}},
			{"an id that is taken", func() error {
				_, err := s.Catalogs.Create(ctx, storetest.Actor, "main", catalog.Change{Name: new("New")})
				return err
			}, store.Unprocessable, "id", []string{`already used: "main"`}},
			{"no id", func() error {
				_, err := s.Catalogs.Create(ctx, storetest.Actor, "a b", catalog.Change{Name: new("New")})
				return err
			}, store.Invalid, "id", []string{"1 to 64"}},
			{"an unknown catalog", rule(catalog.RuleChange{CatalogID: new("nowhere")}), store.Unprocessable, "catalog_id", []string{`catalog: "nowhere"`}},
			{"no id of an account", rule(catalog.RuleChange{AccountIDs: []string{"acme", ""}}), store.Unprocessable, "account_ids.1", []string{"required"}},
			{"no id of an account tag", rule(catalog.RuleChange{AccountTagIDs: []string{"!"}}), store.Invalid, "account_tag_ids.0", nil},
			{"an empty channel", rule(catalog.RuleChange{Channels: []string{""}}), store.Unprocessable, "channels.0", []string{"1 to 255 bytes"}},
			{"a channel no header can hold", rule(catalog.RuleChange{Channels: []string{"a\nb"}}), store.Invalid, "channels.0", []string{"control"}},
			{"a tag with a comma", rule(catalog.RuleChange{Tags: []string{"a", "b,c"}}), store.Invalid, "tags.1", []string{"commas"}},
			{"a schedule that ends before it begins", rule(catalog.RuleChange{Schedules: []catalog.Schedule{{From: testkit.Noon, To: testkit.Noon}}}), store.Invalid, "schedules.0.valid_to", []string{"after the schedule's start"}},
		} {
			t.Run(c.name, func(t *testing.T) { storetest.RequireError(t, c.write(), c.code, c.member, c.words...) })
		}
		require.Equal(t, before, storetest.Export(t, s))
	}
}

func authorPublished(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenPublished(t, backend)
		ctx := t.Context()
		must := func(err error) { require.NoError(t, err) }
		must(putNode(ctx, s, "corner", "paints"))
		_, err := s.Catalogs.AttachProducts(ctx, storetest.Actor, "corner", []string{"anvil", "brush", "glue", "drill-draft"})
		must(err)
		_, err = s.Catalogs.CurateProducts(ctx, storetest.Actor, "corner", []string{"glue", "drill-draft"}, nil)
		must(err)
		must(putNode(ctx, s, "tools", "paints"))
		_, err = storetest.View(t, s, release.ShopperContext{}).Node(ctx, "corner")
		storetest.RequireError(t, err, store.NotFound, "", "corner")
		storetest.Publish(t, s, "main")
		v := storetest.View(t, s, release.ShopperContext{})
		require.Equal(t, []string{"glue", "anvil", "brush"}, storetest.ProductIDs(t, v, release.ProductQuery{NodeID: "corner"}), "curated first, without the draft")
		hand, err := v.Node(ctx, "hand-tools")
		must(err)
		require.Equal(t, []string{"workshop", "paints", "tools"}, hand.Ancestors)
		require.Contains(t, storetest.ProductIDs(t, v, release.ProductQuery{NodeID: "workshop"}), "glue", "a hierarchy lists the products of all its nodes")

		other := backend.Open(t)
		text := storetest.Export(t, s)
		storetest.DeleteAllRows(t, backend.SQL(t))
		storetest.Import(t, other, text)
		require.Equal(t, text, storetest.Export(t, other), "an import of the export makes the same store")
	}
}

func authorSwept(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, db := storetest.OpenPublished(t, backend), backend.SQL(t)
		outlet := storetest.OutletView(t, s, release.ShopperContext{})
		storetest.RequireError(t, s.Catalogs.Delete(t.Context(), storetest.Actor, "outlet"), store.Unprocessable, "id", `used by the catalog rule "everyone" and 1 more`)
		for _, id := range []string{"everyone", "club"} {
			require.NoError(t, s.Catalogs.DeleteRule(t.Context(), storetest.Actor, id))
		}
		require.NoError(t, s.Catalogs.Delete(t.Context(), storetest.Actor, "outlet"))
		require.Equal(t, "main", storetest.ShopperCatalog(t, s, release.ShopperContext{}))
		require.Equal(t, []string{"glue", "anvil", "brush"}, storetest.ProductIDs(t, outlet, release.ProductQuery{NodeID: "sale"}), "readable until the next sweep")
		require.NoError(t, s.Sweep(t.Context()))
		require.Equal(t, 1, storetest.CountRows(t, db, "release"))
		storetest.RequireNoOrphans(t, db)

		_, err := s.Catalogs.Create(t.Context(), storetest.Actor, "brief", catalog.Change{Name: new("Brief"), HierarchyIDs: []string{"attic"}})
		require.NoError(t, err)
		_, err = s.Publisher.Publish(t.Context(), storetest.Actor, "brief", func(int, int) { _ = s.Catalogs.Delete(t.Context(), storetest.Actor, "brief") })
		require.NoError(t, err)
		require.Equal(t, "main", storetest.ShopperCatalog(t, s, release.ShopperContext{}))
		require.NoError(t, s.Sweep(t.Context()))
		require.Equal(t, 1, storetest.CountRows(t, db, "release"), "the release that was finished after its catalog was deleted")
		storetest.RequireNoOrphans(t, db)
	}
}

func authorOrders(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		lines := `{"type":"hierarchy","id":"h","attributes":{"name":"H"}}` + "\n"
		for i, attributes := range []string{`"name":"Éclair","position":2`, `"name":"apple"`, `"name":"zebra","position":2`, `"name":"Banana"`, `"name":"Öl","position":0`, `"name":"` + strings.Repeat("ﷺ", 300) + `"`} {
			lines += fmt.Sprintf(`{"type":"node","id":"%c","attributes":{%s,"created_at":"2020-01-0%dT00:00:00Z"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}}}}`+"\n", 'a'+i, attributes, 9-i)
		}
		storetest.Import(t, s, lines)
		for by, want := range map[store.SortBy]string{store.SortPosition: "eacbdf", store.SortName: "bdaecf", store.SortCreatedAt: "fedcba", store.SortID: "abcdef", store.SortDefault: "abcdef"} {
			for _, descending := range []bool{false, true} {
				sort, got := store.Sort{By: by, Descending: descending}, []string{}
				for page := (store.Page{First: new(2)}); ; {
					slice, err := s.Catalogs.AuthoredNodes(t.Context(), catalog.NodeFilter{ParentID: new("h")}, sort, page)
					require.NoError(t, err)
					for _, node := range slice.Items {
						got = append(got, node.ID)
					}
					if page.After = &slice.Cursors()[1]; !slice.HasNext {
						break
					}
					_, err = s.Catalogs.AuthoredNodes(t.Context(), catalog.NodeFilter{ParentID: new("h")}, store.Sort{By: by, Descending: !descending}, page)
					storetest.RequireError(t, err, store.CursorMismatch, "after")
				}
				if descending {
					slices.Reverse(got)
				}
				require.Equal(t, want, strings.Join(got, ""), "%v", sort)
			}
		}
	}
}

func authorLists(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.ShopFile)
		var want []string
		for i := range 30 {
			want = append(want, fmt.Sprintf("n%02d", i))
			require.NoError(t, putNode(t.Context(), s, want[i], "attic"))
		}
		var got []string
		for page := (store.Page{First: new(7)}); ; {
			slice, err := s.Catalogs.AuthoredNodes(t.Context(), catalog.NodeFilter{HierarchyID: new("attic")}, store.Sort{}, page)
			require.NoError(t, err)
			total, err := slice.Total(t.Context())
			require.NoError(t, err)
			require.Equal(t, 31, total)
			for _, node := range slice.Items {
				got = append(got, node.ID)
			}
			if !slice.HasNext {
				_, err := s.Catalogs.AuthoredNodes(t.Context(), catalog.NodeFilter{HierarchyID: new("workshop")}, store.Sort{}, page)
				storetest.RequireError(t, err, store.CursorMismatch, "after")
				break
			}
			page.After = &slice.Cursors()[len(slice.Cursors())-1]
		}
		require.Equal(t, append([]string{"box"}, want...), got, "by ID")
		catalogs, err := s.Catalogs.List(t.Context(), store.Page{Last: new(1)})
		require.NoError(t, err)
		require.Equal(t, "outlet", catalogs.Items[0].ID)
		rules, err := s.Catalogs.Rules(t.Context(), store.Page{Offset: new(1)})
		require.NoError(t, err)
		require.Equal(t, "everyone", rules.Items[0].ID)
		hierarchies, err := s.Catalogs.AuthoredHierarchies(t.Context(), store.Page{})
		require.NoError(t, err)
		require.Len(t, hierarchies.Items, 3)
	}
}

func authorMoves(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.ShopFile)
		ids := []string{"attic", "box"}
		for i := range 5 {
			ids = append(ids, fmt.Sprintf("n%d", i))
			require.NoError(t, putNode(t.Context(), s, ids[i+2], ids[i]))
		}
		rapid.Check(t, func(t *rapid.T) {
			id, parent := rapid.SampledFrom(ids[1:]).Draw(t, "node"), rapid.SampledFrom(ids).Draw(t, "parent")
			if err := putNode(context.Background(), s, id, parent); err == nil {
				moved, err := s.Catalogs.AuthoredNode(context.Background(), id)
				require.NoError(t, err)
				require.Equal(t, parent, moved.ParentID)
			} else {
				storetest.RequireError(t, err, store.Invalid, "items.0.parent_id", "descendants")
			}
			requireTree(t, s, "attic")
		})
	}
}
