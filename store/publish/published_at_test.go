package publish_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestPublishedAt: published_at of a product or node is when a catalog first showed this version
// of it, in whichever release shows it now.
func TestPublishedAt(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		for name, options := range map[string][]func(*shop.Config){"deltas": nil, "complete releases": {storetest.WithoutDeltas}} {
			t.Run(name, func(t *testing.T) {
				clock := testkit.NewClock(testkit.Noon)
				s := storetest.OpenPublished(t, backend, append(options, storetest.WithClock(clock))...)
				first := publishedAt(t, s)
				require.Greater(t, len(first), 10)
				for id, at := range first {
					require.Equal(t, testkit.Noon, at, id)
				}
				want := maps.Clone(first)
				change := func(line string, changed ...string) {
					t.Helper()
					clock.Advance(time.Hour)
					storetest.Import(t, s, line+"\n")
					clock.Advance(time.Hour)
					storetest.Publish(t, s, "main")
					for _, id := range changed {
						want[id] = clock.Now()
					}
					require.Equal(t, want, publishedAt(t, s), line)
				}
				change(storetest.ChangedShopLine("product", "brush", `"For paint."`, `"For oil."`), "brush")
				change(storetest.ChangedShopLine("product", "chalk", `"sku":"CHALK"`, `"sku":"CHALK","external_ref":"c-1"`), "chalk")
				change(storetest.ChangedShopLine("node", "tools", `"description":"Tools."`, `"description":"All tools."`), "node tools")
				change(storetest.ChangedShopLine("product", "brush", `"For paint."`, `"For paint."`), "brush")

				clock.Advance(time.Hour)
				_, err := s.Releases.Serve(t.Context(), storetest.Actor, "1")
				require.NoError(t, err)
				require.Equal(t, first, publishedAt(t, s), "a release does not change")
			})
		}
	})
}

// publishedAt returns published_at of each product and node, and checks that REST's form has it.
func publishedAt(t *testing.T, s *shop.Store) map[string]time.Time {
	t.Helper()
	v := storetest.View(t, s, release.ShopperContext{})
	found := map[string]time.Time{}
	slice, err := v.Products(t.Context(), release.ProductQuery{Page: store.Page{First: new(100)}})
	require.NoError(t, err)
	for _, product := range slice.Items {
		found[product.ID()] = product.PublishedAt()
		require.Contains(t, string(product.AppendJSON(nil)), `"published_at":"`+store.FormatTimeBare(product.PublishedAt())+`"`)
	}
	tree, err := v.Tree(t.Context())
	require.NoError(t, err)
	for _, node := range tree.Nodes {
		found["node "+node.ID] = node.PublishedAt
	}
	return found
}

// TestProductsStayCached: after a delta was published, products that it did not change are not
// read again.
func TestProductsStayCached(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := storetest.OpenPublished(t, backend)
		ids := slices.DeleteFunc(storetest.ProductIDs(t, storetest.View(t, s, release.ShopperContext{}), release.ProductQuery{}), func(id string) bool { return id == "brush" })
		read := func(ctx context.Context) error {
			found, err := storetest.View(t, s, release.ShopperContext{}).ProductsByID(ctx, ids)
			require.Len(t, found, len(ids))
			return err
		}
		require.NoError(t, read(t.Context()))
		for _, text := range []string{`"For oil."`, `"For paint and oil."`} {
			storetest.Import(t, s, storetest.ChangedShopLine("product", "brush", `"For paint."`, text)+"\n")
			storetest.Publish(t, s, "main")
			ctx, counter := store.CountStatements(t.Context())
			require.NoError(t, read(ctx))
			for _, statement := range counter.Queries() {
				require.False(t, strings.Contains(statement, "release_block"), statement)
			}
		}
	})
}
