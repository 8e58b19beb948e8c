package publish_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
)

// Products and their files are the same from blocks as from rows and documents, in each language, of
// whole releases and of deltas.
func TestBlocksEqualRows(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t, func(c *shop.Config) { c.NoCache = true })
		storetest.Import(t, s, storetest.ShopFile)
		c := newRandomShop(t, s, storetest.Seed(t))
		storetest.Publish(t, s, "main")
		deltas, blocks := 0, 0
		for range storetest.QuickOrFull(6, 40) {
			c.step(t)
			made, err := s.Publish(t.Context(), storetest.Actor, "main", nil)
			require.NoError(t, err)
			if made.BaseID != 0 {
				deltas++
			}
			for _, locale := range []string{"", "de", "fr, de;q=0.5"} {
				v, err := s.View(t.Context(), release.ShopperContext{Locale: locale})
				require.NoError(t, err)
				rows := *v
				earlier := *v.Release
				earlier.Format = 5 // has no blocks
				rows.Release = &earlier
				want, got := storedText(t, &rows, c), storedText(t, v, c)
				require.Equal(t, want, got)
			}
			blocks = storetest.CountRows(t, backend.SQL(t), "release_block")
		}
		require.Positive(t, blocks)
		require.Positive(t, deltas)
	})
}

// storedText returns all products and their files as a view reads them.
func storedText(t *testing.T, v *release.View, c *randomShop) string {
	t.Helper()
	products, err := v.ProductsByID(t.Context(), c.products)
	require.NoError(t, err)
	var text strings.Builder
	for _, id := range slices.Sorted(slices.Values(c.products)) {
		p := products[id]
		if p == nil {
			continue
		}
		ids := []string{p.MainImageID()}
		for _, link := range p.FileLinks() {
			ids = append(ids, link.ID)
		}
		files, err := v.FilesByID(t.Context(), ids, p)
		require.NoError(t, err)
		shown, err := json.Marshal(files)
		require.NoError(t, err)
		fmt.Fprintf(&text, "%s\n%s\n", p.AppendJSON(nil), shown)
	}
	return text.String()
}
