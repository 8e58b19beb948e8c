package publish_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/datagen"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestPublicationAndLog: a publication that writes more than SQLite's write-ahead log should hold lets it start
// again, and shows what was authored when it began, also if that changes meanwhile.
func TestPublicationAndLog(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "publishes 8,000 products")
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		var text strings.Builder
		require.NoError(t, datagen.WriteShop(&text, 8000, 1)) // eight batches
		catalogID := storetest.CatalogID(t, text.String())
		var changed strings.Builder
		for line := range strings.Lines(text.String()) {
			if strings.HasPrefix(line, `{"type":"product",`) {
				changed.WriteString(strings.Replace(line, `"name":"`, `"name":"Changed `, 1))
			}
		}
		s := backend.Open(t, func(config *shop.Config) { config.LogPages = 200 })
		storetest.Import(t, s, text.String())
		pages := func() (n int) {
			var busy, copied int
			require.NoError(t, backend.SQL(t).QueryRow(`PRAGMA wal_checkpoint(NOOP)`).Scan(&busy, &n, &copied))
			return n
		}

		var lengths []int // of the log after each batch
		_, err := s.Publisher.Preview(t.Context(), storetest.Actor, catalogID, func(int, int) {
			if backend.Name == "sqlite" {
				lengths = append(lengths, pages())
			}
		})
		require.NoError(t, err)
		if backend.Name == "sqlite" {
			require.False(t, slices.IsSorted(lengths), "the log only grew: %d", lengths)
		}

		_, err = s.Publisher.Publish(t.Context(), storetest.Actor, catalogID, func(done, _ int) {
			if done == 1000 {
				storetest.Import(t, s, changed.String())
			}
		})
		require.NoError(t, err)
		v := storetest.View(t, s, release.ShopperContext{})
		ids := storetest.ProductIDs(t, v, release.ProductQuery{})
		require.NotEmpty(t, ids)
		products, err := v.ProductsByID(t.Context(), ids)
		require.NoError(t, err)
		for _, product := range products {
			require.NotContains(t, string(product.AppendJSON(nil)), `"Changed `)
		}
	})
}
