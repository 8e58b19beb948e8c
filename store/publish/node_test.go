package publish_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
	"portico/store/release/segment"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestNodesAreListedByPosition: lists of nodes without a sort are in the merchant's order, which a publication changes
// for new lists, not for those that a reader is in.
func TestNodesAreListedByPosition(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		for name, options := range map[string][]func(*shop.Config){"deltas": nil, "complete releases": {storetest.WithoutDeltas}} {
			t.Run(name, func(t *testing.T) {
				s := backend.Open(t, options...)
				node := func(id, position string) string {
					return `{"type":"node","id":"` + id + `","attributes":{"name":"` + strings.ToUpper(id) + `"` + position + `},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}}}}`
				}
				storetest.Import(t, s, storetest.JoinLines(`{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`,
					node("a", ``), node("b", `,"position":10`), node("c", `,"position":0`), node("d", `,"position":10`), node("e", ``),
					`{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["h"]}}`))
				storetest.Publish(t, s, "main")
				list := func(filter release.NodeFilter, sort store.Sort, page store.Page) (ids string, end string) {
					t.Helper()
					slice, err := storetest.View(t, s, release.ShopperContext{}).Nodes(t.Context(), release.NodeQuery{Filter: filter, Sort: sort, Page: page})
					require.NoError(t, err)
					for _, n := range slice.Items {
						ids += n.ID
					}
					return ids, slice.Cursors()[len(slice.Items)-1]
				}
				requireOrder := func(want string) {
					t.Helper()
					for _, filter := range []release.NodeFilter{{}, {ParentID: "h"}, {HierarchyID: "h", Kind: segment.KindNode}} {
						ids, _ := list(filter, store.Sort{}, store.Page{})
						require.Equal(t, want, ids)
						ids, _ = list(filter, store.Sort{By: store.SortName}, store.Page{})
						require.Equal(t, "abcde", ids)
						ids, _ = list(filter, store.Sort{By: store.SortName, Descending: true}, store.Page{})
						require.Equal(t, "edcba", ids)
						ids, _ = list(filter, store.Sort{By: store.SortPosition}, store.Page{})
						require.Equal(t, want, ids)
					}
					ids, _ := list(release.NodeFilter{IDs: []string{"h", "e", "d", "c", "b", "a"}, Kind: segment.KindNode}, store.Sort{By: store.SortPosition, Descending: true}, store.Page{})
					reversed := []byte(want)
					slices.Reverse(reversed)
					require.Equal(t, string(reversed), ids)
				}
				requireOrder("cbdae")
				first, end := list(release.NodeFilter{ParentID: "h"}, store.Sort{}, store.Page{First: new(2)})
				require.Equal(t, "cb", first)

				storetest.Import(t, s, node("e", `,"position":5`)+"\n"+node("c", ``)+"\n")
				requireOrder("cbdae")
				storetest.Publish(t, s, "main")
				requireOrder("ebdac")
				rest, _ := list(release.NodeFilter{ParentID: "h"}, store.Sort{}, store.Page{First: new(5), After: &end})
				require.Equal(t, "dae", rest)
			})
		}
	})
}

// TestMainImagesOfNodes: a release shows the main images of its nodes, and the files that only nodes show.
func TestMainImagesOfNodes(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		for name, options := range map[string][]func(*shop.Config){"deltas": nil, "complete releases": {storetest.WithoutDeltas}} {
			t.Run(name, func(t *testing.T) {
				s := backend.Open(t, options...)
				const file = `{"type":"file","id":"%","file_name":"%.jpg","link":{"href":"https://files.example/%.jpg"}}`
				node := func(image string) string {
					return `{"type":"node","id":"n","attributes":{"name":"N"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"main_image":{"data":{"type":"file","id":"` + image + `"}}}}`
				}
				storetest.Import(t, s, storetest.JoinLines(strings.ReplaceAll(file, "%", "front"), strings.ReplaceAll(file, "%", "back"),
					`{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`, node("front"), `{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["h"]}}`))
				storetest.Publish(t, s, "main")
				requireImage := func(want string) {
					t.Helper()
					v := storetest.View(t, s, release.ShopperContext{})
					n, err := v.Node(t.Context(), "n")
					require.NoError(t, err)
					require.Equal(t, want, n.MainImageID)
					for _, query := range []release.FileQuery{{}, {IDs: []string{"front", "back"}}} {
						shown, err := v.Files(t.Context(), query)
						require.NoError(t, err)
						require.Len(t, shown.Items, 1)
						require.Equal(t, want, shown.Items[0].ID)
					}
				}
				requireImage("front")
				storetest.Import(t, s, node("back")+"\n")
				requireImage("front")
				storetest.Publish(t, s, "main")
				requireImage("back")
			})
		}
	})
}

// TestAttributesOfNodes: a release shows the attributes of its nodes that are declared, in the order of declaration and in the
// shopper's language.
func TestAttributesOfNodes(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		for name, options := range map[string][]func(*shop.Config){"deltas": nil, "complete releases": {storetest.WithoutDeltas}} {
			t.Run(name, func(t *testing.T) {
				s := backend.Open(t, options...)
				node := func(values string) string {
					return `{"type":"node","id":"n","attributes":{"name":"N","locales":{"fr":{"name":"N"}},"custom_attributes":{` + values + `}},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}}}}`
				}
				storetest.Import(t, s, storetest.JoinLines(`{"type":"attribute","id":"width","attributes":{"label":"Width","attribute_type":"number","unit":"cm"}}`,
					`{"type":"attribute","id":"season","attributes":{"label":"Season","labels":{"fr":"Saison"},"attribute_type":"list"}}`,
					`{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`, node(`"season":["spring","fall"],"width":4.50`), `{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["h"]}}`))
				requireAttributes := func(want ...string) {
					t.Helper()
					v := storetest.View(t, s, release.ShopperContext{Languages: testkit.Languages("fr")})
					n, err := v.Node(t.Context(), "n")
					require.NoError(t, err)
					lists, err := v.NodeAttributes(t.Context(), []*segment.CatalogNode{n}, nil)
					require.NoError(t, err)
					shown := []string{}
					for _, a := range lists[0] {
						shown = append(shown, a.Label+"="+a.Value())
					}
					require.Equal(t, want, shown)
				}
				storetest.Publish(t, s, "main")
				requireAttributes("Width=4.5", "Saison=spring, fall")
				storetest.Import(t, s, node(`"season":["fall"]`)+"\n")
				requireAttributes("Width=4.5", "Saison=spring, fall")
				storetest.Publish(t, s, "main")
				requireAttributes("Saison=fall")
				storetest.Import(t, s, `{"type":"attribute","id":"season","attributes":{"label":"Season","labels":{"fr":"Époque"},"attribute_type":"list"}}`+"\n")
				storetest.Publish(t, s, "main")
				requireAttributes("Époque=fall")
			})
		}
	})
}
