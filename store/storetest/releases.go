package storetest

import (
	"context"
	"database/sql"
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
)

// Releases is the promise about releases over time: what is read stays as it
// is, old ones are kept for a while, and nothing is left behind.
func Releases(t *testing.T, e Engine) {
	t.Run("a cursor is read on in its own release", releaseFollowed(e))
	t.Run("a cursor into a release that was swept is CURSOR_EXPIRED", releaseExpired(e))
	t.Run("a cursor of a catalog that is not this shopper's is CURSOR_EXPIRED", releaseOfAnother(e))
	t.Run("the newest three releases are kept", releaseKept(e))
	t.Run("what was served within the hour is kept, twenty at most", releaseRemembered(e))
	t.Run("a list is read to its end while its catalog is published", releaseWalked(e))
	t.Run("what would show the same is not published", releaseSame(e))
	t.Run("releases are listed, with what differs", releasesListed(e))
	t.Run("an earlier release is served again", releaseRolledBack(e))
	t.Run("a roll-back holds until somebody publishes", releaseHeld(e))
	t.Run("a roll-back to what is authored ends with the publication", releaseHeldTheSame(e))
	t.Run("what was begun before a roll-back does not undo it", releaseHeldMeanwhile(e))
	t.Run("a preview is seen by those who ask for it", releasePreviewed(e))
	t.Run("a release is served again while it is swept", releaseSweptAndServed(e))
	t.Run("a view made before publishing goes on", releaseViewed(e))
	t.Run("another open store serves the new release soon", releaseElsewhere(e))
	t.Run("releases share the documents that did not change", releaseShared(e))
	t.Run("an interrupted publication is not seen, and is swept", releaseInterrupted(e))
	t.Run("two catalogs are published at once", releaseTogether(e))
	t.Run("one catalog is published twice at once", releaseRaced(e))
	t.Run("a reader who pages through sees one release whole", releaseWhole(e))
}

// withoutDeltas has a store publish no deltas.
func withoutDeltas(config *shop.Config) { config.WholeReleases = true }

// renamed imports the shop with other names of its products.
func renamed(t require.TestingT, s *shop.Store, version string) {
	var lines []string
	for _, line := range Shop() {
		if kindOf(line) == "product" {
			lines = append(lines, strings.Replace(line, `"attributes":{"name":"`, `"attributes":{"name":"`+version+" ", 1))
		}
	}
	imported(t, s, ndjson(lines...))
}

// firstPage is one product of the list of all, and its cursor.
func firstPage(t require.TestingT, v *release.View) (name, cursor string) {
	slice, err := v.Products(context.Background(), release.ProductQuery{Page: store.Page{First: new(1)}})
	require.NoError(t, err)
	require.Len(t, slice.Items, 1)
	return slice.Items[0].Name(), slice.Cursors()[0]
}

func nextPage(v *release.View, cursor string) (*store.Slice[*release.Product], error) {
	return v.Products(context.Background(), release.ProductQuery{Page: store.Page{First: new(1), After: &cursor}})
}

func releaseFollowed(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		s := published(t, e)
		name, cursor := firstPage(t, viewOf(t, s, release.ShopperContext{}))
		require.Equal(t, "Glue", name)
		renamed(t, s, "New")
		publish(t, s, "main")
		v := viewOf(t, s, release.ShopperContext{})
		name, fresh := firstPage(t, v)
		require.Equal(t, "New Glue", name)
		for after, want := range map[string]string{cursor: "Kit", fresh: "New Kit"} {
			slice, err := nextPage(v, after)
			require.NoError(t, err)
			require.Equal(t, want, slice.Items[0].Name())
			again, err := nextPage(v, slice.Cursors()[0])
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

func releaseExpired(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		clock := NewClock(noon)
		s := published(t, e, At(clock), withoutDeltas)
		bare := e.Open(t, At(clock), func(config *shop.Config) { config.NoCache = true })
		before := viewOf(t, s, release.ShopperContext{})
		_, cursor := firstPage(t, before)
		tools, err := before.Products(t.Context(), release.ProductQuery{NodeID: "tools", Page: store.Page{First: new(1)}})
		require.NoError(t, err)
		nodes, err := before.Nodes(t.Context(), release.NodeQuery{Page: store.Page{First: new(1)}})
		require.NoError(t, err)
		clock.Advance(time.Minute)
		renamed(t, s, "Second")
		publish(t, s, "main")
		clock.Advance(24 * time.Hour)
		renamed(t, s, "Third")
		publish(t, s, "main")
		for name, s := range map[string]*shop.Store{"cached": s, "not cached": bare} {
			_, err := nextPage(viewOf(t, s, release.ShopperContext{}), cursor)
			require.NoError(t, err, "%s: a release is kept while it is among the newest three", name)
		}
		renamed(t, s, "Fourth")
		publish(t, s, "main")
		require.NoError(t, s.Sweep(t.Context()))
		require.Equal(t, "0", value(t, e.SQL(t), `SELECT COUNT(*) FROM release WHERE id = `+strconv.FormatInt(before.Release.ID, 10)))
		requireNoLeftovers(t, e.SQL(t))
		for name, s := range map[string]*shop.Store{"cached": s, "not cached": bare} {
			t.Run(name, func(t *testing.T) {
				v := viewOf(t, s, release.ShopperContext{})
				_, err := nextPage(v, cursor)
				requireFault(t, err, store.CursorExpired, "after", "no longer kept")
				_, err = v.Products(t.Context(), release.ProductQuery{NodeID: "tools", Page: store.Page{Before: &tools.Cursors()[0]}})
				requireFault(t, err, store.CursorExpired, "before")
				_, err = v.Nodes(t.Context(), release.NodeQuery{Page: store.Page{After: &nodes.Cursors()[0]}})
				requireFault(t, err, store.CursorExpired, "after")
			})
		}
	}
}

func releaseOfAnother(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		s := published(t, e)
		_, cursor := firstPage(t, viewOf(t, s, release.ShopperContext{}))
		_, err := nextPage(outletView(t, s, release.ShopperContext{}), cursor)
		requireFault(t, err, store.CursorExpired, "after")
	}
}

func releaseKept(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		clock := NewClock(noon)
		s := e.Open(t, At(clock), withoutDeltas)
		imported(t, s, shopFile)
		var cursors []string
		for i := range 5 {
			renamed(t, s, strconv.Itoa(i))
			publish(t, s, "main")
			clock.Advance(2 * time.Hour)
			_, cursor := firstPage(t, viewOf(t, s, release.ShopperContext{}))
			cursors = append(cursors, cursor)
		}
		require.NoError(t, s.Sweep(t.Context()))
		require.Equal(t, "3", value(t, e.SQL(t), `SELECT COUNT(*) FROM release`))
		requireNoLeftovers(t, e.SQL(t))
		v := viewOf(t, s, release.ShopperContext{})
		for i, cursor := range cursors {
			_, err := nextPage(v, cursor)
			if i < 2 {
				require.True(t, store.HasCode(err, store.CursorExpired), "release %d: %v", i+1, err)
			} else {
				require.NoError(t, err)
			}
		}
	}
}

func releaseViewed(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		s := published(t, e, func(config *shop.Config) { config.NoCache = true })
		v := viewOf(t, s, release.ShopperContext{})
		want := listed(t, v, release.ProductQuery{})
		renamed(t, s, "New")
		imported(t, s, ndjson(with("node", "tools", `{"type":"product","id":"anvil"},`, ``)))
		publish(t, s, "main")
		require.Equal(t, want, listed(t, v, release.ProductQuery{}))
		require.Equal(t, []string{"brush", "chalk", "easel"}, listed(t, v, release.ProductQuery{Filter: release.ProductFilter{Terms: []store.Term{{Attribute: "tags", Operator: "eq", Values: []string{"paint"}}}}}))
		require.Equal(t, "Frame", product(t, v, "frame").Name())
		require.Equal(t, "New Anvil", product(t, viewOf(t, s, release.ShopperContext{}), "anvil").Name())
	}
}

func releaseElsewhere(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		here, there := published(t, e), e.Open(t)
		for _, version := range []string{"First", "Second"} {
			renamed(t, here, version)
			publish(t, here, "main")
			Soon(t, version+" Anvil", func() string { return product(t, viewOf(t, there, release.ShopperContext{}), "anvil").Name() })
		}
	}
}

func count(t require.TestingT, db *sql.DB, table string) (n int) {
	require.NoError(t, db.QueryRow(`SELECT COUNT(*) FROM `+table).Scan(&n))
	return n
}

// requireNoLeftovers holds the parts of releases against the releases, and
// the documents against what refers to them.
func requireNoLeftovers(t require.TestingT, db *sql.DB) {
	for _, table := range []string{"release_product", "release_node", "release_file", "release_list", "release_chunk", "release_index", "release_place", "release_sale", "release_word", "release_facet"} {
		require.Zero(t, count(t, db, table+` WHERE release_id NOT IN (SELECT id FROM release)`), table)
	}
	require.Zero(t, count(t, db, `release_row WHERE id / 4294967296 NOT IN (SELECT id FROM release)`), "rows of products")
	used := map[string]bool{}
	for _, query := range []string{`SELECT documents FROM release_product`, `SELECT CAST(crumbs AS TEXT) FROM release_product`, `SELECT CAST(document_id AS TEXT) FROM release_file`} {
		rows, err := db.Query(query)
		require.NoError(t, err)
		defer rows.Close()
		for rows.Next() {
			var text string
			require.NoError(t, rows.Scan(&text))
			for field := range strings.FieldsSeq(text) {
				used[field[strings.Index(field, "=")+1:]] = true
			}
		}
		require.NoError(t, rows.Err())
	}
	require.Equal(t, len(used), count(t, db, "document"), "documents against those in use")
	require.Zero(t, count(t, db, "document_hash WHERE document_id NOT IN (SELECT id FROM document)"), "names of no document")
}

func releaseShared(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		clock := NewClock(noon)
		s, db := published(t, e, At(clock)), e.SQL(t)
		before := count(t, db, "document")
		publish(t, s, "main", "outlet", "main")
		require.Equal(t, before, count(t, db, "document"), "nothing changed")
		imported(t, s, ndjson(with("product", "brush", `"For paint."`, `"For painting."`)))
		publish(t, s, "main")
		require.Equal(t, before+2, count(t, db, "document"), "the texts with that description: the base, and pt-BR, which has none")
		clock.Advance(3 * time.Hour)
		publish(t, s, "main", "outlet")
		require.NoError(t, s.Sweep(t.Context()))
		requireNoLeftovers(t, db)
		require.Equal(t, "For painting.", product(t, viewOf(t, s, release.ShopperContext{}), "brush").Description())
	}
}

func releaseInterrupted(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		OnceIsEnough(t, e)
		clock := NewClock(noon)
		s, db := e.Open(t, At(clock)), e.SQL(t)
		imported(t, s, shopFile+generated(t, 1300, 6))
		catalogs, err := s.CatalogIDs(t.Context())
		require.NoError(t, err)
		require.Len(t, catalogs, 3)
		big := catalogs[0]
		newest, err := s.Publish(t.Context(), actor, big, nil)
		require.NoError(t, err)
		v := viewOf(t, s, release.ShopperContext{})
		require.Equal(t, newest.ID, v.Release.ID)
		want, documents := listed(t, v, release.ProductQuery{}), count(t, db, "document")

		interrupt := func() {
			ctx, cancel := context.WithCancel(t.Context())
			_, err := s.Publish(ctx, actor, big, func(int, int) { cancel() })
			require.ErrorIs(t, err, context.Canceled)
			cancel()
		}
		imported(t, s, strings.ReplaceAll(generated(t, 1300, 6), "warranty of", "guarantee of"))
		interrupt()
		require.Equal(t, 2, count(t, db, "release"))
		require.Greater(t, count(t, db, `release_product WHERE release_id <> `+strconv.FormatInt(newest.ID, 10)), 0)
		again := viewOf(t, e.Open(t, At(clock)), release.ShopperContext{})
		require.Equal(t, newest.ID, again.Release.ID)
		require.Equal(t, want, listed(t, again, release.ProductQuery{}))

		require.NoError(t, s.Sweep(t.Context()))
		require.Equal(t, 2, count(t, db, "release"), "it may still be under way")
		StoodStill(t, db)
		interrupt() // while the one before is swept
		StoodStill(t, db)
		require.NoError(t, s.Sweep(t.Context()))
		require.Equal(t, 1, count(t, db, "release"))
		requireNoLeftovers(t, db)
		require.Equal(t, documents, count(t, db, "document"))
		require.Equal(t, want, listed(t, viewOf(t, s, release.ShopperContext{}), release.ProductQuery{}))
		publish(t, s, big)
		require.Equal(t, want, listed(t, viewOf(t, s, release.ShopperContext{}), release.ProductQuery{}))
	}
}

// StoodStill has releases that are built show no sign of life for two minutes.
func StoodStill(t *testing.T, db *sql.DB) {
	t.Helper()
	_, err := db.Exec(`UPDATE release SET touched_at = touched_at - 120000000 WHERE state = 'building'`)
	require.NoError(t, err)
}

// publishAll publishes catalogs, each by a store of its own, all at once.
func publishAll(t *testing.T, stores []*shop.Store, catalogs []string) {
	t.Helper()
	failures := make([]error, len(catalogs))
	var group sync.WaitGroup
	for i, catalog := range catalogs {
		group.Go(func() { _, failures[i] = stores[i%len(stores)].Publish(context.Background(), actor, catalog, nil) })
	}
	group.Wait()
	for i, failure := range failures {
		require.NoError(t, failure, catalogs[i])
	}
}

func releaseTogether(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		stores, db := []*shop.Store{e.Open(t, withoutDeltas), e.Open(t, withoutDeltas)}, e.SQL(t)
		s := stores[0]
		// Two catalogs of the same products.
		text := generated(t, Pick(300, 1100), 8)
		for line := range strings.Lines(text) {
			if kindOf(line) == "catalog" {
				text += strings.Replace(line, `"id":"`, `"id":"a`, 1)
			}
		}
		imported(t, s, text)
		catalogs, err := s.CatalogIDs(t.Context())
		require.NoError(t, err)
		for i := range 3 {
			for line := range strings.Lines(text) {
				if kindOf(line) == "node" {
					imported(t, s, strings.Replace(line, `"name":"`, `"name":"`+strconv.Itoa(i), 1))
				}
			}
			publishAll(t, stores, catalogs)
		}
		require.NoError(t, s.Sweep(t.Context()))
		requireNoLeftovers(t, db)
		require.Equal(t, 0, count(t, db, `release WHERE state <> 'published'`))
		require.Equal(t, 2, count(t, db, `catalog WHERE release_id IS NOT NULL`))
		require.Equal(t, "1", value(t, db, `SELECT COUNT(DISTINCT documents) FROM release_product WHERE ordinal = 0 AND release_id IN (SELECT release_id FROM catalog)`))
		require.NotEmpty(t, listed(t, viewOf(t, s, release.ShopperContext{}), release.ProductQuery{}))
	}
}

func releaseRaced(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		clock := NewClock(noon)
		stores, db := []*shop.Store{e.Open(t, At(clock)), e.Open(t, At(clock))}, e.SQL(t)
		imported(t, stores[0], shopFile)
		for i := range 4 {
			clock.Advance(2 * time.Hour)
			renamed(t, stores[0], strconv.Itoa(i))
			publishAll(t, stores, []string{"main", "main"})
		}
		_, err := db.Exec(`UPDATE counter SET value = 0 WHERE name = 'documents_due'`)
		require.NoError(t, err)
		require.NoError(t, stores[0].Sweep(t.Context()))
		require.Equal(t, 3, count(t, db, "release WHERE base_id <> 0"))
		require.Equal(t, 1, count(t, db, "release WHERE superseded_at = 0"), "one is served")
		requireNoLeftovers(t, db)
	}
}

func releaseWhole(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		s := published(t, e)
		renamed(t, s, "v0")
		publish(t, s, "main")
		ctx, stop := context.WithCancel(t.Context())
		var group sync.WaitGroup
		for _, reader := range []*shop.Store{s, e.Open(t, func(config *shop.Config) { config.NoCache = true })} {
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
			renamed(t, s, "v"+strconv.Itoa(i+1))
			publish(t, s, "main")
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
