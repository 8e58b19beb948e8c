package publish_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/publish"
	"portico/store/release/segment"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestReleaseNotes checks what is stored with a release, and how it is changed.
func TestReleaseNotes(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		clock := testkit.NewClock(testkit.Noon)
		s := backend.Open(t, storetest.WithClock(clock))
		storetest.Import(t, s, storetest.ShopFile)
		made, err := s.Publisher.PublishWithNotes(t.Context(), "client:a", "main", publish.ReleaseNotes{Label: "winter", Note: "new prices\nfor all"}, nil)
		require.NoError(t, err)
		stored, err := s.Releases.Get(t.Context(), made.UUID())
		require.NoError(t, err)
		require.Equal(t, []any{"winter", "new prices\nfor all", store.Actor("client:a"), testkit.Noon, false},
			[]any{stored.Label, stored.Note, stored.Actor, stored.ServedAt.UTC(), stored.Retained})
		require.Greater(t, stored.Bytes, int64(10_000))
		require.Equal(t, made.Bytes, stored.Bytes)
		currencies, err := s.Releases.CurrenciesOf(t.Context(), []*segment.Release{made, made})
		require.NoError(t, err)
		require.Equal(t, [][]string{{"EUR", "JPY", "USD"}, {"EUR", "JPY", "USD"}}, currencies)

		clock.Advance(time.Hour)
		same, err := s.Publisher.PublishWithNotes(t.Context(), "client:b", "main", publish.ReleaseNotes{Label: "other"}, nil)
		require.NoError(t, err)
		require.Equal(t, []any{made.ID, "winter"}, []any{same.ID, same.Label}, "a release that is served already keeps its own")
		storetest.RenameProducts(t, s, "Two")
		storetest.Publish(t, s, "main")
		clock.Advance(time.Hour)
		serveRelease(t, s, made.UUID())
		back, err := s.Releases.Get(t.Context(), made.UUID())
		require.NoError(t, err)
		require.Equal(t, testkit.Noon.Add(2*time.Hour), back.ServedAt.UTC(), "when it was served again")
		clock.Advance(time.Hour)
		serveRelease(t, s, made.UUID())
		back, _ = s.Releases.Get(t.Context(), made.UUID())
		require.Equal(t, testkit.Noon.Add(2*time.Hour), back.ServedAt.UTC(), "it was served already")

		changed, err := s.Publisher.UpdateRelease(t.Context(), storetest.Actor, made.UUID(), publish.ReleaseUpdate{Label: new("summer")})
		require.NoError(t, err)
		require.Equal(t, []string{"summer", "new prices\nfor all"}, []string{changed.Label, changed.Note})
		for _, c := range []struct {
			id     string
			update publish.ReleaseUpdate
			code   store.Code
			member string
			detail string
		}{
			{"99", publish.ReleaseUpdate{}, store.NotFound, "release_id", `"99"`},
			{"x", publish.ReleaseUpdate{}, store.NotFound, "release_id", `"x"`},
			{made.UUID(), publish.ReleaseUpdate{Label: new(strings.Repeat("a", 101))}, store.Unprocessable, "label", "at most 100 bytes, got 101"},
			{made.UUID(), publish.ReleaseUpdate{Note: new(strings.Repeat("a", 2001))}, store.Unprocessable, "note", "at most 2000 bytes, got 2001"},
		} {
			_, err := s.Publisher.UpdateRelease(t.Context(), storetest.Actor, c.id, c.update)
			storetest.RequireError(t, err, c.code, c.member, c.detail)
		}
	})
}

// TestRetainedReleases checks that no sweep deletes a retained release, nor its base, and that it can be served again.
func TestRetainedReleases(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		clock := testkit.NewClock(testkit.Noon)
		s, plain := backend.Open(t, storetest.WithClock(clock)), backend.Open(t, storetest.WithClock(clock), storetest.WithoutDeltas)
		storetest.Import(t, s, storetest.ShopFile)
		storetest.Publish(t, s, "main")
		storetest.RenameProducts(t, s, "One")
		storetest.Publish(t, s, "main")
		ids, _ := releasesOf(t, s, "main")
		retained, base := ids[0], ids[1]
		retain := func(id string, is bool) error {
			_, err := s.Publisher.UpdateRelease(t.Context(), storetest.Actor, id, publish.ReleaseUpdate{Retained: &is})
			return err
		}
		require.NoError(t, retain(retained, true))
		for i := range 5 {
			clock.Advance(2 * time.Hour)
			storetest.RenameProducts(t, s, fmt.Sprint(i))
			storetest.Publish(t, plain, "main")
		}
		sweep := func() []string {
			clock.Advance(2 * time.Hour)
			require.NoError(t, s.Sweep(t.Context()))
			ids, _ := releasesOf(t, s, "main")
			return ids
		}
		require.Equal(t, []string{"7", "6", "5", retained, base}, sweep())
		serveRelease(t, s, retained)
		require.Equal(t, "One", anvilName(t, s))
		storetest.RenameProducts(t, s, "Six")
		storetest.Publish(t, s, "main")
		require.Equal(t, "Six", anvilName(t, s))
		require.Contains(t, sweep(), retained)
		require.NoError(t, retain(retained, false))
		require.NotContains(t, sweep(), retained)
		storetest.RequireNoOrphans(t, backend.SQL(t))

		for i := range 20 {
			_, err := backend.SQL(t).ExecContext(t.Context(), fmt.Sprintf(`
				INSERT INTO release (id, catalog_id, state, locale, locales, products, published_at, superseded_at, touched_at, base_id, retained)
				VALUES (%d, 'main', 'published', 'en', '', 0, 1, 1, 0, 0, TRUE)`, 1000+i))
			require.NoError(t, err)
		}
		storetest.RequireError(t, retain("7", true), store.Conflict, "retained", "20 retained releases")
		require.NoError(t, retain("1000", true), "it is retained already")
		require.NoError(t, retain("1000", false))
		require.NoError(t, retain("7", true))
	})
}
