package rest_test

import (
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store"
	"portico/store/storetest"
)

// sorts are all the orders of a list.
var sorts = []string{"", "id", "-id", "created_at", "-created_at", "updated_at", "-updated_at"}

// lists are the lists under test: products of a curated node, a hierarchy and a small node, and
// stock.
type lists struct {
	*testServer
	model *model
	paths map[string][]productRow
}

func openLists(t *testing.T, e storetest.Backend) *lists {
	file := generateShop(t, 70)
	m := newModel(t, file)
	l := &lists{openShop(t, e, file), m, map[string][]productRow{"/v2/inventories": m.stock, "/catalog/products": m.all}}
	for _, hierarchy := range m.hierarchies {
		l.paths["/catalog/hierarchies/"+hierarchy+"/products"] = m.listed[hierarchy]
	}
	for node, rows := range m.listed {
		l.paths[productsOf(node)] = rows
	}
	return l
}

// draw chooses a list, an order, filters and a limit.
func (l *lists) draw(t *rapid.T) pageWalk {
	paths := slices.Sorted(maps.Keys(l.paths))
	path := rapid.SampledFrom(paths).Draw(t, "path")
	return pageWalk{s: l.testServer, path: path,
		limit: rapid.OneOf(rapid.IntRange(1, 10), rapid.IntRange(1, 100)).Draw(t, "limit"),
		query: modelQuery{
			sort:    rapid.SampledFrom(sorts).Draw(t, "sort"),
			filters: rapid.SliceOfNDistinct(l.filters(path), 0, 2, func(f modelFilter) string { return f.text[:4] }).Draw(t, "filters"),
		}}
}

// filters draws a condition on a value that the list has.
func (l *lists) filters(path string) *rapid.Generator[modelFilter] {
	rows := rapid.SampledFrom(l.paths[path])
	bounds := rapid.Custom(func(t *rapid.T) modelFilter {
		key := rapid.SampledFrom([]string{"id", "created_at", "updated_at"}).Draw(t, "key")
		return compare(rapid.SampledFrom([]string{"gt", "ge", "lt", "le"}).Draw(t, "operator"), key, rows.Draw(t, "row").key(key))
	})
	if path == "/v2/inventories" {
		return bounds
	}
	return rapid.OneOf(bounds, rapid.Custom(func(t *rapid.T) modelFilter {
		attribute := rapid.SampledFrom([]string{"id", "sku", "tags", "product_types"}).Draw(t, "attribute")
		var values []string
		for _, r := range rapid.SliceOfN(rows, 1, 5).Draw(t, "rows") {
			values = append(values, map[string]string{"id": r.id, "sku": r.sku, "tags": r.tags[0], "product_types": r.types[0]}[attribute])
		}
		if len(values) == 1 && attribute != "id" {
			return oneOf("eq", attribute, values[0])
		}
		return oneOf("in", attribute, values...)
	}))
}

func TestLinksReachEveryRow(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		l := openLists(t, e)
		rapid.Check(t, func(t *rapid.T) {
			w := l.draw(t)
			want := w.query.of(l.paths[w.path])
			pages, got := w.forwards(t, want)
			require.Equal(t, want, got, "following next from %s", w.at("page[offset]=0"))
			require.Equal(t, want, w.backwards(t, pages[len(pages)-1]), "back by prev")
		})
	})
}

// TestLinksFromAnyOffset starts at offsets that are not multiples of the limit.
func TestLinksFromAnyOffset(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		l := openLists(t, e)
		rapid.Check(t, func(t *rapid.T) {
			w := l.draw(t)
			want := w.query.of(l.paths[w.path])
			offset := rapid.IntRange(0, max(0, len(want)-1)).Draw(t, "offset")
			address := w.at("page[offset]=" + strconv.Itoa(offset))
			page := w.get(t, address)
			w.checkPage(t, page, offset, want)
			got := []string{}
			for _, page := range w.follow(t, address, "next") {
				got = append(got, page.ids()...)
			}
			require.Equal(t, want[offset:], got, "following next from %s", address)
			back := w.backwards(t, page)
			require.Subset(t, back, want[:min(offset+w.limit, len(want))], "following prev from %s", address)
		})
	})
}

// TestPagePastTheEnd requires no rows and correct meta.
func TestPagePastTheEnd(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		l := openLists(t, e)
		for _, path := range []string{productsOf(l.model.longestList()), "/v2/inventories"} {
			for _, sort := range []string{"", "id"} {
				w := pageWalk{s: l.testServer, path: path, query: modelQuery{sort: sort}, limit: 25}
				want := w.query.of(l.paths[path])
				for _, offset := range []int{len(want), len(want) + 1, store.MaxOffset} {
					address := w.at("page[offset]=" + strconv.Itoa(offset))
					t.Run(address, func(t *testing.T) {
						page := w.get(t, address)
						require.Empty(t, page.Data)
						require.Empty(t, page.link("next"))
						require.Equal(t, offset, page.Meta.Page.Offset, "meta.page.offset")
						require.Equal(t, len(want), page.Meta.Results.Total, "meta.results.total")
						require.GreaterOrEqual(t, page.Meta.Page.Current, page.Meta.Page.Total, "the end for iterators")
						w.checkLinks(t, page, want)
						if prev := page.link("prev"); prev != "" {
							w.get(t, prev)
						}
					})
				}
			}
		}
	})
}

// TestCountingIteratorsReachEveryRow reads as clients' iterators do: by offset, until meta says
// that the current page is the last one.
func TestCountingIteratorsReachEveryRow(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		l := openLists(t, e)
		rapid.Check(t, func(t *rapid.T) {
			w := l.draw(t)
			got := []string{}
			for offset, done := 0, false; !done; offset += w.limit {
				page := w.get(t, w.at("page[offset]="+strconv.Itoa(offset)))
				got = append(got, page.ids()...)
				done = page.Meta.Page.Current >= page.Meta.Page.Total
				require.Less(t, offset, 1000, "the iterator does not stop")
			}
			require.Equal(t, w.query.of(l.paths[w.path]), got)
		})
	})
}
