package rest_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store/storetest"
)

// TestOffsetPagingReachesEveryRow pages large lists by sort and filter=ge(attribute,last
// value), as docs/rest.md says. The client skips rows it has seen, and pages on through rows
// with an equal value.
func TestOffsetPagingReachesEveryRow(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		l := openLists(t, e)
		paths := slices.DeleteFunc(slices.Sorted(maps.Keys(l.paths)),
			func(path string) bool { return path == "/v2/inventories" }) // its rows have no times
		rapid.Check(t, func(t *rapid.T) {
			path := rapid.SampledFrom(paths).Draw(t, "path")
			w := pageWalk{s: l.testServer, path: path, query: modelQuery{sort: "updated_at"}, limit: rapid.IntRange(1, 12).Draw(t, "limit")}
			want := w.query.of(l.paths[path])
			var got []string
			for address := w.at("page[offset]=0"); address != ""; {
				page := w.get(t, address)
				for _, id := range page.ids() {
					if !slices.Contains(got, id) {
						got = append(got, id)
					}
				}
				if len(page.Data) < w.limit {
					break
				}
				first, last := page.Data[0].Attributes.UpdatedAt, page.Data[len(page.Data)-1].Attributes.UpdatedAt
				if address = page.link("next"); first != last {
					w.query.filters = []modelFilter{compare("ge", "updated_at", last)}
					address = w.at("page[offset]=0")
				}
			}
			require.Equal(t, want, got, "%s by %d", path, w.limit)
		})
	})
}

// TestPagingByIDReachesEveryRow uses gt, because ids are unique.
func TestPagingByIDReachesEveryRow(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		l := openLists(t, e)
		rapid.Check(t, func(t *rapid.T) {
			path := rapid.SampledFrom(slices.Sorted(maps.Keys(l.paths))).Draw(t, "path")
			sort, operator := "id", "gt"
			if rapid.Bool().Draw(t, "descending") {
				sort, operator = "-id", "lt"
			}
			w := pageWalk{s: l.testServer, path: path, query: modelQuery{sort: sort}, limit: rapid.IntRange(1, 100).Draw(t, "limit")}
			want := w.query.of(l.paths[path])
			var got []string
			for {
				page := w.get(t, w.at("page[offset]=0"))
				if len(page.Data) == 0 {
					break
				}
				got = append(got, page.ids()...)
				w.query.filters = []modelFilter{compare(operator, "id", got[len(got)-1])}
			}
			require.Equal(t, want, got, "%s by %d", path, w.limit)
		})
	})
}

func TestReturnedTimesWorkInFilters(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		l := openLists(t, e)
		w := pageWalk{s: l.testServer, path: productsOf(l.model.longestList()), limit: 100}
		for _, product := range w.get(t, w.at("page[offset]=0")).Data[:10] {
			shown := product.Attributes.UpdatedAt
			require.False(t, strings.HasSuffix(shown, "Z"), "%s has no zone under /catalog", shown)
			w.query.filters = []modelFilter{compare("ge", "updated_at", shown), compare("le", "updated_at", shown)}
			require.Contains(t, w.get(t, w.at("page[offset]=0")).ids(), product.ID)
		}
	})
}
