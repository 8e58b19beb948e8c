package publish_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/catalog"
	"portico/store/release"
	"portico/store/release/segment"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestPublish checks what a shopper sees after Service.Publish: products, lists, their order and
// relationships.
func TestPublish(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("an unknown catalog is NOT_FOUND", publishUnknown(backend))
		t.Run("without a published catalog there is no view", publishNothing(backend))

		s := storetest.OpenPublished(t, backend)
		v := storetest.View(t, s, release.ShopperContext{})
		t.Run("lists: live products, curated first, then by update time and ID", publishLists(v))
		t.Run("curated_product", publishCurated(v))
		t.Run("drafts are not published", publishDrafts(s))
		t.Run("unlisted relatives can be read", publishUnlisted(v))
		t.Run("a product without a node of the catalog is not in the catalog", publishUnattached(v))
		t.Run("breadcrumbs, newest attachment first", publishCrumbs(v))
		t.Run("nodes by name", publishNodes(v))
		t.Run("typed members equal the JSON", publishTyped(v))

		d := &storetest.SharedStore{Store: s, Backend: backend, DB: backend.SQL(t)}
		d.Run(t, "files", publishFiles)
		d.Run(t, "live components are published", publishComponents)
		d.Run(t, "attachments keep their order", publishAttachments)
		d.Run(t, "progress", publishProgress)
	})
}

func publishUnknown(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		_, err := backend.Open(t).Publisher.Publish(t.Context(), storetest.Actor, "nowhere", nil)
		storetest.RequireError(t, err, store.NotFound, "", `"nowhere"`)
		require.Equal(t, "0", storetest.QueryText(t, backend.SQL(t), `SELECT COUNT(*) FROM release`))
	}
}

func publishNothing(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		_, err := s.Releases.View(t.Context(), release.ShopperContext{})
		storetest.RequireError(t, err, store.NotFound, "", "published")
		storetest.Import(t, s, storetest.ShopFile)
		_, err = s.Releases.View(t.Context(), release.ShopperContext{})
		storetest.RequireError(t, err, store.NotFound, "", "published")
		ids, err := s.Releases.CatalogIDs(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"main", "outlet"}, ids)
		storetest.Publish(t, s, "outlet")
		require.Equal(t, "outlet", storetest.View(t, s, release.ShopperContext{}).Release.CatalogID, "the rule's catalog is not published")
		storetest.Publish(t, s, "main")
		require.Equal(t, "main", storetest.View(t, s, release.ShopperContext{}).Release.CatalogID)
	}
}

func publishLists(v *release.View) func(*testing.T) {
	return func(t *testing.T) {
		for node, want := range map[string]string{
			"":           "glue kit anvil brush chalk " + storetest.LampID + " easel jar",
			"workshop":   "kit anvil brush chalk " + storetest.LampID + " easel jar",
			"tools":      "chalk anvil kit brush jar",
			"hand-tools": "brush " + storetest.LampID,
			"paints":     "chalk easel",
			"seasons":    "glue anvil brush",
			"sale":       "glue anvil brush",
			"empty":      "",
		} {
			t.Run(node, func(t *testing.T) {
				require.Equal(t, strings.Fields(want), storetest.ProductIDs(t, v, release.ProductQuery{NodeID: node}))
			})
		}
		for _, node := range []string{"attic", "box", "nowhere", "TOOLS"} {
			_, err := v.Products(t.Context(), release.ProductQuery{NodeID: node})
			storetest.RequireError(t, err, store.NotFound, "", node)
		}
	}
}

func publishCurated(v *release.View) func(*testing.T) {
	return func(t *testing.T) {
		for node, want := range map[string][]string{"tools": {"chalk", "anvil"}, "sale": nil, "workshop": nil, "": nil} {
			slice, err := v.Products(t.Context(), release.ProductQuery{NodeID: node})
			require.NoError(t, err)
			var curated []string
			for _, product := range slice.Items {
				attributes := testkit.JSONAt(t, storetest.ProductJSON(t, product), "attributes").(map[string]any)
				if product.Curated {
					curated = append(curated, product.ID())
					require.Equal(t, true, attributes["curated_product"])
				} else {
					require.NotContains(t, attributes, "curated_product")
				}
			}
			require.Equal(t, want, curated, node)
		}
		require.False(t, storetest.FindProduct(t, v, "anvil").Curated, "a single product has no node")
	}
}

// publishDrafts looks for texts of drafts in all that can be read.
func publishDrafts(s *shop.Store) func(*testing.T) {
	return func(t *testing.T) {
		ids, skus := storetest.ShopDrafts()
		words := append(append(ids, skus...), "Unannounced", "secret-")
		for _, locale := range []string{"", "fr", "zh-Hant"} {
			v := storetest.View(t, s, release.ShopperContext{Languages: testkit.Languages(locale)})
			for _, id := range append(storetest.ProductIDs(t, v, release.ProductQuery{}), "easel-oak", "frame") {
				text := string(storetest.FindProduct(t, v, id).AppendJSON(nil))
				for _, word := range words {
					require.NotContains(t, text, word)
				}
			}
			for i, id := range ids {
				for _, key := range []release.ProductKey{{ID: id}, {SKU: skus[i]}, {Slug: strings.ToLower(skus[i])}} {
					_, err := v.Product(t.Context(), key)
					storetest.RequireError(t, err, store.NotFound, "")
				}
			}
			found, err := v.ProductsByID(t.Context(), ids)
			require.NoError(t, err)
			require.Empty(t, found)
		}
		v := storetest.View(t, s, release.ShopperContext{})
		require.Empty(t, storetest.FindProduct(t, v, "jar").ParentID())
		require.Equal(t, []string{"easel-oak"}, storetest.FindProduct(t, v, "easel").ChildIDs())
		kit := storetest.FindProduct(t, v, "kit")
		require.Equal(t, []string{"frame"}, kit.ComponentProductIDs())
		require.Len(t, kit.Components(), 1, "a component with only draft options is omitted")
		require.Equal(t, "wood", kit.Components()[0].Key)
		require.Equal(t, []catalog.ComponentOption{{ID: "frame", Type: "product", Quantity: 2}}, kit.Components()[0].Options)
	}
}

func publishUnlisted(v *release.View) func(*testing.T) {
	return func(t *testing.T) {
		found, err := v.ProductsByID(t.Context(), []string{"frame", "easel-oak", "kit", "nothing", "frame"})
		require.NoError(t, err)
		require.Len(t, found, 3)
		require.Equal(t, "easel", found["easel-oak"].ParentID())
		require.Equal(t, "FRAME", found["frame"].SKU())
		for _, key := range []release.ProductKey{{ID: "easel-oak"}, {SKU: "EASEL-OAK"}, {Slug: "easel-oak"}} {
			oak, err := v.Product(t.Context(), key)
			require.NoError(t, err)
			require.Equal(t, "easel-oak", oak.ID())
		}
		require.Equal(t, 10, v.Release.Products)
	}
}

func publishUnattached(v *release.View) func(*testing.T) {
	return func(t *testing.T) {
		for _, key := range []release.ProductKey{{ID: "ink-unlisted"}, {SKU: "INK"}, {Slug: "ink"}, {ID: "nothing"}, {SKU: "ink"}, {}, {ID: "\x00"}, {ID: "a\xff"}, {SKU: "\x00"}} {
			_, err := v.Product(t.Context(), key)
			storetest.RequireError(t, err, store.NotFound, "")
		}
		for name, read := range map[string]func([]string) (int, error){
			"products": func(ids []string) (int, error) {
				found, err := v.ProductsByID(t.Context(), ids)
				return len(found), err
			},
			"files": func(ids []string) (int, error) { found, err := v.FilesByID(t.Context(), ids); return len(found), err },
			"nodes": func(ids []string) (int, error) { found, err := v.NodesByID(t.Context(), ids); return len(found), err },
		} {
			for _, ids := range [][]string{nil, {""}, {"nothing", "\x00"}, {"a\xff", strings.Repeat("a", 100_000)}} {
				found, err := read(ids)
				require.NoError(t, err, "%s by %.40q", name, ids)
				require.Zero(t, found)
			}
		}
	}
}

func publishCrumbs(v *release.View) func(*testing.T) {
	return func(t *testing.T) {
		for id, c := range map[string]struct {
			nodes  []string
			crumbs map[string]any
		}{
			"brush": {[]string{"sale", "hand-tools", "tools"}, map[string]any{
				"sale": []any{"seasons"}, "hand-tools": []any{"workshop", "tools"}, "tools": []any{"workshop"}}},
			"glue":      {[]string{"sale"}, map[string]any{"sale": []any{"seasons"}}},
			"easel-oak": {[]string{"paints"}, map[string]any{"paints": []any{"workshop"}}}, // the parent's
			"frame":     {[]string{}, map[string]any{}},
		} {
			t.Run(id, func(t *testing.T) {
				found := storetest.FindProduct(t, v, id)
				require.Equal(t, c.nodes, found.NodeIDs())
				require.Equal(t, c.crumbs, testkit.JSONAt(t, storetest.ProductJSON(t, found), "meta", "bread_crumbs"))
			})
		}
	}
}

func publishFiles(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		missing := strings.Replace(storetest.ShopLine("product", "frame"), `"relationships":{}`,
			`"relationships":{"main_image":{"data":{"type":"main_image","id":"lost"}},"files":{"data":[{"type":"file","id":"lost"},{"type":"file","id":"photo-1"}]}}`, 1)
		storetest.Import(t, s, strings.Replace(storetest.ShopFile, storetest.ShopLine("product", "frame"), missing, 1))
		storetest.Publish(t, s, "main")
		v := storetest.View(t, s, release.ShopperContext{})
		files, err := v.FilesByID(t.Context(), []string{"photo-2", "lost", "photo-1"})
		require.NoError(t, err)
		require.Len(t, files, 2)
		for id, file := range files {
			require.Equal(t, storetest.ShopLine("file", id), string(file.AppendJSON(nil)))
			require.Equal(t, id, file.ID)
		}
		anvil := storetest.FindProduct(t, v, "anvil")
		require.Equal(t, "photo-1", anvil.MainImageID())
		require.Equal(t, []any{
			map[string]any{"type": "file", "id": "photo-1", "created_at": "2023-01-05T00:00:00.000"},
			map[string]any{"type": "file", "id": "photo-2", "created_at": nil},
		}, testkit.JSONAt(t, storetest.ProductJSON(t, anvil), "relationships", "files", "data"))
		storetest.Import(t, s, storetest.JoinLines(storetest.ChangedShopLine("file", "photo-1", "anvil.jpg", "other.jpg")))
		frozen, err := v.FilesByID(t.Context(), []string{"photo-1"})
		require.NoError(t, err)
		require.Equal(t, "anvil.jpg", frozen["photo-1"].FileName, "a release does not change")

		frame := storetest.FindProduct(t, v, "frame")
		require.Empty(t, frame.MainImageID(), "references to missing files are omitted")
		require.Len(t, frame.FileLinks(), 1)
	}
}

func publishNodes(v *release.View) func(*testing.T) {
	return func(t *testing.T) {
		for _, c := range []struct {
			name   string
			filter release.NodeFilter
			want   string
		}{
			{"all", release.NodeFilter{}, "empty hand-tools paints sale tools"},
			{"hierarchies", release.NodeFilter{Kind: segment.KindHierarchy}, "seasons workshop"},
			{"below a hierarchy", release.NodeFilter{ParentID: "workshop"}, "paints tools"},
			{"below a node", release.NodeFilter{ParentID: "tools"}, "hand-tools"},
			{"below a leaf", release.NodeFilter{ParentID: "sale"}, ""},
			{"below a node of another catalog", release.NodeFilter{ParentID: "box"}, ""},
			{"by id, below a node of another catalog", release.NodeFilter{ParentID: "box", IDs: []string{"tools"}}, ""},
			{"all of a node that is no hierarchy", release.NodeFilter{HierarchyID: "tools"}, ""},
			{"all of a hierarchy", release.NodeFilter{HierarchyID: "workshop"}, "hand-tools paints tools"},
			{"by name", release.NodeFilter{Terms: []store.Term{{Attribute: "name", Operator: "in", Values: []string{"Tools", "Paints", "tools"}}}}, "paints tools"},
			{"by slug", release.NodeFilter{Kind: segment.KindHierarchy, Terms: []store.Term{{Attribute: "slug", Operator: "eq", Values: []string{"workshop"}}}}, "workshop"},
			{"within bounds", release.NodeFilter{Ranges: []store.Range{{Attribute: store.SortID, Operator: "gt", ID: "hand-tools"}, {Attribute: store.SortID, Operator: "le", ID: "sale"}}}, "paints sale"},
			{"by id, below a node", release.NodeFilter{IDs: []string{"tools", "empty", "hand-tools"}, ParentID: "tools"}, "hand-tools"},
			{"by id, of one kind", release.NodeFilter{IDs: []string{"tools", "seasons"}, Kind: segment.KindHierarchy}, "seasons"},
			{"by id, last updated first, whatever the order asked", release.NodeFilter{IDs: []string{"tools", "box", "empty", "tools"}}, "empty tools"},
		} {
			t.Run(c.name, func(t *testing.T) {
				slice, err := v.Nodes(t.Context(), release.NodeQuery{Filter: c.filter, Page: store.Page{First: new(1)}})
				require.NoError(t, err)
				total, err := slice.Total(t.Context())
				require.NoError(t, err)
				ids := []string{}
				for {
					for _, node := range slice.Items {
						ids = append(ids, node.ID)
					}
					if !slice.HasNext {
						break
					}
					slice, err = v.Nodes(t.Context(), release.NodeQuery{Filter: c.filter, Page: store.Page{First: new(1), After: &slice.Cursors()[0]}})
					require.NoError(t, err)
				}
				require.Equal(t, strings.Fields(c.want), ids)
				require.Len(t, ids, total)
			})
		}
		named, err := v.Nodes(t.Context(), release.NodeQuery{Sort: store.Sort{By: store.SortName}, Filter: release.NodeFilter{IDs: []string{"tools", "sale", "empty"}}})
		require.NoError(t, err)
		require.Equal(t, []string{"Empty", "Sale", "Tools"}, []string{named.Items[0].Name, named.Items[1].Name, named.Items[2].Name})
		for sort, want := range map[store.Sort]string{
			{By: store.SortID}:                          "empty hand-tools paints sale tools",
			{By: store.SortID, Descending: true}:        "tools sale paints hand-tools empty",
			{By: store.SortName, Descending: true}:      "tools sale paints hand-tools empty",
			{By: store.SortUpdatedAt, Descending: true}: "tools sale paints hand-tools empty",
		} {
			slice, err := v.Nodes(t.Context(), release.NodeQuery{Sort: sort})
			require.NoError(t, err)
			ids := []string{}
			for _, node := range slice.Items {
				ids = append(ids, node.ID)
			}
			require.Equal(t, strings.Fields(want), ids, "%v", sort)
		}
		curated, err := v.CuratedByNode(t.Context(), []string{"sale", "tools", "nowhere"})
		require.NoError(t, err)
		require.Empty(t, curated["sale"])
		require.Equal(t, []string{"chalk", "anvil"}, []string{curated["tools"][0].ID(), curated["tools"][1].ID()})
		_, err = v.Hierarchy(t.Context(), "tools")
		storetest.RequireError(t, err, store.NotFound, "", "tools")
		idsOf := func(nodes []*segment.CatalogNode) (ids []string) {
			for _, n := range nodes {
				ids = append(ids, n.ID)
			}
			return ids
		}
		_, err = v.Nodes(t.Context(), release.NodeQuery{Sort: store.Sort{By: store.SortPrice}})
		storetest.RequireError(t, err, store.Invalid, "sort", "id, name, created_at or updated_at")
		oldest, err := v.Nodes(t.Context(), release.NodeQuery{Sort: store.Sort{By: store.SortCreatedAt}})
		require.NoError(t, err)
		byID, err := v.Nodes(t.Context(), release.NodeQuery{Sort: store.Sort{By: store.SortID}})
		require.NoError(t, err)
		require.Equal(t, idsOf(byID.Items), idsOf(oldest.Items), "all were created at once")
		later, err := v.Nodes(t.Context(), release.NodeQuery{Filter: release.NodeFilter{Ranges: []store.Range{{Attribute: store.SortCreatedAt, Operator: "gt", Time: testkit.Noon}}}})
		require.NoError(t, err)
		require.Empty(t, later.Items)
		_, err = v.Products(t.Context(), release.ProductQuery{Edge: release.EdgeChildren, Of: "nobody"})
		storetest.RequireError(t, err, store.NotFound, "")
		tools, err := v.Node(t.Context(), "hand-tools")
		require.NoError(t, err)
		require.Equal(t, []string{"workshop", "tools"}, tools.Ancestors)
		require.Equal(t, "tools", tools.ParentID)
		require.False(t, tools.HasChildren())
		found, err := v.NodesByID(t.Context(), []string{"workshop", "attic", "tools"})
		require.NoError(t, err)
		require.Len(t, found, 2)
		require.Equal(t, segment.KindHierarchy, found["workshop"].Kind)
		require.True(t, found["tools"].HasChildren())
	}
}

func publishTyped(v *release.View) func(*testing.T) {
	return func(t *testing.T) {
		anvil := storetest.FindProduct(t, v, "anvil")
		members := storetest.ProductJSON(t, anvil)
		attribute := func(name string) any { return testkit.JSONAt(t, members, "attributes", name) }
		require.Equal(t, "Heavy & \"loud\".\nÉtats-Unis 🔨 <b>bold</b>", anvil.Description())
		for name, text := range map[string]string{
			"name": anvil.Name(), "description": anvil.Description(), "sku": anvil.SKU(), "slug": anvil.Slug(),
		} {
			require.NotEmpty(t, text, name)
			require.Equal(t, attribute(name), text, name)
		}
		require.Equal(t, attribute("created_at"), anvil.CreatedAt().Format("2006-01-02T15:04:05.000"))
		require.Equal(t, "2023-01-05T00:00:00.000", attribute("created_at"))
		require.Equal(t, attribute("updated_at"), anvil.UpdatedAt().Format("2006-01-02T15:04:05.000"))
		require.Equal(t, attribute("published_at"), v.Release.PublishedAt.Format("2006-01-02T15:04:05.000"))
		require.True(t, anvil.PublishedAt().Equal(v.Release.PublishedAt))
		require.Equal(t, []string{"heavy", "iron"}, anvil.Tags())
		require.Equal(t, []string{"standard"}, anvil.ProductTypes())
		require.Equal(t, "main", anvil.CatalogID())
		require.True(t, storetest.FindProduct(t, v, "easel").BaseProduct())
		glue := storetest.FindProduct(t, v, "glue")
		require.JSONEq(t, `{"engraving":{"name":"Engraving","max":10}}`, string(glue.CustomInputs()))
		require.JSONEq(t, `{"products(glue)":{"toxic":false,"pots":[1,2.50,null]}}`, string(glue.Extensions()))
		require.JSONEq(t, `{"hint":"<i>dry</i> & warm"}`, string(glue.ShopperAttributes()))
		require.Equal(t, []string{"bulk"}, glue.PriceModifiers())
		require.Equal(t, "LAMP", storetest.FindProduct(t, v, storetest.LampID).SKU())
	}
}

func publishComponents(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		for _, related := range []string{`{"data":[]}`, `{"data":[{"type":"product","id":"anvil"}]}`, `null`} {
			kit := storetest.ChangedShopLine("product", "kit", `{"data":[{"type":"product","id":"drill-draft"},{"type":"product","id":"frame"}]}`, related)
			storetest.Import(t, s, strings.Replace(storetest.ShopFile, storetest.ShopLine("product", "kit"), kit, 1))
			storetest.Publish(t, s, "main")
			kitted := storetest.FindProduct(t, storetest.View(t, s, release.ShopperContext{}), "kit")
			require.Len(t, kitted.Components(), 1, "with %s", related)
			require.Len(t, kitted.Components()[0].Options, 1)
		}
	}
}

func publishAttachments(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		storetest.Import(t, s, storetest.ShopFile)
		attach := func(node string, ids ...string) {
			var refs []string
			for _, id := range ids {
				refs = append(refs, fmt.Sprintf(`{"type":"product","id":%q}`, id))
			}
			before, _, found := strings.Cut(storetest.ShopLine("node", node), `"data":[`)
			require.True(t, found)
			storetest.Import(t, s, before+`"data":[`+strings.Join(refs, ",")+`]}}}`)
		}
		nodesOf := func(id string) []string {
			storetest.Publish(t, s, "main")
			return storetest.FindProduct(t, storetest.View(t, s, release.ShopperContext{}), id).NodeIDs()
		}
		require.Equal(t, []string{"sale", "hand-tools", "tools"}, nodesOf("brush"))
		attach("tools", "anvil", "drill-draft", "brush", "chalk", "kit", "jar", "glue")
		require.Equal(t, []string{"sale", "hand-tools", "tools"}, nodesOf("brush"), "after attaching another product")
		require.Equal(t, []string{"tools", "sale"}, nodesOf("glue"))
		attach("tools", "anvil", "brush", "kit", "jar", "glue")
		require.Equal(t, []string{"sale", "hand-tools", "tools"}, nodesOf("brush"), "after detaching others")
		attach("tools", "anvil", "kit", "jar", "glue")
		require.Equal(t, []string{"sale", "hand-tools"}, nodesOf("brush"))
		attach("tools", "anvil", "kit", "jar", "glue", "brush")
		require.Equal(t, []string{"tools", "sale", "hand-tools"}, nodesOf("brush"), "attached again, it is the newest")
	}
}

func publishProgress(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		storetest.Import(t, s, storetest.GenerateShop(t, 1100, 4))
		catalogs, err := s.Releases.CatalogIDs(t.Context())
		require.NoError(t, err)
		var last, calls int
		release, err := s.Publisher.Publish(t.Context(), storetest.Actor, catalogs[0], func(done, total int) {
			require.Greater(t, done, last)
			require.LessOrEqual(t, done, total)
			last, calls = done, calls+1
		})
		require.NoError(t, err)
		require.Equal(t, release.Products, last)
		require.Greater(t, calls, 1)
	}
}
