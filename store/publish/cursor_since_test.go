package publish_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
)

// A cursor of a list that a publication does not change goes on in the new release; one of a list
// that it changes continues in its own. Both for deltas and for whole releases.
func TestCursorsOfUnchangedLists(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		for name, options := range map[string][]func(*shop.Config){"deltas": nil, "whole": {storetest.WithoutDeltas}} {
			t.Run(name, func(t *testing.T) {
				s := storetest.OpenPublished(t, backend, options...)
				queries := map[string]release.ProductQuery{
					"all":   {Page: store.Page{First: new(1)}},
					"tools": {NodeID: "tools", Page: store.Page{First: new(1)}},
					"name":  {NodeID: "tools", Sort: store.Sort{By: store.SortName}, Page: store.Page{First: new(1)}},
					"price": {NodeID: "tools", Sort: store.Sort{By: store.SortPrice}, Page: store.Page{First: new(1)}},
				}
				cursors := func() map[string]string {
					v, found := storetest.View(t, s, release.ShopperContext{}), map[string]string{}
					for name, query := range queries {
						slice, err := v.Products(t.Context(), query)
						require.NoError(t, err)
						found[name] = slice.Cursors()[0]
					}
					slice, err := v.Nodes(t.Context(), release.NodeQuery{Page: store.Page{First: new(1)}})
					require.NoError(t, err)
					found["nodes"] = slice.Cursors()[0]
					return found
				}
				equal := func(was, is map[string]string) (same []string) {
					for _, name := range []string{"all", "tools", "name", "price", "nodes"} {
						if was[name] == is[name] {
							same = append(same, name)
						}
					}
					return same
				}
				was := cursors()
				for _, step := range []struct {
					what, line string
					same       []string
				}{
					{"a text of a product", storetest.ChangedShopLine("product", "chalk", `"tags":["paint"]`, `"tags":["paint","new"]`), []string{"all", "tools", "name", "nodes"}},
					{"the name of a product", storetest.ChangedShopLine("product", "chalk", `"name":"Chalk"`, `"name":"AChalk"`), []string{"nodes"}},
					{"a node", storetest.ChangedShopLine("node", "paints", `"name":"Paints"`, `"name":"Colours"`), []string{"all", "tools", "name"}},
				} {
					storetest.Import(t, s, step.line+"\n")
					storetest.Publish(t, s, "main")
					is := cursors()
					require.Equal(t, step.same, equal(was, is), step.what)
					for name, query := range queries {
						v, cursor := storetest.View(t, s, release.ShopperContext{}), was[name]
						query.Page.After = &cursor
						slice, err := v.Products(t.Context(), query)
						require.NoError(t, err, "%s: %s", step.what, name)
						require.NotEmpty(t, slice.Items)
						_, _, current := v.Holds()
						require.True(t, current || !slices.Contains(step.same, name), "%s: %s goes on in the new release", step.what, name)
					}
					was = is
				}
				again, err := s.Publisher.Publish(t.Context(), storetest.Actor, "main", nil)
				require.NoError(t, err)
				require.Equal(t, storetest.View(t, s, release.ShopperContext{}).Release.ID, again.ID, "nothing changed")
			})
		}
	})
}
