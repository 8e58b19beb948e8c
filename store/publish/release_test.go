package publish_test

import (
	"context"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestReleases checks releases over time: what is read does not change, old releases are kept
// for a while, and sweeps leave nothing behind.
func TestReleases(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("a cursor continues in its own release", releaseCursor(backend))
		t.Run("a cursor of a swept release is CURSOR_EXPIRED", releaseExpired(backend))
		t.Run("a cursor of another shopper's catalog is CURSOR_EXPIRED", releaseOfAnother(backend))
		t.Run("the newest three releases are kept", releaseNewestKept(backend))
		t.Run("up to twenty releases of the last hour are kept", releaseLastHourKept(backend))
		t.Run("paging continues while the catalog is published", releasePaged(backend))
		t.Run("publishing without changes makes no release", releaseUnchanged(backend))
		t.Run("list of releases with differences", releasesListed(backend))
		t.Run("roll back", releaseRolledBack(backend))
		t.Run("a later release than before is no roll-back", releaseServedLater(backend))
		t.Run("a rollback holds until the next publication", releaseHeld(backend))
		t.Run("a rollback to what is authored also ends with a publication", releaseHeldUnchanged(backend))
		t.Run("publications that began earlier do not undo a rollback", releaseHeldEarlierPublish(backend))
		t.Run("preview", releasePreviewed(backend))
		t.Run("roll back during a sweep", releaseSweptAndServed(backend))
		t.Run("a view outlives a publication", releaseViewed(backend))
		t.Run("another server serves the new release soon", releaseOtherServer(backend))
		t.Run("an interrupted publication stays invisible and is swept", releaseInterrupted(backend))
		t.Run("two catalogs published concurrently", releaseTwoCatalogs(backend))
		t.Run("one catalog published twice concurrently", releaseSameCatalog(backend))
		t.Run("a reader sees one complete release", releaseReadConcurrently(backend))
	})
}

func releaseCursor(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenPublished(t, backend)
		name, cursor := storetest.FirstPage(t, storetest.View(t, s, release.ShopperContext{}))
		require.Equal(t, "Glue", name)
		storetest.RenameProducts(t, s, "New")
		storetest.ReorderShop(t, s, 1)
		storetest.Publish(t, s, "main")
		v := storetest.View(t, s, release.ShopperContext{})
		name, fresh := storetest.FirstPage(t, v)
		require.Equal(t, "New Glue", name)
		for after, want := range map[string]string{cursor: "Kit", fresh: "New Kit"} {
			slice, err := storetest.NextPage(v, after)
			require.NoError(t, err)
			require.Equal(t, want, slice.Items[0].Name())
			again, err := storetest.NextPage(v, slice.Cursors()[0])
			require.NoError(t, err)
			require.Equal(t, strings.Replace(want, "Kit", "Anvil", 1), again.Items[0].Name())
		}
		before, err := v.Products(t.Context(), release.ProductQuery{Page: store.Page{Last: new(1), Before: &cursor}})
		require.NoError(t, err)
		require.Empty(t, before.Items)
		_, err = v.Products(t.Context(), release.ProductQuery{Page: store.Page{After: &cursor, Before: &fresh}})
		require.Error(t, err, "cursors of two releases cannot bound a page")
	}
}

func releaseExpired(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		s := storetest.OpenPublished(t, backend, storetest.WithClock(clock), storetest.WithoutDeltas)
		bare := backend.Open(t, storetest.WithClock(clock), func(config *shop.Config) { config.NoCache = true })
		before := storetest.View(t, s, release.ShopperContext{})
		_, cursor := storetest.FirstPage(t, before)
		tools, err := before.Products(t.Context(), release.ProductQuery{NodeID: "tools", Page: store.Page{First: new(1)}})
		require.NoError(t, err)
		nodes, err := before.Nodes(t.Context(), release.NodeQuery{Page: store.Page{First: new(1)}})
		require.NoError(t, err)
		clock.Advance(time.Minute)
		storetest.RenameProducts(t, s, "Second")
		storetest.ReorderShop(t, s, 0)
		storetest.Publish(t, s, "main")
		clock.Advance(24 * time.Hour)
		storetest.RenameProducts(t, s, "Third")
		storetest.ReorderShop(t, s, 1)
		storetest.Publish(t, s, "main")
		for name, s := range map[string]*shop.Store{"cached": s, "not cached": bare} {
			_, err := storetest.NextPage(storetest.View(t, s, release.ShopperContext{}), cursor)
			require.NoError(t, err, "%s: the release is among the newest three", name)
		}
		storetest.RenameProducts(t, s, "Fourth")
		storetest.ReorderShop(t, s, 2)
		storetest.Publish(t, s, "main")
		require.NoError(t, s.Sweep(t.Context()))
		require.Equal(t, "0", storetest.QueryText(t, backend.SQL(t), `SELECT COUNT(*) FROM release WHERE id = `+strconv.FormatInt(before.Release.ID, 10)))
		storetest.RequireNoOrphans(t, backend.SQL(t))
		for name, s := range map[string]*shop.Store{"cached": s, "not cached": bare} {
			t.Run(name, func(t *testing.T) {
				v := storetest.View(t, s, release.ShopperContext{})
				_, err := storetest.NextPage(v, cursor)
				storetest.RequireError(t, err, store.CursorExpired, "after", "no longer kept")
				_, err = v.Products(t.Context(), release.ProductQuery{NodeID: "tools", Page: store.Page{Before: &tools.Cursors()[0]}})
				storetest.RequireError(t, err, store.CursorExpired, "before")
				_, err = v.Nodes(t.Context(), release.NodeQuery{Page: store.Page{After: &nodes.Cursors()[0]}})
				storetest.RequireError(t, err, store.CursorExpired, "after")
			})
		}
	}
}

func releaseOfAnother(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenPublished(t, backend)
		_, cursor := storetest.FirstPage(t, storetest.View(t, s, release.ShopperContext{}))
		_, err := storetest.NextPage(storetest.OutletView(t, s, release.ShopperContext{}), cursor)
		storetest.RequireError(t, err, store.CursorExpired, "after")
	}
}

func releaseNewestKept(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		s := backend.Open(t, storetest.WithClock(clock), storetest.WithoutDeltas)
		storetest.Import(t, s, storetest.ShopFile)
		var cursors []string
		for i := range 5 {
			storetest.RenameProducts(t, s, "New"+strconv.Itoa(i))
			storetest.ReorderShop(t, s, i)
			storetest.Publish(t, s, "main")
			clock.Advance(2 * time.Hour)
			_, cursor := storetest.FirstPage(t, storetest.View(t, s, release.ShopperContext{}))
			cursors = append(cursors, cursor)
		}
		require.NoError(t, s.Sweep(t.Context()))
		require.Equal(t, "3", storetest.QueryText(t, backend.SQL(t), `SELECT COUNT(*) FROM release`))
		storetest.RequireNoOrphans(t, backend.SQL(t))
		v := storetest.View(t, s, release.ShopperContext{})
		for i, cursor := range cursors {
			_, err := storetest.NextPage(v, cursor)
			if i < 2 {
				require.True(t, store.HasCode(err, store.CursorExpired), "release %d: %v", i+1, err)
			} else {
				require.NoError(t, err)
			}
		}
	}
}

func releaseViewed(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenPublished(t, backend, func(config *shop.Config) { config.NoCache = true })
		v := storetest.View(t, s, release.ShopperContext{})
		want := storetest.ProductIDs(t, v, release.ProductQuery{})
		storetest.RenameProducts(t, s, "New")
		storetest.Import(t, s, storetest.JoinLines(storetest.ChangedShopLine("node", "tools", `{"type":"product","id":"anvil"},`, ``)))
		storetest.Publish(t, s, "main")
		require.Equal(t, want, storetest.ProductIDs(t, v, release.ProductQuery{}))
		require.Equal(t, []string{"brush", "chalk", "easel"}, storetest.ProductIDs(t, v, release.ProductQuery{Filter: release.ProductFilter{Terms: []store.Term{{Attribute: "tags", Operator: "eq", Values: []string{"paint"}}}}}))
		require.Equal(t, "Frame", storetest.FindProduct(t, v, "frame").Name())
		require.Equal(t, "New Anvil", storetest.FindProduct(t, storetest.View(t, s, release.ShopperContext{}), "anvil").Name())
	}
}

func releaseOtherServer(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		here, there := storetest.OpenPublished(t, backend), backend.Open(t)
		for _, version := range []string{"First", "Second"} {
			storetest.RenameProducts(t, here, version)
			storetest.Publish(t, here, "main")
			testkit.Eventually(t, version+" Anvil", func() string {
				return storetest.FindProduct(t, storetest.View(t, there, release.ShopperContext{}), "anvil").Name()
			})
		}
	}
}

func releaseInterrupted(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		backend.FullTestsOnlyOnPostgres(t)
		clock := testkit.NewClock(testkit.Noon)
		s, db := backend.Open(t, storetest.WithClock(clock)), backend.SQL(t)
		storetest.Import(t, s, storetest.ShopFile+storetest.GenerateShop(t, 1300, 6))
		catalogs, err := s.Releases.CatalogIDs(t.Context())
		require.NoError(t, err)
		require.Len(t, catalogs, 3)
		big := catalogs[0]
		newest, err := s.Publisher.Publish(t.Context(), storetest.Actor, big, nil)
		require.NoError(t, err)
		v := storetest.View(t, s, release.ShopperContext{})
		require.Equal(t, newest.ID, v.Release.ID)
		want := storetest.ProductIDs(t, v, release.ProductQuery{})

		interrupt := func() {
			ctx, cancel := context.WithCancel(t.Context())
			_, err := s.Publisher.Publish(ctx, storetest.Actor, big, func(int, int) { cancel() })
			require.ErrorIs(t, err, context.Canceled)
			cancel()
		}
		storetest.Import(t, s, strings.ReplaceAll(storetest.GenerateShop(t, 1300, 6), "warranty of", "guarantee of"))
		interrupt()
		require.Equal(t, 2, storetest.CountRows(t, db, "release"))
		require.Greater(t, storetest.CountRows(t, db, `release_file WHERE release_id <> `+strconv.FormatInt(newest.ID, 10)), 0)
		again := storetest.View(t, backend.Open(t, storetest.WithClock(clock)), release.ShopperContext{})
		require.Equal(t, newest.ID, again.Release.ID)
		require.Equal(t, want, storetest.ProductIDs(t, again, release.ProductQuery{}))

		require.NoError(t, s.Sweep(t.Context()))
		require.Equal(t, 2, storetest.CountRows(t, db, "release"), "it may still be running")
		storetest.AgeBuilds(t, db)
		interrupt() // while the previous one is swept
		storetest.AgeBuilds(t, db)
		require.NoError(t, s.Sweep(t.Context()))
		require.Equal(t, 1, storetest.CountRows(t, db, "release"))
		storetest.RequireNoOrphans(t, db)
		require.Equal(t, want, storetest.ProductIDs(t, storetest.View(t, s, release.ShopperContext{}), release.ProductQuery{}))
		storetest.Publish(t, s, big)
		require.Equal(t, want, storetest.ProductIDs(t, storetest.View(t, s, release.ShopperContext{}), release.ProductQuery{}))
	}
}

// publishAll publishes catalogs concurrently, each on its own store.
func publishAll(t *testing.T, stores []*shop.Store, catalogs []string) {
	t.Helper()
	failures := make([]error, len(catalogs))
	var group sync.WaitGroup
	for i, catalog := range catalogs {
		group.Go(func() {
			_, failures[i] = stores[i%len(stores)].Publisher.Publish(context.Background(), storetest.Actor, catalog, nil)
		})
	}
	group.Wait()
	for i, failure := range failures {
		require.NoError(t, failure, catalogs[i])
	}
}

func releaseTwoCatalogs(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		stores, db := []*shop.Store{backend.Open(t, storetest.WithoutDeltas), backend.Open(t, storetest.WithoutDeltas)}, backend.SQL(t)
		s := stores[0]
		// Two catalogs of the same products.
		text := storetest.GenerateShop(t, testkit.QuickOrFull(300, 1100), 8)
		for line := range strings.Lines(text) {
			if storetest.LineType(line) == "catalog" {
				text += strings.Replace(line, `"id":"`, `"id":"a`, 1)
			}
		}
		storetest.Import(t, s, text)
		catalogs, err := s.Releases.CatalogIDs(t.Context())
		require.NoError(t, err)
		for i := range 3 {
			for line := range strings.Lines(text) {
				if storetest.LineType(line) == "node" {
					storetest.Import(t, s, strings.Replace(line, `"name":"`, `"name":"`+strconv.Itoa(i), 1))
				}
			}
			publishAll(t, stores, catalogs)
		}
		require.NoError(t, s.Sweep(t.Context()))
		storetest.RequireNoOrphans(t, db)
		require.Equal(t, 0, storetest.CountRows(t, db, `release WHERE state <> 'published'`))
		require.Equal(t, 2, storetest.CountRows(t, db, `catalog WHERE release_id IS NOT NULL`))
		require.NotEmpty(t, storetest.ProductIDs(t, storetest.View(t, s, release.ShopperContext{}), release.ProductQuery{}))
	}
}

func releaseSameCatalog(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		stores, db := []*shop.Store{backend.Open(t, storetest.WithClock(clock)), backend.Open(t, storetest.WithClock(clock))}, backend.SQL(t)
		storetest.Import(t, stores[0], storetest.ShopFile)
		for i := range 4 {
			clock.Advance(2 * time.Hour)
			storetest.RenameProducts(t, stores[0], strconv.Itoa(i))
			publishAll(t, stores, []string{"main", "main"})
		}
		require.NoError(t, stores[0].Sweep(t.Context()))
		require.Equal(t, 3, storetest.CountRows(t, db, "release WHERE base_id <> 0"))
		require.Equal(t, 1, storetest.CountRows(t, db, "release WHERE superseded_at = 0"), "one current release")
		storetest.RequireNoOrphans(t, db)
	}
}

func releaseReadConcurrently(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenPublished(t, backend)
		storetest.RenameProducts(t, s, "v0")
		storetest.Publish(t, s, "main")
		ctx, stop := context.WithCancel(t.Context())
		var group sync.WaitGroup
		for _, reader := range []*shop.Store{s, backend.Open(t, func(config *shop.Config) { config.NoCache = true })} {
			group.Go(func() {
				defer func() {
					if p := recover(); p != nil {
						t.Errorf("a reader panicked: %v\n%s", p, debug.Stack())
					}
				}()
				for n := 0; ctx.Err() == nil; n++ {
					if wrong := readWhole(reader, n); wrong != "" {
						t.Error(wrong)
						return
					}
					time.Sleep(time.Millisecond) // lets the publisher run
				}
			})
		}
		for i := range 6 {
			storetest.RenameProducts(t, s, "v"+strconv.Itoa(i+1))
			storetest.Publish(t, s, "main")
		}
		stop()
		group.Wait()
	}
}

// readWhole pages through all products in one of several ways, each page in a new view, and
// returns what was wrong: a product that is missing or shown twice, or an older release.
func readWhole(s *shop.Store, way int) string {
	recent, _ := store.NewRange("updated_at", "gt", "2000-01-01")
	queries := []release.ProductQuery{
		{}, {Sort: store.Sort{By: store.SortCreatedAt, Descending: true}},
		{Sort: store.Sort{By: store.SortID}, Filter: release.ProductFilter{Ranges: []store.Range{recent}}},
		{Sort: store.Sort{By: store.SortUpdatedAt}, Filter: release.ProductFilter{Ranges: []store.Range{recent}}},
	}
	query, version, seen := queries[way%len(queries)], "", 0
	query.Page.First = new(1)
	for {
		v, err := s.Releases.View(context.Background(), release.ShopperContext{})
		if err != nil {
			return err.Error()
		}
		slice, err := v.Products(context.Background(), query)
		if store.HasCode(err, store.CursorExpired) {
			return ""
		}
		if err != nil {
			return err.Error()
		}
		name, _, _ := strings.Cut(slice.Items[0].Name(), " ")
		// A list in a stored order, which no publication here changes, goes on in the latest release.
		goesOn := len(query.Filter.Ranges) == 0
		if version == "" || goesOn && version < name {
			version = name
		}
		if version != name {
			return "a page of " + name + " after one of " + version
		}
		if seen++; !slice.HasNext {
			break
		}
		query.Page.After = &slice.Cursors()[0]
	}
	if seen != 8 {
		return "a walk of " + strconv.Itoa(seen) + " products"
	}
	return ""
}
