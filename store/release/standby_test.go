package release_test

import (
	"cmp"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/dbtest"
	"portico/store/storetest/testkit"
)

// TestReleasesAreReadFromStandby reads releases from a standby: never one that is not replayed
// yet, always what the primary has, and also while the primary is away.
func TestReleasesAreReadFromStandby(t *testing.T) {
	testkit.FullTestsOnly(t, "it starts a PostgreSQL server with a standby; TestLostStandby covers the rest")
	t.Parallel()
	primary := dbtest.NewCluster(t)
	standby := primary.Standby(t)
	open := func(readURL string) *shop.Store {
		s, err := shop.Open(t.Context(), shop.Config{URL: primary.URL("postgres", "postgres"), ReadURL: readURL, NoCache: true})
		require.NoError(t, err)
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	s, direct := open(standby.URL("postgres", "postgres")), open("")
	storetest.Import(t, s, storetest.ShopFile)
	storetest.Publish(t, s, "main", "outlet")
	reads := func(result string) int64 { return s.StandbyStats().Reads[result] }
	requireSame := func(id string) {
		t.Helper()
		shopper := release.ShopperContext{ReleaseID: cmp.Or(id, storetest.View(t, s, release.ShopperContext{}).Release.UUID()), Languages: testkit.Languages("fr")}
		ours, theirs := storetest.View(t, s, shopper), storetest.View(t, direct, shopper)
		ids := storetest.ProductIDs(t, theirs, release.ProductQuery{})
		require.Equal(t, ids, storetest.ProductIDs(t, ours, release.ProductQuery{}))
		for _, id := range ids {
			require.Equal(t, string(storetest.FindProduct(t, theirs, id).AppendJSON(nil)), string(storetest.FindProduct(t, ours, id).AppendJSON(nil)))
		}
	}
	testkit.Eventually(t, true, func() bool { requireSame(""); return reads("read") > 0 })

	first := storetest.View(t, s, release.ShopperContext{}).Release.UUID()
	for _, version := range []string{"Second", "Third", "Fourth"} {
		standby.Query(t, `SELECT pg_wal_replay_pause()`)
		testkit.Eventually(t, "paused", func() string { return standby.Query(t, `SELECT pg_get_wal_replay_pause_state()`) })
		storetest.RenameProducts(t, s, version)
		storetest.Publish(t, s, "main", "outlet")
		behind, read := reads("behind"), reads("read")
		name, _ := storetest.FirstPage(t, storetest.View(t, s, release.ShopperContext{}))
		require.Contains(t, name, version)
		requireSame("")
		require.Greater(t, reads("behind"), behind)
		require.Equal(t, read, reads("read"), "nothing of a release that is not replayed")
		requireSame(first)
		require.Greater(t, reads("read"), read, "releases that are replayed")
		standby.Query(t, `SELECT pg_wal_replay_resume()`)
		testkit.Eventually(t, true, func() bool { before := reads("read"); requireSame(""); return reads("read") > before })
	}

	testkit.Eventually(t, true, func() bool { return primary.CaughtUp(t, standby) })
	want := storetest.ProductIDs(t, storetest.View(t, s, release.ShopperContext{}), release.ProductQuery{})
	primary.Crash(t)
	require.Equal(t, want, storetest.ProductIDs(t, storetest.View(t, s, release.ShopperContext{}), release.ProductQuery{}), "without the primary")
	require.Error(t, s.Ping(t.Context()), "the server is not ready without the primary")
	standby.Crash(t)
	_, err := storetest.View(t, s, release.ShopperContext{}).Products(t.Context(), release.ProductQuery{})
	require.Error(t, err)
	primary.Start(t)
	testkit.Eventually(t, nil, func() error { return s.Ping(t.Context()) })
	requireSame("")
	require.True(t, s.StandbyStats().Lost)
	standby.Start(t)
	testkit.Eventually(t, false, func() bool { return s.StandbyStats().Lost })
}
