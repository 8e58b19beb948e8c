package publish_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/audit"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// releasesOf returns the IDs of a catalog's releases, newest first, and a line of their
// differences with a star at the current one.
func releasesOf(t *testing.T, s *shop.Store, catalog string) (ids []string, text string) {
	t.Helper()
	list, err := s.Releases.List(t.Context(), catalog)
	require.NoError(t, err)
	for _, r := range list {
		served, err := s.Releases.Served(t.Context(), r)
		require.NoError(t, err)
		star := ""
		if served {
			star = "*"
		}
		ids = append(ids, r.UUID())
		text += fmt.Sprintf("%s+%d ~%d -%d; ", star, r.Added, r.Changed, r.Removed)
	}
	return ids, text
}

func releasesListed(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t, storetest.WithClock(testkit.NewClock(testkit.Noon)))
		storetest.Import(t, s, storetest.ShopFile)
		_, text := releasesOf(t, s, "main")
		require.Empty(t, text)
		_, err := s.Releases.List(t.Context(), "none")
		storetest.RequireError(t, err, store.NotFound, "catalog_id", `"none"`)
		storetest.Publish(t, s, "main")
		_, text = releasesOf(t, s, "main")
		require.Equal(t, "*+10 ~0 -0; ", text, "eight listed products, a child and a component")
		storetest.Publish(t, s, "main", "outlet")
		_, text = releasesOf(t, s, "main")
		require.Equal(t, "*+10 ~0 -0; ", text, "no change")
		storetest.Import(t, s, storetest.JoinLines(
			storetest.ChangedShopLine("product", "brush", `"For paint."`, `"For painting."`),                                          // changes
			storetest.ChangedShopLine("product-price", "vip-anvil", `99900`, `99800`),                                                 // changes anvil
			storetest.ChangedShopLine("product", "jar", `"status":"live"`, `"status":"draft"`),                                        // removes jar
			storetest.ChangedShopLine("node", "paints", `{"type":"product","id":"chalk"}`, `{"type":"product","id":"ink-unlisted"}`))) // adds ink-unlisted, and chalk loses a node
		storetest.Publish(t, s, "main")
		_, text = releasesOf(t, s, "main")
		require.Equal(t, "*+1 ~3 -1; +10 ~0 -0; ", text)
	}
}

// releaseServedLater serves releases in any order. A catalog is rolled back if it serves a lower number than before, also while it
// is held below the highest one.
func releaseServedLater(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.ShopFile)
		for _, version := range []string{"One", "Two", "Three"} {
			storetest.RenameProducts(t, s, version)
			storetest.Publish(t, s, "main")
		}
		ids, _ := releasesOf(t, s, "main")
		for _, step := range []struct {
			release int
			action  store.AuditAction
			held    bool
		}{{2, store.AuditRolledBack, true}, {1, store.AuditPublished, true}, {2, store.AuditRolledBack, true}, {0, store.AuditPublished, false}} {
			_, err := s.Releases.Serve(t.Context(), storetest.Actor, ids[step.release])
			require.NoError(t, err)
			found, err := s.Audit.Events(t.Context(), audit.Filter{Kind: store.AuditCatalog}, store.Page{First: new(1)})
			require.NoError(t, err)
			require.Equal(t, step.action, found.Items[0].Action, "release %s", ids[step.release])
			held, err := s.Releases.HeldCatalogs(t.Context())
			require.NoError(t, err)
			require.Equal(t, step.held, len(held) > 0)
		}
	}
}

func releaseRolledBack(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		here, there := backend.Open(t, storetest.WithClock(clock)), backend.Open(t, storetest.WithClock(clock))
		storetest.Import(t, here, storetest.ShopFile)
		for _, version := range []string{"One", "Two", "Three"} {
			storetest.RenameProducts(t, here, version)
			storetest.Publish(t, here, "main")
		}
		seen := func(s *shop.Store) string {
			return storetest.FindProduct(t, storetest.View(t, s, release.ShopperContext{}), "anvil").Name()
		}
		ids, _ := releasesOf(t, here, "main")
		// Cursors of every kind of list into each release, as shoppers and clients with catalog:write have them.
		heavy, err := release.NewTerm("tags", "in", []string{"heavy", "paint"})
		require.NoError(t, err)
		const stored = 3 // lists that are the same in all releases: their cursors go on in the served one
		queries := []release.ProductQuery{{}, {NodeID: "tools"}, {Sort: store.Sort{By: store.SortID}}, {Sort: store.Sort{By: store.SortPrice}},
			{Filter: release.ProductFilter{Terms: []store.Term{heavy}}}, {Variants: release.VariantsParents}}
		page := func(s *shop.Store, releaseID string, query release.ProductQuery, after *string) (*store.Slice[*release.Product], error) {
			query.Page = store.Page{First: new(1), After: after}
			return storetest.View(t, s, release.ShopperContext{ReleaseID: releaseID}).Products(t.Context(), query)
		}
		cursors := map[string][]string{} // by release, of each query
		for _, id := range ids {
			for _, query := range queries {
				first, err := page(here, id, query, nil)
				require.NoError(t, err)
				cursors[id] = append(cursors[id], first.Cursors()[0])
			}
		}
		requireCursors := func(s *shop.Store, id string, goesOn bool, why string) {
			for i, query := range queries {
				next, err := page(s, "", query, &cursors[id][i])
				shown := map[string]string{ids[0]: "Three", ids[1]: "Two", ids[2]: "One"}[id]
				switch {
				case i < stored:
					shown, _, _ = strings.Cut(seen(s), " ")
				case !goesOn:
					storetest.RequireError(t, err, store.CursorExpired, "after", "Start again without a cursor")
					continue
				}
				require.NoError(t, err, why)
				require.Equal(t, shown, strings.Fields(next.Items[0].Name())[0], why)
			}
		}
		for i, want := range []string{"Three Anvil", "Two Anvil", "One Anvil"} {
			release, err := here.Releases.Serve(t.Context(), storetest.Actor, ids[i])
			require.NoError(t, err)
			require.Equal(t, ids[i], release.UUID())
			require.Equal(t, want, seen(here), "immediately")
			testkit.Eventually(t, want, func() string { return seen(there) })
			for _, s := range []*shop.Store{here, there} {
				for k, id := range ids {
					requireCursors(s, id, k >= i, "served and not rolled back")
				}
			}
		}
		_, err = here.Releases.Serve(t.Context(), storetest.Actor, ids[1])
		require.NoError(t, err)
		requireCursors(here, ids[1], true, "served again")
		requireCursors(here, ids[2], true, "earlier")
		requireCursors(here, ids[0], false, "still rolled back")
		_, err = here.Releases.Serve(t.Context(), storetest.Actor, ids[2])
		require.NoError(t, err)
		// The oldest is served: it stays, however many come after it that are not.
		clock.Advance(2 * time.Hour)
		for range 4 {
			_, err := here.Publisher.Preview(t.Context(), storetest.Actor, "main", nil)
			require.NoError(t, err)
		}
		require.NoError(t, here.Sweep(t.Context()))
		require.Equal(t, "One Anvil", seen(here))
		kept, _ := releasesOf(t, here, "main")
		require.Len(t, kept, 4, "the newest three and the current one")
		_, err = here.Releases.Serve(t.Context(), storetest.Actor, ids[1])
		storetest.RequireError(t, err, store.NotFound, "release_id", "catalogReleases")
		for _, id := range []string{"", "none", "0", "99999999999999999999", "-1"} {
			_, err := here.Releases.Serve(t.Context(), storetest.Actor, id)
			storetest.RequireError(t, err, store.NotFound, "release_id")
		}
		storetest.Publish(t, here, "main")
		require.Equal(t, "Three Anvil", seen(here), "publishing uses what is authored")
	}
}

func releasePreviewed(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.ShopFile)
		newest, err := s.Publisher.Preview(t.Context(), storetest.Actor, "main", nil)
		require.NoError(t, err)
		_, err = s.Releases.View(t.Context(), release.ShopperContext{})
		storetest.RequireError(t, err, store.NotFound, "", "No catalog is published")
		ahead := storetest.View(t, s, release.ShopperContext{ReleaseID: newest.UUID()})
		require.Equal(t, "Anvil", storetest.FindProduct(t, ahead, "anvil").Name())
		_, cursor := storetest.FirstPage(t, ahead)
		slice, err := storetest.NextPage(ahead, cursor)
		require.NoError(t, err)
		require.Equal(t, "Kit", slice.Items[0].Name())

		storetest.RenameProducts(t, s, "New")
		storetest.Publish(t, s, "main")
		require.Equal(t, "Anvil", storetest.FindProduct(t, ahead, "anvil").Name())
		_, err = storetest.NextPage(storetest.View(t, s, release.ShopperContext{}), cursor)
		storetest.RequireError(t, err, store.CursorExpired, "after") // a cursor does not grant access
		_, err = s.Releases.Serve(t.Context(), storetest.Actor, newest.UUID())
		require.NoError(t, err)
		v := storetest.View(t, s, release.ShopperContext{})
		require.Equal(t, "Anvil", storetest.FindProduct(t, v, "anvil").Name())
		_, err = storetest.NextPage(v, cursor)
		require.NoError(t, err)
		for _, id := range []string{"none", "999"} {
			_, err = s.Releases.View(t.Context(), release.ShopperContext{ReleaseID: id})
			storetest.RequireError(t, err, store.NotFound, "")
		}
	}
}

// releaseSweptAndServed checks that a rollback and a sweep of the same release do not conflict,
// in either order.
func releaseSweptAndServed(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		s, other := backend.Open(t, storetest.WithClock(clock), storetest.WithoutDeltas), backend.Open(t, storetest.WithClock(clock), storetest.WithoutDeltas)
		storetest.Import(t, s, storetest.ShopFile)
		for round := range 4 {
			for i := range 4 {
				clock.Advance(time.Hour)
				storetest.RenameProducts(t, s, fmt.Sprint(round, i))
				storetest.Publish(t, s, "main")
			}
			ids, _ := releasesOf(t, s, "main")
			oldest := ids[len(ids)-1]
			var served, swept error
			var both sync.WaitGroup
			both.Go(func() { _, served = s.Releases.Serve(t.Context(), storetest.Actor, oldest) })
			both.Go(func() { swept = other.Sweep(t.Context()) })
			both.Wait()
			require.NoError(t, swept)
			if served != nil {
				storetest.RequireError(t, served, store.NotFound, "release_id")
			}
			require.NotEmpty(t, storetest.ProductIDs(t, storetest.View(t, s, release.ShopperContext{}), release.ProductQuery{}))
			storetest.RequireNoOrphans(t, backend.SQL(t))
		}
	}
}
