package publish_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/release"
	"portico/store/release/segment"
	"portico/store/shop"
	"portico/store/storetest"
)

// A release of the format before blocks shows the same products, files and translations, whole or as a
// delta. The next publication writes blocks, and the sweep deletes rows and documents.
func TestReleasesBeforeBlocks(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		clock := storetest.NewClock(storetest.Noon)
		open := func() *shop.Store {
			return backend.Open(t, storetest.WithClock(clock), func(c *shop.Config) { c.NoCache = true })
		}
		s, db := open(), backend.SQL(t)
		storetest.Import(t, s, storetest.ShopFile)
		c := newRandomShop(t, s, storetest.Seed(t))
		storetest.Publish(t, s, "main")
		deltas := 0
		for range storetest.QuickOrFull(4, 20) {
			c.step(t)
			made, err := s.Publish(t.Context(), storetest.Actor, "main", nil)
			require.NoError(t, err)
			if made.BaseID != 0 {
				deltas++
			}
			storetest.WriteEarlierRows(t, db, storetest.View(t, s, release.ShopperContext{}), c.products)
			for _, locale := range []string{"", "de", "fr, de;q=0.5"} {
				v := storetest.View(t, s, release.ShopperContext{Locale: locale})
				rows, earlier := *v, *v.Release
				earlier.Format = segment.FormatOfBlocks - 1
				rows.Release = &earlier
				require.Equal(t, storedText(t, v, c), storedText(t, &rows, c))
			}
		}
		require.Positive(t, deltas)
		want := storedText(t, storetest.View(t, s, release.ShopperContext{}), c)
		for _, statement := range []string{`UPDATE release SET format = 6`, `DELETE FROM release_block`, `DELETE FROM release_chunk WHERE sort IN ('slot', 'version', 'published')`} {
			_, err := db.Exec(statement)
			require.NoError(t, err)
		}
		s = open()
		require.Equal(t, want, storedText(t, storetest.View(t, s, release.ShopperContext{}), c))
		require.NoError(t, s.Sweep(t.Context()))
		require.Positive(t, storetest.CountRows(t, db, "document"))
		made, err := s.Publish(t.Context(), storetest.Actor, "main", nil)
		require.NoError(t, err)
		require.Equal(t, [3]any{segment.ReleaseFormat, int64(0), made.Products}, [3]any{made.Format, made.BaseID, made.Changed}, "whole, and every version is new")
		clock.Advance(3 * time.Hour)
		_, err = db.Exec(`DELETE FROM release WHERE id <> $1`, made.ID)
		require.NoError(t, err)
		require.NoError(t, s.Sweep(t.Context()))
		require.Zero(t, storetest.CountRows(t, db, "document"))
		published := regexp.MustCompile(`"published_at":"[^"]*"`)
		require.Equal(t, published.ReplaceAllString(want, ""), published.ReplaceAllString(storedText(t, storetest.View(t, s, release.ShopperContext{}), c), ""))
	})
}

// storedText returns all products and their files as a view reads them.
func storedText(t *testing.T, v *release.View, c *randomShop) string {
	t.Helper()
	products, err := v.ProductsByID(t.Context(), c.products)
	require.NoError(t, err)
	translations, err := v.TranslationsByID(t.Context(), c.products)
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
		files, err := v.FilesByID(t.Context(), ids)
		require.NoError(t, err)
		listed, err := v.FilesOf(t.Context(), ids, slices.Repeat([]*release.Product{p}, len(ids)))
		require.NoError(t, err)
		for i, f := range listed {
			require.Equal(t, files[ids[i]], f)
		}
		shown, err := json.Marshal([]any{files, translations[id]})
		require.NoError(t, err)
		fmt.Fprintf(&text, "%s\n%s\n", p.AppendJSON(nil), shown)
	}
	return text.String()
}
