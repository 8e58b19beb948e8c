package rest_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestLinksDuringWrites pages lists while a writer changes every second stock record. An
// unchanged row occurs exactly once. A row that moves may occur twice or not at all.
func TestLinksDuringWrites(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		l := openLists(t, e)
		var changing []string
		for i, r := range l.model.stock {
			if i%2 == 0 {
				changing = append(changing, r.id)
			}
		}
		writes := keepWriting(t, l.store, changing)
		rapid.Check(t, func(t *rapid.T) {
			w := l.draw(t)
			w.rowsMove = w.path == "/v2/inventories" && (strings.HasSuffix(w.query.sort, "updated_at") ||
				slices.ContainsFunc(w.query.filters, func(f modelFilter) bool { return strings.Contains(f.text, "updated_at") }))
			still := func(ids []string) []string {
				return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return w.rowsMove && slices.Contains(changing, id) })
			}
			for before := writes.Load(); writes.Load() == before; { // so that writes happen during each walk
				time.Sleep(time.Millisecond)
			}
			want := still(w.query.of(l.paths[w.path]))
			pages, got := w.forwards(t, want)
			require.Equal(t, want, still(got), "following next from %s", w.at("page[offset]=0"))
			require.Equal(t, want, still(w.backwards(t, pages[len(pages)-1])), "back by prev")
		})
	})
}

// keepWriting changes stock until the test ends.
func keepWriting(t *testing.T, s *shop.Store, changing []string) (writes *atomic.Int64) {
	writes = &atomic.Int64{}
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			_, err := s.Stock.Transact(context.Background(), "test",
				[]stock.Change{{ProductID: changing[i%len(changing)], Action: stock.StockIncrement, Quantity: 1}})
			if err != nil {
				t.Errorf("the writer failed: %v", err)
				writes.Add(1 << 32) // ends the wait for a failed writer
				return
			}
			writes.Add(1)
		}
	})
	t.Cleanup(func() {
		cancel()
		group.Wait()
	})
	return writes
}

// TestLinksDuringPublication requires that cursors continue in the release they were created in.
func TestLinksDuringPublication(t *testing.T) {
	t.Parallel()
	const hammer = `{"type":"product","id":"hammer","attributes":{"name":"Hammer","sku":"HAMMER","slug":"hammer","status":"live",` +
		`"created_at":"2024-02-01T00:00:00.000Z","updated_at":"2024-02-01T00:00:00.000Z"}}`
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		clock := testkit.NewClock(noon)
		s := openShop(t, e, shopFile(), withClock(clock), func(config *shop.Config) { config.WholeReleases = true })
		before := map[string][]string{} // by the address of the second page
		for _, path := range []string{productsOf("tools"), "/catalog/products", "/catalog/nodes", "/catalog/hierarchies/workshop/products", "/catalog/products?filter=in(tags,paint,heavy)"} {
			for _, sort := range []string{"", "id", "-updated_at"} {
				path, filter, _ := strings.Cut(path, "?")
				w := pageWalk{s: s, path: path, query: modelQuery{sort: sort}, limit: 2}
				address := w.at("page[offset]=0")
				if filter != "" {
					address += "&" + filter
				}
				first := w.get(t, address)
				require.NotEmpty(t, first.link("next"), address)
				for _, page := range w.follow(t, first.link("next"), "next") {
					before[first.link("next")] = append(before[first.link("next")], page.ids()...)
				}
			}
		}
		w := pageWalk{s: s, path: productsOf("tools"), query: modelQuery{sort: "id"}, limit: 2}
		first := w.get(t, w.at("page[offset]=0"))
		require.Equal(t, []string{"anvil", "brush"}, first.ids())

		more := strings.Replace(shopFile(), `{"type":"product","id":"jar"}]`, `{"type":"product","id":"hammer"}]`, 1) + "\n" + hammer
		require.NotEqual(t, shopFile()+"\n"+hammer, more, "the jar is still in tools")
		importLines(t, s.store, more)

		for address, rows := range before {
			var got []string
			for _, page := range w.follow(t, address, "next") {
				got = append(got, page.ids()...)
			}
			require.Equal(t, rows, got, "a publication after the first page hides and repeats no row: %s", address)
		}
		second := w.get(t, first.link("next"))
		require.Equal(t, []string{"chalk", "jar"}, second.ids(), "from the release of the previous page")
		third := w.get(t, second.link("next"))
		require.Equal(t, []string{"kit"}, third.ids())
		require.Empty(t, third.link("next"))
		_, now := w.forwards(t, []string{"anvil", "brush", "chalk", "hammer", "kit"})
		require.Equal(t, []string{"anvil", "brush", "chalk", "hammer", "kit"}, now, "from the new release")

		for i := range 4 { // the store keeps three releases
			clock.Advance(2 * time.Hour)
			importLines(t, s.store, strings.Replace(more, `"name":"Hammer"`, `"name":"Hammer `+strconv.Itoa(i)+`"`, 1))
		}
		require.NoError(t, s.store.Sweep(t.Context()))
		runScenarios(t, s, []scenario{{name: "a cursor into a deleted release", path: first.link("next"), status: 410,
			holds: []string{"page[after] points into a release", "Start again without a cursor"}}})
	})
}
