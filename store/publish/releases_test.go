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
)

// TestReleases is the promise about releases over time: what is read stays as it
// is, old ones are kept for a while, and nothing is left behind.
func TestReleases(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("a cursor is read on in its own release", releaseFollowed(backend))
		t.Run("a cursor into a release that was swept is CURSOR_EXPIRED", releaseExpired(backend))
		t.Run("a cursor of a catalog that is not this shopper's is CURSOR_EXPIRED", releaseOfAnother(backend))
		t.Run("the newest three releases are kept", releaseKept(backend))
		t.Run("what was served within the hour is kept, twenty at most", releaseRemembered(backend))
		t.Run("a list is read to its end while its catalog is published", releaseWalked(backend))
		t.Run("what would show the same is not published", releaseSame(backend))
		t.Run("releases are listed, with what differs", releasesListed(backend))
		t.Run("an earlier release is served again", releaseRolledBack(backend))
		t.Run("a roll-back holds until somebody publishes", releaseHeld(backend))
		t.Run("a roll-back to what is authored ends with the publication", releaseHeldTheSame(backend))
		t.Run("what was begun before a roll-back does not undo it", releaseHeldMeanwhile(backend))
		t.Run("a preview is seen by those who ask for it", releasePreviewed(backend))
		t.Run("a release is served again while it is swept", releaseSweptAndServed(backend))
		t.Run("a view made before publishing goes on", releaseViewed(backend))
		t.Run("another open store serves the new release soon", releaseElsewhere(backend))
		t.Run("releases share the documents that did not change", releaseShared(backend))
		t.Run("an interrupted publication is not seen, and is swept", releaseInterrupted(backend))
		t.Run("two catalogs are published at once", releaseTogether(backend))
		t.Run("one catalog is published twice at once", releaseRaced(backend))
		t.Run("a reader who pages through sees one release whole", releaseWhole(backend))
	})
}

func releaseFollowed(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenPublished(t, backend)
		name, cursor := storetest.FirstPage(t, storetest.View(t, s, release.ShopperContext{}))
		require.Equal(t, "Glue", name)
		storetest.RenameProducts(t, s, "New")
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
		require.Error(t, err, "two cursors of two releases have no page between them")
	}
}

func releaseExpired(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := storetest.NewClock(storetest.Noon)
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
		storetest.Publish(t, s, "main")
		clock.Advance(24 * time.Hour)
		storetest.RenameProducts(t, s, "Third")
		storetest.Publish(t, s, "main")
		for name, s := range map[string]*shop.Store{"cached": s, "not cached": bare} {
			_, err := storetest.NextPage(storetest.View(t, s, release.ShopperContext{}), cursor)
			require.NoError(t, err, "%s: a release is kept while it is among the newest three", name)
		}
		storetest.RenameProducts(t, s, "Fourth")
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

func releaseKept(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := storetest.NewClock(storetest.Noon)
		s := backend.Open(t, storetest.WithClock(clock), storetest.WithoutDeltas)
		storetest.Import(t, s, storetest.ShopFile)
		var cursors []string
		for i := range 5 {
			storetest.RenameProducts(t, s, strconv.Itoa(i))
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

func releaseElsewhere(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		here, there := storetest.OpenPublished(t, backend), backend.Open(t)
		for _, version := range []string{"First", "Second"} {
			storetest.RenameProducts(t, here, version)
			storetest.Publish(t, here, "main")
			storetest.Eventually(t, version+" Anvil", func() string {
				return storetest.FindProduct(t, storetest.View(t, there, release.ShopperContext{}), "anvil").Name()
			})
		}
	}
}

func releaseShared(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := storetest.NewClock(storetest.Noon)
		s, db := storetest.OpenPublished(t, backend, storetest.WithClock(clock)), backend.SQL(t)
		before := storetest.CountRows(t, db, "document")
		storetest.Publish(t, s, "main", "outlet", "main")
		require.Equal(t, before, storetest.CountRows(t, db, "document"), "nothing changed")
		storetest.Import(t, s, storetest.JoinLines(storetest.ChangedShopLine("product", "brush", `"For paint."`, `"For painting."`)))
		storetest.Publish(t, s, "main")
		require.Equal(t, before+2, storetest.CountRows(t, db, "document"), "the texts with that description: the base, and pt-BR, which has none")
		clock.Advance(3 * time.Hour)
		storetest.Publish(t, s, "main", "outlet")
		require.NoError(t, s.Sweep(t.Context()))
		storetest.RequireNoOrphans(t, db)
		require.Equal(t, "For painting.", storetest.FindProduct(t, storetest.View(t, s, release.ShopperContext{}), "brush").Description())
	}
}

func releaseInterrupted(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		storetest.FullTestsOnlyOnPostgres(t, backend)
		clock := storetest.NewClock(storetest.Noon)
		s, db := backend.Open(t, storetest.WithClock(clock)), backend.SQL(t)
		storetest.Import(t, s, storetest.ShopFile+storetest.GenerateShop(t, 1300, 6))
		catalogs, err := s.CatalogIDs(t.Context())
		require.NoError(t, err)
		require.Len(t, catalogs, 3)
		big := catalogs[0]
		newest, err := s.Publish(t.Context(), storetest.Actor, big, nil)
		require.NoError(t, err)
		v := storetest.View(t, s, release.ShopperContext{})
		require.Equal(t, newest.ID, v.Release.ID)
		want, documents := storetest.ProductIDs(t, v, release.ProductQuery{}), storetest.CountRows(t, db, "document")

		interrupt := func() {
			ctx, cancel := context.WithCancel(t.Context())
			_, err := s.Publish(ctx, storetest.Actor, big, func(int, int) { cancel() })
			require.ErrorIs(t, err, context.Canceled)
			cancel()
		}
		storetest.Import(t, s, strings.ReplaceAll(storetest.GenerateShop(t, 1300, 6), "warranty of", "guarantee of"))
		interrupt()
		require.Equal(t, 2, storetest.CountRows(t, db, "release"))
		require.Greater(t, storetest.CountRows(t, db, `release_product WHERE release_id <> `+strconv.FormatInt(newest.ID, 10)), 0)
		again := storetest.View(t, backend.Open(t, storetest.WithClock(clock)), release.ShopperContext{})
		require.Equal(t, newest.ID, again.Release.ID)
		require.Equal(t, want, storetest.ProductIDs(t, again, release.ProductQuery{}))

		require.NoError(t, s.Sweep(t.Context()))
		require.Equal(t, 2, storetest.CountRows(t, db, "release"), "it may still be under way")
		storetest.AgeBuilds(t, db)
		interrupt() // while the one before is swept
		storetest.AgeBuilds(t, db)
		require.NoError(t, s.Sweep(t.Context()))
		require.Equal(t, 1, storetest.CountRows(t, db, "release"))
		storetest.RequireNoOrphans(t, db)
		require.Equal(t, documents, storetest.CountRows(t, db, "document"))
		require.Equal(t, want, storetest.ProductIDs(t, storetest.View(t, s, release.ShopperContext{}), release.ProductQuery{}))
		storetest.Publish(t, s, big)
		require.Equal(t, want, storetest.ProductIDs(t, storetest.View(t, s, release.ShopperContext{}), release.ProductQuery{}))
	}
}

// publishAll publishes catalogs, each by a store of its own, all at once.
func publishAll(t *testing.T, stores []*shop.Store, catalogs []string) {
	t.Helper()
	failures := make([]error, len(catalogs))
	var group sync.WaitGroup
	for i, catalog := range catalogs {
		group.Go(func() {
			_, failures[i] = stores[i%len(stores)].Publish(context.Background(), storetest.Actor, catalog, nil)
		})
	}
	group.Wait()
	for i, failure := range failures {
		require.NoError(t, failure, catalogs[i])
	}
}

func releaseTogether(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		stores, db := []*shop.Store{backend.Open(t, storetest.WithoutDeltas), backend.Open(t, storetest.WithoutDeltas)}, backend.SQL(t)
		s := stores[0]
		// Two catalogs of the same products.
		text := storetest.GenerateShop(t, storetest.QuickOrFull(300, 1100), 8)
		for line := range strings.Lines(text) {
			if storetest.LineType(line) == "catalog" {
				text += strings.Replace(line, `"id":"`, `"id":"a`, 1)
			}
		}
		storetest.Import(t, s, text)
		catalogs, err := s.CatalogIDs(t.Context())
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
		require.Equal(t, "1", storetest.QueryText(t, db, `SELECT COUNT(DISTINCT documents) FROM release_product WHERE ordinal = 0 AND release_id IN (SELECT release_id FROM catalog)`))
		require.NotEmpty(t, storetest.ProductIDs(t, storetest.View(t, s, release.ShopperContext{}), release.ProductQuery{}))
	}
}

func releaseRaced(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := storetest.NewClock(storetest.Noon)
		stores, db := []*shop.Store{backend.Open(t, storetest.WithClock(clock)), backend.Open(t, storetest.WithClock(clock))}, backend.SQL(t)
		storetest.Import(t, stores[0], storetest.ShopFile)
		for i := range 4 {
			clock.Advance(2 * time.Hour)
			storetest.RenameProducts(t, stores[0], strconv.Itoa(i))
			publishAll(t, stores, []string{"main", "main"})
		}
		_, err := db.Exec(`UPDATE counter SET value = 0 WHERE name = 'documents_due'`)
		require.NoError(t, err)
		require.NoError(t, stores[0].Sweep(t.Context()))
		require.Equal(t, 3, storetest.CountRows(t, db, "release WHERE base_id <> 0"))
		require.Equal(t, 1, storetest.CountRows(t, db, "release WHERE superseded_at = 0"), "one is served")
		storetest.RequireNoOrphans(t, db)
	}
}

func releaseWhole(backend storetest.Backend) func(*testing.T) {
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
						t.Errorf("a reader panics: %v\n%s", p, debug.Stack())
					}
				}()
				for n := 0; ctx.Err() == nil; n++ {
					if wrong := readWhole(reader, n); wrong != "" {
						t.Error(wrong)
						return
					}
					time.Sleep(time.Millisecond) // leave the publisher its turn
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

// readWhole pages through all products in one of several ways, one by one,
// each page in a new view, and tells what was wrong.
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
		v, err := s.View(context.Background(), release.ShopperContext{})
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
		if version == "" {
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
