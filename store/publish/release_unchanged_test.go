package publish_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/publish/compare"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

func releaseLastHourKept(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		backend.FullTestsOnlyOnPostgres(t)
		clock := testkit.NewClock(testkit.Noon)
		s, db := backend.Open(t, storetest.WithClock(clock), storetest.WithoutDeltas), backend.SQL(t)
		storetest.Import(t, s, storetest.ShopFile)
		for i := range 25 {
			storetest.Import(t, s, storetest.JoinLines(storetest.ChangedShopLine("product", "brush", `"For paint."`, `"For paint `+strconv.Itoa(i)+`."`)))
			storetest.Publish(t, s, "main")
			_, err := s.Publisher.Preview(t.Context(), storetest.Actor, "main", nil) // never current
			require.NoError(t, err)
			clock.Advance(time.Minute)
		}
		kept := func() int {
			require.NoError(t, s.Sweep(t.Context()))
			storetest.RequireNoOrphans(t, db)
			return storetest.CountRows(t, db, "release")
		}
		clock.Advance(-time.Minute)
		require.Equal(t, 20, kept(), "previews only among the newest three")
		clock.Advance(55 * time.Minute)
		require.Equal(t, 8, kept(), "five of the last hour and the newest three")
		clock.Advance(time.Hour)
		require.Equal(t, 3, kept(), "the newest three")
	}
}

// releasePaged reads each page after two more publications, in a new view, and on a store
// without caches. They change each product, but not the list.
func releasePaged(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		backend.FullTestsOnlyOnPostgres(t)
		clock := testkit.NewClock(testkit.Noon)
		s := storetest.OpenPublished(t, backend, storetest.WithClock(clock), func(config *shop.Config) { config.NoCache = true })
		want := storetest.ProductIDs(t, storetest.View(t, s, release.ShopperContext{}), release.ProductQuery{})
		require.Greater(t, len(want), 5)
		for _, sort := range []store.Sort{{}, {By: store.SortID}, {By: store.SortName, Descending: true}} {
			query := release.ProductQuery{Sort: sort, Page: store.Page{First: new(1)}}
			whole := storetest.ProductIDs(t, storetest.View(t, s, release.ShopperContext{}), release.ProductQuery{Sort: sort})
			var seen []string
			for {
				slice, err := storetest.View(t, s, release.ShopperContext{}).Products(t.Context(), query)
				require.NoError(t, err, "after %s", seen)
				seen = append(seen, slice.Items[0].ID())
				if !slice.HasNext {
					break
				}
				query.Page.After = &slice.Cursors()[0]
				for range 2 {
					clock.Advance(3 * time.Minute)
					appendToNames(t, s, clock.Now().Format(" v15.04"))
					storetest.Publish(t, s, "main")
				}
			}
			require.Equal(t, whole, seen, "by %s", sort)
		}
		_, cursor := storetest.FirstPage(t, storetest.View(t, s, release.ShopperContext{}))
		for range 4 {
			clock.Advance(2 * time.Hour)
			appendToNames(t, s, clock.Now().Format(" v15.04"))
			storetest.Publish(t, s, "main")
		}
		require.NoError(t, s.Sweep(t.Context()))
		_, err := storetest.NextPage(storetest.View(t, s, release.ShopperContext{}), cursor)
		require.NoError(t, err, "the list is the same")
	}
}

// appendToNames imports the shop with a suffix behind the products' names, which keeps their
// order.
func appendToNames(t require.TestingT, s *shop.Store, version string) {
	var lines []string
	for _, line := range storetest.ShopLines() {
		if storetest.LineType(line) == "product" {
			before, rest, _ := strings.Cut(line, `"attributes":{"name":"`)
			name, rest, _ := strings.Cut(rest, `"`)
			lines = append(lines, before+`"attributes":{"name":"`+name+version+`"`+rest)
		}
	}
	storetest.Import(t, s, storetest.JoinLines(lines...))
}

// releaseUnchanged runs for deltas, for complete releases, and for both in turn.
func releaseUnchanged(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		backend.FullTestsOnlyOnPostgres(t)
		clock := testkit.NewClock(testkit.Noon)
		stores := map[string]*shop.Store{"whole": backend.Open(t, storetest.WithClock(clock), storetest.WithoutDeltas), "delta": backend.Open(t, storetest.WithClock(clock))}
		storetest.Import(t, stores["delta"], storetest.ShopFile)
		storetest.Publish(t, stores["delta"], "main", "outlet")
		served := func() string {
			routing := storetest.View(t, backend.Open(t, storetest.WithClock(clock)), release.ShopperContext{})
			return routing.Release.UUID()
		}
		brush := func(text string) string {
			return storetest.ChangedShopLine("product", "brush", `"For paint."`, `"`+text+`"`)
		}
		for _, c := range []struct {
			name  string
			lines []string // imported one by one
			same  bool
		}{
			{"nothing written", nil, true},
			{"the same again", storetest.ShopLines(), true},
			{"a change that was taken back", []string{brush("Once."), brush("For paint.")}, true},
			{"a product of another catalog", []string{storetest.ChangedShopLine("product", "ink-unlisted", `"name":"`, `"name":"Fresh `)}, true},
			{"a price book that is not in the catalog", []string{`{"type":"pricebook","id":"unused","attributes":{"name":"Unused"}}`}, true},
			{"a text", []string{brush("For painting.")}, false},
			{"a price", []string{storetest.ChangedShopLine("product-price", "vip-anvil", `99900`, `99800`)}, false},
			{"a file", []string{storetest.ChangedShopLine("file", "photo-1", "anvil.jpg", "other.jpg")}, false},
			{"the name of a node", []string{storetest.ChangedShopLine("node", "paints", `"name":"`, `"name":"Fine `)}, false},
			{"what is curated, in another order", []string{storetest.ChangedShopLine("node", "tools", `["chalk","drill-draft","frame","anvil"]`, `["anvil","drill-draft","frame","chalk"]`)}, false},
			{"what is attached", []string{storetest.ChangedShopLine("node", "tools", `{"type":"product","id":"anvil"},`, ``)}, false},
		} {
			for _, form := range []string{"delta", "whole"} {
				if form == "whole" && !c.same {
					continue
				}
				t.Run(c.name+", "+form, func(t *testing.T) {
					s, before, rows := stores[form], served(), 0
					for _, line := range c.lines {
						storetest.Import(t, s, line+"\n")
					}
					rows = storetest.CountRows(t, backend.SQL(t), "release")
					release, err := s.Publisher.Publish(t.Context(), storetest.Actor, "main", nil)
					require.NoError(t, err)
					require.Equal(t, served(), release.UUID())
					require.Equal(t, c.same, before == release.UUID())
					if c.same {
						require.Equal(t, rows, storetest.CountRows(t, backend.SQL(t), "release"), "no rows remain")
						again, err := s.Publisher.Publish(t.Context(), storetest.Actor, "main", nil)
						require.NoError(t, err)
						require.Equal(t, release, again, "the current release")
						storetest.RequireNoOrphans(t, backend.SQL(t))
					}
				})
			}
		}
	}
}

func TestManyFilesChangedBack(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t, storetest.WithClock(testkit.NewClock(testkit.Noon)))
		files := func(name string) string {
			var lines []string
			for i := range compare.AtOnce + 10 {
				lines = append(lines, `{"type":"file","id":"many-`+strconv.Itoa(i)+`","file_name":"`+name+`","link":{"href":"https://cdn.example/a.jpg"}}`)
			}
			return storetest.JoinLines(lines...)
		}
		storetest.Import(t, s, storetest.ShopFile)
		storetest.Import(t, s, files("one.jpg"))
		before, err := s.Publisher.Publish(t.Context(), storetest.Actor, "main", nil)
		require.NoError(t, err)
		storetest.Import(t, s, files("other.jpg"))
		storetest.Import(t, s, files("one.jpg"))
		after, err := s.Publisher.Publish(t.Context(), storetest.Actor, "main", nil)
		require.NoError(t, err)
		require.Equal(t, before.ID, after.ID, "it shows the same")
	})
}
