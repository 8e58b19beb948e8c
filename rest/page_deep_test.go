package rest_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// deepShop is a generated shop whose longest list exceeds the highest offset. It has no files,
// prices or stock, to save time.
func deepShop(t *testing.T) string {
	var kept strings.Builder
	for text := range strings.Lines(generateShop(t, 11_600)) {
		if !strings.HasPrefix(text, `{"type":"file"`) && !strings.HasPrefix(text, `{"type":"product-price"`) &&
			!strings.HasPrefix(text, `{"type":"stock"`) {
			kept.WriteString(text)
		}
	}
	return kept.String()
}

// TestLinksPassTheOffsetLimit requires that links.next leads beyond offset 10,000, so
// that clients can read every list to its end.
func TestLinksPassTheOffsetLimit(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "a shop of 10,000 products takes seconds to import")
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		if e.Name != "sqlite" {
			t.Skip("offsets do not depend on the database")
		}
		file := deepShop(t)
		m := newModel(t, file)
		node := m.longestList()
		s := openShop(t, e, file)
		seedDeepStock(t, e, m.listed[node])
		require.NoError(t, s.store.Stock.Warm(t.Context())) // written without the service
		deep := map[string][]productRow{productsOf(node): m.listed[node], "/catalog/products": m.all,
			"/v2/inventories": slices.SortedFunc(slices.Values(m.listed[node]), byID)}
		for _, path := range slices.Sorted(maps.Keys(deep)) {
			require.Greater(t, len(deep[path]), store.MaxOffset+300)
			for _, q := range []modelQuery{{}, {sort: "-updated_at"},
				{filters: []modelFilter{compare("gt", "created_at", "2018-01-01T12:00:00.000Z")}}} {
				w := pageWalk{s: s, path: path, query: q, limit: 100}
				t.Run(w.at(""), func(t *testing.T) { readToTheEnd(t, w, q.of(deep[path])) })
			}
		}
	})
}

func readToTheEnd(t *testing.T, w pageWalk, want []string) {
	require.Greater(t, len(want), store.MaxOffset+2*w.limit)
	pages, got := w.forwards(t, want)
	require.Equal(t, want, got, "by next")
	require.Equal(t, want, w.backwards(t, pages[len(pages)-1]), "back by prev")
	for _, page := range pages {
		if next := page.link("next"); next != "" {
			require.Contains(t, next, "page[after]=", "next of %d", page.Meta.Page.Offset)
		}
		require.Nil(t, page.Links["last"], "last of %d", page.Meta.Page.Offset)
	}
	beyond := w.get(t, w.at("page[offset]="+strconv.Itoa(store.MaxOffset)))
	require.Equal(t, w.rows(want, store.MaxOffset), beyond.ids(), "the highest offset")
	w.limit = 7 // the page need not end at the limit
	around := w.get(t, w.at("page[offset]="+strconv.Itoa(store.MaxOffset-3)))
	w.checkPage(t, around, store.MaxOffset-3, want)
	w.checkPage(t, w.get(t, around.link("next")), store.MaxOffset+4, want)
}

// seedDeepStock inserts stock for the products, with their times.
func seedDeepStock(t *testing.T, e storetest.Backend, products []productRow) {
	stored := make([]stock.Stock, len(products))
	for i, p := range products {
		created, err := store.ParseTime(p.created)
		require.NoError(t, err)
		updated, err := store.ParseTime(p.updated)
		require.NoError(t, err)
		stored[i] = stock.Stock{ProductID: p.id, Available: i, CreatedAt: created, UpdatedAt: updated}
	}
	storetest.SeedStock(t, e.SQL(t), stored...)
}
