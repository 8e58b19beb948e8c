package publish_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// deltaOfLongLists changes products of lists that are stored in several parts.
func deltaOfLongLists(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		testkit.FullTestsOnly(t, "lists of several parts are thousands of products")
		url := backend.OtherURL(t)
		open := func(config *shop.Config) { config.URL = url }
		s, plain := backend.Open(t, open), backend.Open(t, open, storetest.WithoutDeltas)
		text := storetest.WithoutStock(storetest.GenerateShop(t, 4600, 2))
		catalog := storetest.CatalogID(t, text)
		storetest.Import(t, s, text)
		storetest.Publish(t, s, catalog)
		var changed []string
		n := 0
		for line := range strings.Lines(text) {
			if storetest.LineType(line) != "product" {
				continue
			}
			switch n++; n % 460 { // some of each part
			case 1:
				changed = append(changed, strings.Replace(line, `"name":"`, `"name":"Aa`, 1))
			case 2:
				changed = append(changed, strings.Replace(line, `"updated_at":"20`, `"updated_at":"19`, 1))
			case 3:
				changed = append(changed, strings.Replace(line, `"status":"live"`, `"status":"draft"`, 1))
			case 4:
				changed = append(changed, strings.Replace(line, `"updated_at":"20`, `"updated_at":"29`, 1))
			case 5:
				changed = append(changed, strings.Replace(line, `"created_at":"20`, `"created_at":"21`, 1))
			case 6:
				changed = append(changed, strings.Replace(line, `"name":"`, `"name":"Zz`, 1))
			}
		}
		storetest.Import(t, s, strings.Join(changed, ""))
		newest, err := s.Publisher.Publish(t.Context(), storetest.Actor, catalog, nil)
		require.NoError(t, err)
		require.NotZero(t, newest.BaseID)
		whole, err := plain.Publisher.Preview(t.Context(), storetest.Actor, catalog, nil)
		require.NoError(t, err)
		require.Zero(t, whole.Added+whole.Changed+whole.Removed)
		is, want := storetest.View(t, s, release.ShopperContext{ReleaseID: newest.UUID()}), storetest.View(t, plain, release.ShopperContext{ReleaseID: whole.UUID()})
		for i, by := range []store.SortBy{store.SortDefault, store.SortID, store.SortCreatedAt, store.SortUpdatedAt, store.SortName} {
			query := release.ProductQuery{Unlisted: i%2 == 0, Sort: store.Sort{By: by, Descending: i == 3}}
			require.Equal(t, storetest.ProductIDs(t, want, query), storetest.ProductIDs(t, is, query), fmt.Sprint("by ", by))
		}
		var kept, parts int
		db := backend.SQLAt(t, url)
		require.NoError(t, db.QueryRow(fmt.Sprintf(`SELECT COUNT(*) FROM release_chunk WHERE release_id = %d AND list = 'every' AND sort = 'id'`, newest.ID)).Scan(&kept))
		require.NoError(t, db.QueryRow(fmt.Sprintf(`SELECT COUNT(*) FROM release_chunk WHERE release_id = %d AND list = 'every' AND sort = 'id'`, whole.ID)).Scan(&parts))
		require.Equal(t, []int{0, 2}, []int{kept, parts}, "the delta has only the changes of the list")
	}
}
