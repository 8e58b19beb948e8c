package shop_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/settings"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestSettings tests settings.Service.Get and settings.Service.Update.
func TestSettings(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("a new store has a page length of 25, US dollars and English", func(t *testing.T) {
			settings, err := backend.Open(t).Settings.Get(t.Context())
			require.NoError(t, err)
			require.Equal(t, &store.Settings{PageLength: 25, Currency: "USD", Locale: "en", LowStockThreshold: 5}, settings)
		})
		t.Run("a change is visible to the next read and keeps other members", settingsReadYourWrites(backend))
		t.Run("bounds", settingsBounds(backend))
		t.Run("an error reports all invalid members, and nothing is written", settingsErrors(backend))
		t.Run("another server sees a change", settingsOtherServer(backend))
		t.Run("changes on two servers are visible on both", settingsTwoServers(backend))
		t.Run("all lists use the page length", settingsPageLength(backend))
	})
}

func settingsReadYourWrites(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		for _, c := range []struct {
			change settings.Change
			want   store.Settings
		}{
			{settings.Change{PageLength: new(50)}, store.Settings{PageLength: 50, Currency: "USD", Locale: "en", LowStockThreshold: 5}},
			{settings.Change{Currency: new("EUR")}, store.Settings{PageLength: 50, Currency: "EUR", Locale: "en", LowStockThreshold: 5}},
			{settings.Change{Locale: new("fr-CA")}, store.Settings{PageLength: 50, Currency: "EUR", Locale: "fr-CA", LowStockThreshold: 5}},
			{settings.Change{LowStockThreshold: new(0)}, store.Settings{PageLength: 50, Currency: "EUR", Locale: "fr-CA"}},
			{settings.Change{CodesIgnoreCase: new(true)}, store.Settings{PageLength: 50, Currency: "EUR", Locale: "fr-CA", CodesIgnoreCase: true}},
			{settings.Change{}, store.Settings{PageLength: 50, Currency: "EUR", Locale: "fr-CA", CodesIgnoreCase: true}},
		} {
			answered, err := s.Settings.Update(t.Context(), storetest.Actor, c.change)
			require.NoError(t, err)
			require.Equal(t, &c.want, answered)
			read, err := s.Settings.Get(t.Context())
			require.NoError(t, err)
			require.Equal(t, &c.want, read)
		}
	}
}

func settingsBounds(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		for _, c := range []struct {
			name   string
			change settings.Change
			member string // of the error; empty if the change is valid
			words  []string
		}{
			{"page length 1", settings.Change{PageLength: new(1)}, "", nil},
			{"page length 100", settings.Change{PageLength: new(100)}, "", nil},
			{"page length 0", settings.Change{PageLength: new(0)}, "page_length", []string{"between 1 and 100", "got 0"}},
			{"page length 101", settings.Change{PageLength: new(101)}, "page_length", []string{"between 1 and 100", "got 101"}},
			{"page length -1", settings.Change{PageLength: new(-1)}, "page_length", []string{"between 1 and 100", "got -1"}},
			{"currency JPY", settings.Change{Currency: new("JPY")}, "", nil},
			{"currency in lower case", settings.Change{Currency: new("usd")}, "currency", []string{"ISO 4217", `"usd"`}},
			{"currency by name", settings.Change{Currency: new("EURO")}, "currency", []string{"ISO 4217", `"EURO"`}},
			{"no currency", settings.Change{Currency: new("")}, "currency", []string{"ISO 4217"}},
			{"currency with NUL", settings.Change{Currency: new("US\x00")}, "currency", []string{"ISO 4217"}},
			{"locale de-CH", settings.Change{Locale: new("de-CH")}, "", nil},
			{"no locale", settings.Change{Locale: new("")}, "locale", []string{"BCP 47"}},
			{"locale that is a sentence", settings.Change{Locale: new("the English one")}, "locale", []string{"BCP 47", `"the English one"`}},
			{"locale with NUL", settings.Change{Locale: new("en\x00")}, "locale", []string{"BCP 47"}},
			{"locale that is not valid UTF-8", settings.Change{Locale: new("e\xff")}, "locale", []string{"BCP 47"}},
		} {
			t.Run(c.name, func(t *testing.T) {
				before, err := s.Settings.Get(t.Context())
				require.NoError(t, err)
				_, err = s.Settings.Update(t.Context(), storetest.Actor, c.change)
				if c.member == "" {
					require.NoError(t, err)
					return
				}
				storetest.RequireError(t, err, store.Unprocessable, c.member, c.words...)
				after, err := s.Settings.Get(t.Context())
				require.NoError(t, err)
				require.Equal(t, before, after)
			})
		}
	}
}

func settingsErrors(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		_, err := s.Settings.Update(t.Context(), storetest.Actor, settings.Change{PageLength: new(0), Currency: new("?"), Locale: new("fr")})
		var members [][]string
		for _, e := range store.AsErrors(err) {
			require.Equal(t, store.Unprocessable, e.Code)
			members = append(members, e.Path)
		}
		require.Equal(t, [][]string{{"page_length"}, {"currency"}}, members)
		settings, err := s.Settings.Get(t.Context())
		require.NoError(t, err)
		require.Equal(t, "en", settings.Locale)
	}
}

func settingsOtherServer(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		here, there := backend.Open(t), backend.Open(t)
		for _, length := range []int{3, 4, 5} {
			_, err := there.Settings.Get(t.Context()) // cached from now on
			require.NoError(t, err)
			_, err = here.Settings.Update(t.Context(), storetest.Actor, settings.Change{PageLength: &length})
			require.NoError(t, err)
			testkit.Eventually(t, length, pageLengthOf(t, there))
		}
	}
}

func settingsTwoServers(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		one, other := backend.Open(t), backend.Open(t)
		for i := range 60 {
			length := i%100 + 1
			_, err := one.Settings.Update(t.Context(), storetest.Actor, settings.Change{PageLength: &length})
			require.NoError(t, err)
			require.Equal(t, length, pageLengthOf(t, one)(), "its own write")
			one, other = other, one
		}
		want := pageLengthOf(t, other)()
		testkit.Eventually(t, want, pageLengthOf(t, one))
		testkit.Eventually(t, want, pageLengthOf(t, other))
	}
}

func settingsPageLength(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 1, "a", "b", "c")
		_, err := s.Settings.Update(t.Context(), storetest.Actor, settings.Change{PageLength: new(2)})
		require.NoError(t, err)
		for name, page := range map[string]store.Page{"no members": {}, "an offset": {Offset: new(0)}} {
			slice, err := s.Stock.List(t.Context(), store.ListQuery{Page: page})
			require.NoError(t, err)
			require.Len(t, slice.Items, 2, name)
			require.Equal(t, 2, slice.Limit, name)
		}
	}
}

func pageLengthOf(t *testing.T, s *shop.Store) func() int {
	return func() int {
		settings, err := s.Settings.Get(t.Context())
		require.NoError(t, err)
		return settings.PageLength
	}
}
