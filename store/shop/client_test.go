package shop_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/access"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

func TestCreateClient(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		clock := testkit.NewClock(time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.UTC))
		s := backend.Open(t, storetest.WithClock(clock))

		client, secret, err := s.Access.CreateClient(t.Context(), "command:test", "Storefront é", []string{"settings:read", "catalog:read", "settings:read"})
		require.NoError(t, err)
		require.Regexp(t, `^[A-Za-z0-9_-]{43}$`, secret, "32 bytes as base64url")
		require.Equal(t, "Storefront é", client.Name)
		require.Equal(t, []string{"catalog:read", "settings:read"}, client.Scopes, "each once, in the order of Scopes")
		require.Equal(t, time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC), client.CreatedAt)

		kept, err := s.Access.Client(t.Context(), client.ID)
		require.NoError(t, err)
		require.Equal(t, client, kept)

		var hash string
		require.NoError(t, backend.SQL(t).QueryRow(`SELECT secret_hash FROM api_client`).Scan(&hash))
		require.Regexp(t, `^[0-9a-f]{64}$`, hash)
		require.NotContains(t, hash, secret)
	})
}

func TestCreateClientRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		client string
		scopes []string
		want   []string // paths
	}{
		{"no name", "", access.Scopes(), []string{"name"}},
		{"a name too long", strings.Repeat("n", 256), access.Scopes(), []string{"name"}},
		{"NUL in the name", "a\x00b", access.Scopes(), []string{"name"}},
		{"bytes that are not UTF-8", "\xff", access.Scopes(), []string{"name"}},
		{"no scopes", "c", []string{}, []string{"scopes"}},
		{"nil for the scopes", "c", nil, []string{"scopes"}},
		{"unknown and empty scopes", "c", []string{"catalog:read", "catalog:delete", ""}, []string{"scopes.1", "scopes.2"}},
		{"two scopes in one", "c", []string{"catalog:read catalog:write"}, []string{"scopes.0"}},
		{"several errors", "", []string{"x"}, []string{"name", "scopes.0"}},
	}
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		for _, test := range tests {
			_, _, err := s.Access.CreateClient(t.Context(), "command:test", test.client, test.scopes)
			require.Error(t, err, test.name)
			var paths []string
			for _, e := range store.AsErrors(err) {
				require.Equal(t, store.Unprocessable, e.Code, test.name)
				paths = append(paths, strings.Join(e.Path, "."))
			}
			require.Equal(t, test.want, paths, test.name)
		}
		var clients int
		require.NoError(t, backend.SQL(t).QueryRow(`SELECT COUNT(*) FROM api_client`).Scan(&clients))
		require.Zero(t, clients)
	})
}

func TestClientNotFound(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		for _, id := range []string{"", "nobody", "a\x00b", "\xff", strings.Repeat("x", 65)} {
			_, err := s.Access.Client(t.Context(), id)
			require.True(t, store.HasCode(err, store.NotFound), "%q: %v", id, err)
		}
	})
}

func TestAuthenticateClient(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		client, secret, err := s.Access.CreateClient(t.Context(), "command:test", "one", access.Scopes())
		require.NoError(t, err)
		_, otherSecret, err := s.Access.CreateClient(t.Context(), "command:test", "two", access.Scopes())
		require.NoError(t, err)
		require.NotEqual(t, secret, otherSecret)

		for _, id := range []string{client.ID, strings.ToUpper(client.ID)} {
			got, err := s.Access.AuthenticateClient(t.Context(), id, secret)
			require.NoError(t, err)
			require.Equal(t, client, got)
		}

		tests := []struct{ name, id, secret string }{
			{"a wrong secret", client.ID, "wrong"},
			{"an empty secret", client.ID, ""},
			{"another client's secret", client.ID, otherSecret},
			{"the secret and more", client.ID, secret + "A"},
			{"an unknown id", "nobody", secret},
			{"an id that is none", "a\x00b", secret},
			{"nothing", "", ""},
		}
		for _, test := range tests {
			_, err := s.Access.AuthenticateClient(t.Context(), test.id, test.secret)
			require.True(t, store.HasCode(err, store.Unauthenticated), test.name)
			require.EqualError(t, err, "The client id or the client secret is wrong.", test.name)
		}
	})
}
