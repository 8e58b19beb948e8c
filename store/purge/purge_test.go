package purge_test

import (
	"database/sql"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/purge"
	"portico/store/release/segment"
	"portico/store/settings"
	"portico/store/shop"
	"portico/store/storetest"
)

// everything is the call for all catalogs.
const everything = "all"

// collected collects the changes and returns the catalogs of the calls that wait. It deletes the calls.
func collected(t *testing.T, s *shop.Store, db *sql.DB) (catalogs []string) {
	t.Helper()
	require.NoError(t, s.Purges.Collect(t.Context()))
	for {
		call, err := s.Purges.Claim(t.Context())
		require.NoError(t, err)
		if call == nil {
			_, err := db.Exec(`DELETE FROM purge_call`)
			require.NoError(t, err)
			return catalogs
		}
		if call.CatalogID == "" {
			require.Zero(t, call.ReleaseID)
			call.CatalogID = everything
		} else {
			require.Equal(t, servedBy(t, db, call.CatalogID), call.ReleaseID)
		}
		catalogs = append(catalogs, call.CatalogID)
	}
}

func servedBy(t *testing.T, db *sql.DB, catalog string) (id int64) {
	t.Helper()
	require.NoError(t, db.QueryRow(`SELECT release_id FROM catalog WHERE id = $1`, catalog).Scan(&id))
	return id
}

// openTwoCatalogs opens a shop with two published catalogs.
func openTwoCatalogs(t *testing.T, backend storetest.Backend) *shop.Store {
	t.Helper()
	s := backend.Open(t)
	storetest.Import(t, s, storetest.ShopFile)
	storetest.Publish(t, s, "main", "outlet")
	return s
}

// TestCollectedChanges: each change of what shoppers see queues the narrowest call that covers it, once.
func TestCollectedChanges(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := openTwoCatalogs(t, backend)
		other := backend.Open(t)
		db := backend.SQL(t)
		require.Equal(t, []string{everything}, collected(t, s, db), "the first time")
		publish := func(version string) string {
			storetest.RenameProducts(t, s, version)
			made, err := s.Publisher.Publish(t.Context(), storetest.Actor, "main", nil)
			require.NoError(t, err)
			return made.UUID()
		}
		serve := func(id string) {
			_, err := s.Releases.Serve(t.Context(), storetest.Actor, id)
			require.NoError(t, err)
		}
		var first, second, preview string
		pageLength, name := 7, "Renamed"
		for _, step := range []struct {
			name   string
			change func()
			want   []string
		}{
			{"nothing", func() {}, nil},
			{"an import alone", func() { storetest.RenameProducts(t, s, "Draft") }, nil},
			{"a publication", func() { first = publish("One") }, []string{"main"}},
			{"two publications", func() { publish("Two"); second = publish("Three") }, []string{"main"}},
			{"a publication that changes nothing", func() { storetest.Publish(t, s, "main") }, nil},
			{"a roll-back", func() { serve(first) }, []string{"main"}},
			{"a roll-back, and back within a moment", func() { serve(second); serve(first) }, []string{"main"}},
			{"its end", func() { serve(second) }, []string{"main"}},
			{"a preview", func() {
				storetest.RenameProducts(t, s, "Four")
				made, err := s.Publisher.Preview(t.Context(), storetest.Actor, "main", nil)
				require.NoError(t, err)
				preview = made.UUID()
			}, nil},
			{"a preview that is served", func() { serve(preview) }, []string{"main"}},
			{"both catalogs", func() {
				storetest.RenameProducts(t, s, "Five")
				storetest.Publish(t, s, "main", "outlet")
			}, []string{"main", "outlet"}},
			{"a rule", func() { storetest.Import(t, s, storetest.OutletRuleLine("night", `"channels":["night"],`)) }, []string{everything}},
			{"the same rule", func() { storetest.Import(t, s, storetest.OutletRuleLine("night", `"channels":["night"],`)) }, nil},
			{"another name of a catalog", func() {
				storetest.Import(t, s, storetest.ChangedShopLine("catalog", "main", `"name":"Main"`, `"name":"`+name+`"`))
			}, nil},
			{"another currency of a catalog", func() {
				storetest.Import(t, s, storetest.ChangedShopLine("catalog", "main", `"name":"Main"`, `"name":"Main","currency":"EUR"`))
			}, []string{everything}},
			{"settings", func() {
				_, err := s.Settings.Update(t.Context(), storetest.Actor, settings.Change{PageLength: &pageLength})
				require.NoError(t, err)
			}, []string{everything}},
			{"a third catalog", func() {
				storetest.Import(t, s, strings.Replace(storetest.ShopLine("catalog", "main"), `"id":"main"`, `"id":"third"`, 1))
			}, nil},
			{"its first publication, which makes its rules apply", func() { storetest.Publish(t, s, "third") }, []string{everything}},
			{"its end", func() {
				require.NoError(t, s.Catalogs.Delete(t.Context(), storetest.Actor, "third"))
			}, []string{everything}},
		} {
			step.change()
			require.Equal(t, step.want, collected(t, s, db), step.name)
			require.Empty(t, collected(t, other, db), "%s: another server sees that it was collected", step.name)
		}
	})
}

// TestCallsNameWhatChanged: a call has the keys of what changed in all releases that were served since the last one.
func TestCallsNameWhatChanged(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := openTwoCatalogs(t, backend)
		db := backend.SQL(t)
		describe := func(product, text string) string {
			storetest.Import(t, s, storetest.ChangedShopLine("product", product, `"description":"`, `"description":"`+text))
			made, err := s.Publisher.Publish(t.Context(), storetest.Actor, "main", nil)
			require.NoError(t, err)
			return made.UUID()
		}
		serve := func(id string) {
			_, err := s.Releases.Serve(t.Context(), storetest.Actor, id)
			require.NoError(t, err)
		}
		collect := func() { require.NoError(t, s.Purges.Collect(t.Context())) }
		claim := func() *purge.Call {
			call, err := s.Purges.Claim(t.Context())
			require.NoError(t, err)
			_, err = db.Exec(`DELETE FROM purge_call`)
			require.NoError(t, err)
			return call
		}
		collect()
		require.True(t, claim().Changed.Everything(), "the first time")
		var anvil, brush string
		for _, step := range []struct {
			name         string
			change       func()
			anvil, brush bool
		}{
			{"one product", func() { anvil = describe("anvil", "One ") }, true, false},
			{"another", func() { brush = describe("brush", "Two ") }, false, true},
			{"a roll-back, and back within a moment", func() { serve(anvil); serve(brush) }, false, true},
			{"a roll-back", func() { serve(anvil) }, false, true},
			{"its end", func() { serve(brush) }, false, true},
			{"two publications", func() { describe("anvil", "Three "); brush = describe("brush", "Four ") }, true, true},
			{"two changes that one call is made for", func() { describe("anvil", "Five "); collect(); describe("brush", "Six ") }, true, true},
		} {
			step.change()
			collect()
			changed := claim().Changed
			require.False(t, changed.Everything(), step.name)
			require.Equal(t, []any{step.anvil, step.brush}, []any{changed.Has(segment.ProductKey("anvil")), changed.Has(segment.ProductKey("brush"))}, step.name)
			require.False(t, changed.Has(segment.ProductKey("chalk")), step.name)
		}

		describe("anvil", "Seven ")
		collect()
		_, err := db.Exec(`UPDATE purge_call SET revision = revision + 1`)
		require.NoError(t, err)
		require.True(t, claim().Changed.Everything(), "a version of the program that names no keys queued more")
		whole := backend.Open(t, storetest.WithoutDeltas)
		storetest.RenameProducts(t, s, "Whole")
		_, err = whole.Publisher.Publish(t.Context(), storetest.Actor, "main", nil)
		require.NoError(t, err)
		_, err = db.Exec(`DELETE FROM release_change`)
		require.NoError(t, err)
		collect()
		require.True(t, claim().Changed.Everything(), "of a release without a comparison")
	})
}

// TestCallIsMadeTwice: a call is repeated once it succeeded, retried until it does, and made by one server.
func TestCallIsMadeTwice(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := openTwoCatalogs(t, backend)
		other := backend.Open(t)
		db := backend.SQL(t)
		claim := func(s *shop.Store) *purge.Call {
			call, err := s.Purges.Claim(t.Context())
			require.NoError(t, err)
			return call
		}
		next := func(waits bool) time.Duration {
			wait, found, err := other.Purges.Next(t.Context())
			require.NoError(t, err)
			require.Equal(t, waits, found)
			return wait
		}
		later := func(column string) {
			_, err := db.Exec(`UPDATE purge_call SET ` + column + ` = 0`)
			require.NoError(t, err)
		}
		pending := func() (calls int, old bool) {
			calls, oldest, err := s.Purges.Pending(t.Context())
			require.NoError(t, err)
			return calls, oldest > 0
		}
		next(false)
		require.Nil(t, claim(s))
		require.NoError(t, s.Purges.Collect(t.Context()))
		require.Zero(t, next(true))

		call := claim(s)
		require.Equal(t, []any{"", false, 0}, []any{call.CatalogID, call.Repeat, call.Attempt})
		require.Nil(t, claim(other), "this server makes it")
		require.Greater(t, next(true), purge.Lease/2)
		later("leased_until")
		again := claim(other)
		require.Equal(t, call, again, "the server died")
		require.NoError(t, other.Purges.Retry(t.Context(), again, time.Minute))
		require.Nil(t, claim(s))
		require.Greater(t, next(true), time.Minute/2)
		calls, old := pending()
		require.Equal(t, []any{1, true}, []any{calls, old})
		later("due_at")
		call = claim(s)
		require.Equal(t, 1, call.Attempt)
		require.NoError(t, s.Purges.Finish(t.Context(), call))
		calls, old = pending()
		require.Equal(t, []any{1, false}, []any{calls, old}, "the CDN knows")
		require.Nil(t, claim(s))
		require.Greater(t, next(true), time.Second)
		later("due_at")
		call = claim(other)
		require.Equal(t, []any{"", true, 0}, []any{call.CatalogID, call.Repeat, call.Attempt})
		require.NoError(t, other.Purges.Finish(t.Context(), call))
		next(false)
		require.NoError(t, other.Purges.Finish(t.Context(), call), "it is gone")

		publish := func(version string) {
			storetest.RenameProducts(t, s, version)
			storetest.Publish(t, s, "main")
			require.NoError(t, s.Purges.Collect(t.Context()))
		}
		publish("One")
		call = claim(s)
		publish("Two")
		require.Nil(t, claim(other), "one call for a catalog at a time")
		require.NoError(t, s.Purges.Finish(t.Context(), call))
		call = claim(s)
		require.Equal(t, []any{servedBy(t, db, "main"), false}, []any{call.ReleaseID, call.Repeat}, "the change during the call is called at once")
		require.NoError(t, s.Purges.Finish(t.Context(), call))
		later("due_at")
		call = claim(s)
		require.True(t, call.Repeat)
		publish("Three")
		require.NoError(t, s.Purges.Finish(t.Context(), call))
		call = claim(s)
		require.False(t, call.Repeat, "a change during the repeat too")
		require.NoError(t, s.Purges.Retry(t.Context(), call, time.Minute))
		publish("Four")
		require.Nil(t, claim(s), "a change does not shorten the wait of a call that failed")
	})
}

// TestOneServerClaims: of many servers one gets each call.
func TestOneServerClaims(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := openTwoCatalogs(t, backend)
		servers := []*shop.Store{s, backend.Open(t), backend.Open(t)}
		var claimed atomic.Int64
		var all sync.WaitGroup
		for i := range 12 {
			all.Go(func() {
				server := servers[i%len(servers)]
				if err := server.Purges.Collect(t.Context()); err != nil {
					t.Error(err)
				}
				call, err := server.Purges.Claim(t.Context())
				if err != nil {
					t.Error(err)
				}
				if call != nil {
					claimed.Add(1)
				}
			})
		}
		all.Wait()
		require.EqualValues(t, 1, claimed.Load())
	})
}
