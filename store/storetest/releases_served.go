package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
	"portico/store/shop"
)

// releasesOf writes a catalog's releases on a line, newest first: the served
// one with a star, and what differs.
func releasesOf(t *testing.T, s *shop.Store, catalog string) (ids []string, text string) {
	t.Helper()
	list, err := s.Releases(t.Context(), catalog)
	require.NoError(t, err)
	for _, r := range list {
		served, err := s.Served(t.Context(), r)
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

func releasesListed(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		s := e.Open(t, At(NewClock(noon)))
		imported(t, s, shopFile)
		_, text := releasesOf(t, s, "main")
		require.Empty(t, text)
		_, err := s.Releases(t.Context(), "none")
		requireFault(t, err, store.NotFound, "catalog_id", `"none"`)
		publish(t, s, "main")
		_, text = releasesOf(t, s, "main")
		require.Equal(t, "*+10 ~0 -0; ", text, "eight listed, a child and a component")
		publish(t, s, "main", "outlet")
		_, text = releasesOf(t, s, "main")
		require.Equal(t, "*+10 ~0 -0; ", text, "nothing changed")
		imported(t, s, ndjson(
			with("product", "brush", `"For paint."`, `"For painting."`),                                          // changes
			with("product-price", "vip-anvil", `99900`, `99800`),                                                 // changes the anvil
			with("product", "jar", `"status":"live"`, `"status":"draft"`),                                        // is gone
			with("node", "paints", `{"type":"product","id":"chalk"}`, `{"type":"product","id":"ink-unlisted"}`))) // is new, and chalk loses a node
		publish(t, s, "main")
		_, text = releasesOf(t, s, "main")
		require.Equal(t, "*+1 ~3 -1; +10 ~0 -0; ", text)
	}
}

func releaseRolledBack(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		clock := NewClock(noon)
		here, there := e.Open(t, At(clock)), e.Open(t, At(clock))
		imported(t, here, shopFile)
		for _, version := range []string{"One", "Two", "Three"} {
			renamed(t, here, version)
			publish(t, here, "main")
		}
		seen := func(s *shop.Store) string { return product(t, viewOf(t, s, release.ShopperContext{}), "anvil").Name() }
		ids, _ := releasesOf(t, here, "main")
		for i, want := range []string{"Three Anvil", "Two Anvil", "One Anvil"} {
			release, err := here.ServeRelease(t.Context(), actor, ids[i])
			require.NoError(t, err)
			require.Equal(t, ids[i], release.UUID())
			require.Equal(t, want, seen(here), "at once")
			Soon(t, want, func() string { return seen(there) })
		}
		// The oldest is served: it stays, however many come after it that are not.
		clock.Advance(2 * time.Hour)
		for range 4 {
			_, err := here.Preview(t.Context(), actor, "main", nil)
			require.NoError(t, err)
		}
		require.NoError(t, here.Sweep(t.Context()))
		require.Equal(t, "One Anvil", seen(here))
		kept, _ := releasesOf(t, here, "main")
		require.Len(t, kept, 4, "the newest three, and the served one")
		_, err := here.ServeRelease(t.Context(), actor, ids[1])
		requireFault(t, err, store.NotFound, "release_id", "catalogReleases")
		for _, id := range []string{"", "none", "0", "99999999999999999999", "-1"} {
			_, err := here.ServeRelease(t.Context(), actor, id)
			requireFault(t, err, store.NotFound, "release_id")
		}
		publish(t, here, "main")
		require.Equal(t, "Three Anvil", seen(here), "publishing goes on from what is authored")
	}
}

func releasePreviewed(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		s := e.Open(t)
		imported(t, s, shopFile)
		newest, err := s.Preview(t.Context(), actor, "main", nil)
		require.NoError(t, err)
		_, err = s.View(t.Context(), release.ShopperContext{})
		requireFault(t, err, store.NotFound, "", "No catalog is published")
		ahead := viewOf(t, s, release.ShopperContext{ReleaseID: newest.UUID()})
		require.Equal(t, "Anvil", product(t, ahead, "anvil").Name())
		_, cursor := firstPage(t, ahead)
		slice, err := nextPage(ahead, cursor)
		require.NoError(t, err)
		require.Equal(t, "Kit", slice.Items[0].Name())

		renamed(t, s, "New")
		publish(t, s, "main")
		require.Equal(t, "Anvil", product(t, ahead, "anvil").Name())
		_, err = nextPage(viewOf(t, s, release.ShopperContext{}), cursor)
		requireFault(t, err, store.CursorExpired, "after") // a cursor does not let anyone in
		_, err = s.ServeRelease(t.Context(), actor, newest.UUID())
		require.NoError(t, err)
		v := viewOf(t, s, release.ShopperContext{})
		require.Equal(t, "Anvil", product(t, v, "anvil").Name())
		_, err = nextPage(v, cursor)
		require.NoError(t, err)
		for _, id := range []string{"none", "999"} {
			_, err = s.View(t.Context(), release.ShopperContext{ReleaseID: id})
			requireFault(t, err, store.NotFound, "")
		}
	}
}

// A release that is served again is not taken away by a sweep that found it
// superseded, whichever comes first.
func releaseSweptAndServed(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		clock := NewClock(noon)
		s, other := e.Open(t, At(clock), withoutDeltas), e.Open(t, At(clock), withoutDeltas)
		imported(t, s, shopFile)
		for round := range 4 {
			for i := range 4 {
				clock.Advance(time.Hour)
				renamed(t, s, fmt.Sprint(round, i))
				publish(t, s, "main")
			}
			ids, _ := releasesOf(t, s, "main")
			oldest := ids[len(ids)-1]
			var served, swept error
			var both sync.WaitGroup
			both.Go(func() { _, served = s.ServeRelease(t.Context(), actor, oldest) })
			both.Go(func() { swept = other.Sweep(t.Context()) })
			both.Wait()
			require.NoError(t, swept)
			if served != nil {
				requireFault(t, served, store.NotFound, "release_id")
			}
			require.NotEmpty(t, listed(t, viewOf(t, s, release.ShopperContext{}), release.ProductQuery{}))
			requireNoLeftovers(t, e.SQL(t))
		}
	}
}
