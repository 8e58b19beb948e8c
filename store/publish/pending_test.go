package publish_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/publish"
	"portico/store/shop"
	"portico/store/storetest"
)

// TestPendingChanges follows what is pending through publications and a rollback.
func TestPendingChanges(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.ShopFile)
		_, complete := pending(t, s)
		require.False(t, complete, "nothing is published")
		storetest.Publish(t, s, "main")
		list, complete := pending(t, s)
		require.True(t, complete)
		require.Empty(t, list)

		storetest.Import(t, s, storetest.JoinLines(storetest.ChangedShopLine("product", "brush", `"For paint."`, `"For paint and glue."`)))
		storetest.Import(t, s, storetest.JoinLines(storetest.ChangedShopLine("product", "anvil", `"live"`, `"draft"`)))
		storetest.Import(t, s, storetest.JoinLines(
			`{"type":"product","id":"new","attributes":{"name":"New","sku":"NEW","slug":"new","status":"live","created_at":"2024-01-01T00:00:00Z"}}`,
			`{"type":"product","id":"idea","attributes":{"name":"Idea","sku":"IDEA","slug":"idea","status":"draft","created_at":"2024-01-01T00:00:00Z"}}`))
		storetest.Import(t, s, storetest.JoinLines(storetest.ChangedShopLine("product", "brush", `"For paint."`, `"For glue."`)))
		list, complete = pending(t, s)
		require.True(t, complete)
		require.Equal(t, []string{"product anvil remove Anvil", "product brush change Brush", "product idea none Idea", "product new add New"}, list)

		served, err := s.Releases.List(t.Context(), "main")
		require.NoError(t, err)
		storetest.Publish(t, s, "main")
		list, _ = pending(t, s)
		require.Empty(t, list)
		_, err = s.Releases.Serve(t.Context(), storetest.Actor, fmt.Sprint(served[0].ID))
		require.NoError(t, err)
		list, _ = pending(t, s)
		require.Len(t, list, 4, "after a rollback the same is pending")
		_, err = s.Publisher.PendingChanges(t.Context(), "none", store.Page{})
		storetest.RequireError(t, err, store.NotFound, "")
	})
}

// pending reads all pending changes of main in pages of two.
func pending(t *testing.T, s *shop.Store) (list []string, complete bool) {
	t.Helper()
	for after := (*string)(nil); ; {
		page, err := s.Publisher.PendingChanges(t.Context(), "main", store.Page{First: new(2), After: after})
		require.NoError(t, err)
		for _, c := range page.Items {
			list = append(list, describe(c))
		}
		if !page.HasNext {
			n, err := page.Total(t.Context())
			require.NoError(t, err)
			require.Equal(t, len(list), n)
			return list, page.Complete
		}
		after = new(page.Cursor(1))
	}
}

func describe(c *publish.PendingResource) string {
	text := []string{string(c.Kind), c.ID}
	if c.Effect != nil {
		text = append(text, string(*c.Effect))
	}
	if c.Product != nil {
		text = append(text, c.Product.Name)
	}
	return strings.Join(text, " ")
}
