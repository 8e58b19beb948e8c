package shop_test

import (
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/access"
	"portico/store/exchange"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// newYear is the time of these tests.
var newYear = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// authenticates reports whether a client can log in with a secret.
func authenticates(t *testing.T, s *shop.Store, id, secret string) bool {
	t.Helper()
	_, err := s.Access.AuthenticateClient(t.Context(), id, secret)
	if err != nil {
		require.True(t, store.HasCode(err, store.Unauthenticated), "%v", err)
	}
	return err == nil
}

func TestRotateClientSecret(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		clock := testkit.NewClock(newYear)
		s := backend.Open(t, storetest.WithClock(clock))
		client, first, err := s.Access.CreateClient(t.Context(), "command:test", "till", access.Scopes())
		require.NoError(t, err)
		require.Equal(t, store.Actor("command:test"), client.ChangedBy)

		rotated, second, err := s.Access.RotateClientSecret(t.Context(), "command:rotate", strings.ToUpper(client.ID), time.Hour)
		require.NoError(t, err)
		require.NotEqual(t, first, second)
		require.Equal(t, newYear, rotated.RotatedAt)
		require.Equal(t, newYear.Add(time.Hour), rotated.OldSecretUntil)
		require.Equal(t, store.Actor("command:rotate"), rotated.ChangedBy)
		require.True(t, authenticates(t, s, client.ID, first), "the old secret within its grace period")
		require.True(t, authenticates(t, s, client.ID, second))
		kept, err := s.Access.Client(t.Context(), client.ID)
		require.NoError(t, err)
		require.Equal(t, rotated, kept)

		clock.Set(newYear.Add(time.Hour - time.Millisecond))
		require.True(t, authenticates(t, s, client.ID, first), "to the end of its grace period")
		clock.Set(newYear.Add(time.Hour))
		require.False(t, authenticates(t, s, client.ID, first), "its grace period is over")
		require.True(t, authenticates(t, s, client.ID, second))

		_, third, err := s.Access.RotateClientSecret(t.Context(), "command:rotate", client.ID, access.MaxSecretGrace)
		require.NoError(t, err)
		_, fourth, err := s.Access.RotateClientSecret(t.Context(), "command:rotate", client.ID, time.Hour)
		require.NoError(t, err)
		require.Equal(t, []bool{false, false, true, true}, []bool{
			authenticates(t, s, client.ID, first), authenticates(t, s, client.ID, second), authenticates(t, s, client.ID, third), authenticates(t, s, client.ID, fourth),
		}, "only the secret right before stays")

		rotated, fifth, err := s.Access.RotateClientSecret(t.Context(), "command:rotate", client.ID, 0)
		require.NoError(t, err)
		require.Zero(t, rotated.OldSecretUntil)
		require.False(t, authenticates(t, s, client.ID, fourth), "no grace period")
		require.False(t, authenticates(t, s, client.ID, ""), "an empty secret matches no empty hash")
		require.True(t, authenticates(t, s, client.ID, fifth))

		var text string
		require.NoError(t, backend.SQL(t).QueryRow(`SELECT secret_hash || old_secret_hash FROM api_client`).Scan(&text))
		require.Regexp(t, `^[0-9a-f]{64}$`, text, "only the hash of the new secret")
	})
}

func TestRevokeClient(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		clock := testkit.NewClock(newYear)
		at := storetest.WithClock(clock)
		here, there := backend.Open(t, at), backend.Open(t, at)
		client, first, err := here.Access.CreateClient(t.Context(), "command:test", "till", access.Scopes())
		require.NoError(t, err)
		other, otherSecret, err := here.Access.CreateClient(t.Context(), "command:test", "other", access.Scopes())
		require.NoError(t, err)
		_, second, err := here.Access.RotateClientSecret(t.Context(), "command:test", client.ID, time.Hour)
		require.NoError(t, err)

		revoked, err := here.Access.RevokeClient(t.Context(), "command:revoke", client.ID)
		require.NoError(t, err)
		require.Equal(t, newYear, revoked.RevokedAt)
		require.Zero(t, revoked.OldSecretUntil)
		require.Equal(t, store.Actor("command:revoke"), revoked.ChangedBy)
		for _, s := range []*shop.Store{here, there} {
			require.False(t, authenticates(t, s, client.ID, first), "no secret works on any server")
			require.False(t, authenticates(t, s, client.ID, second), "no secret works on any server")
			require.True(t, authenticates(t, s, other.ID, otherSecret))
		}
		_, err = here.Access.AuthenticateClient(t.Context(), client.ID, second)
		require.ErrorContains(t, err, "was revoked", "the error says why")

		gone, err := here.Access.ClientRevoked(t.Context(), client.ID)
		require.NoError(t, err)
		require.True(t, gone, "the server that revoked it knows at once")
		testkit.Eventually(t, true, func() bool {
			gone, err := there.Access.ClientRevoked(t.Context(), client.ID)
			return err == nil && gone
		}, "the others soon")
		for _, id := range []string{other.ID, "nobody", "oidc:" + client.ID, ""} {
			gone, err := there.Access.ClientRevoked(t.Context(), id)
			require.NoError(t, err)
			require.False(t, gone, id)
		}

		clock.Advance(time.Hour)
		again, err := here.Access.RevokeClient(t.Context(), "command:again", client.ID)
		require.NoError(t, err)
		require.Equal(t, revoked, again, "revoking twice changes nothing")
		_, _, err = here.Access.RotateClientSecret(t.Context(), "command:test", client.ID, 0)
		require.True(t, store.HasCode(err, store.Unprocessable))
		require.ErrorContains(t, err, "was revoked at 2026-01-02T03:04:05Z")
	})
}

func TestClients(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		clock := testkit.NewClock(newYear)
		s := backend.Open(t, storetest.WithClock(clock))
		list, err := s.Access.Clients(t.Context())
		require.NoError(t, err)
		require.Empty(t, list)
		var want []*access.Client
		for _, name := range []string{"b", "a", "c"} {
			client, _, err := s.Access.CreateClient(t.Context(), "command:test", name, access.Scopes())
			require.NoError(t, err)
			want = append(want, client)
			clock.Advance(time.Second)
		}
		want[1], err = s.Access.RevokeClient(t.Context(), "command:test", want[1].ID)
		require.NoError(t, err)
		list, err = s.Access.Clients(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, list, "oldest first, with revoked clients")
	})
}

func TestClientErrors(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		client, secret, err := s.Access.CreateClient(t.Context(), "command:test", "till", access.Scopes())
		require.NoError(t, err)
		for _, id := range []string{"", "nobody", "a\x00b"} {
			_, _, err := s.Access.RotateClientSecret(t.Context(), "command:test", id, 0)
			require.True(t, store.HasCode(err, store.NotFound), "%q: %v", id, err)
			_, err = s.Access.RevokeClient(t.Context(), "command:test", id)
			require.True(t, store.HasCode(err, store.NotFound), "%q: %v", id, err)
		}
		for _, grace := range []time.Duration{-1, access.MaxSecretGrace + 1} {
			_, _, err := s.Access.RotateClientSecret(t.Context(), "command:test", client.ID, grace)
			require.True(t, store.HasCode(err, store.Unprocessable))
			require.ErrorContains(t, err, "grace must be between 0s and 720h0m0s")
		}
		require.True(t, authenticates(t, s, client.ID, secret))
	})
}

// TestConcurrentRotations checks that the secret returned last works.
func TestConcurrentRotations(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		client, _, err := s.Access.CreateClient(t.Context(), "command:test", "till", access.Scopes())
		require.NoError(t, err)
		secrets, failures := make([]string, 8), make([]error, 8)
		var group sync.WaitGroup
		for i := range secrets {
			group.Go(func() {
				_, secrets[i], failures[i] = s.Access.RotateClientSecret(t.Context(), "command:test", client.ID, time.Hour)
			})
		}
		group.Wait()
		good := 0
		for i, secret := range secrets {
			require.NoError(t, failures[i])
			if authenticates(t, s, client.ID, secret) {
				good++
			}
		}
		require.Equal(t, 2, good, "the last one and the one before")
	})
}

// TestImportKeepsClientsRevoked checks that an import does not restore a revoked client.
func TestImportKeepsClientsRevoked(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		bring := func(s *shop.Store, text string) {
			t.Helper()
			open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
			_, err := s.Exchange.Import(t.Context(), "command:import", open, exchange.ImportOptions{})
			require.NoError(t, err)
		}
		const till = `{"type":"api_client","id":"till","name":"Till","scopes":["catalog:read"],"created_at":"2024-01-01T00:00:00.000Z"`
		bring(s, till+"}")
		_, secret, err := s.Access.RotateClientSecret(t.Context(), "command:test", "till", time.Hour)
		require.NoError(t, err)
		require.True(t, authenticates(t, s, "till", secret), "a client imported without a secret gets its first")
		require.False(t, authenticates(t, s, "till", ""))
		revoked, err := s.Access.RevokeClient(t.Context(), "command:test", "till")
		require.NoError(t, err)

		bring(s, strings.Replace(till, `"Till"`, `"New name"`, 1)+"}")
		client, err := s.Access.Client(t.Context(), "till")
		require.NoError(t, err)
		require.Equal(t, "New name", client.Name)
		require.Equal(t, revoked.RevokedAt, client.RevokedAt)
		require.Equal(t, store.Actor("command:import"), client.ChangedBy)

		bring(s, strings.Replace(till, `"till"`, `"other"`, 1)+"}")
		gone, err := s.Access.ClientRevoked(t.Context(), "other")
		require.NoError(t, err)
		require.False(t, gone)
		bring(s, strings.Replace(till, `"till"`, `"other"`, 1)+`,"revoked_at":"2024-02-01T00:00:00.000Z"}`)
		gone, err = s.Access.ClientRevoked(t.Context(), "other")
		require.NoError(t, err)
		require.True(t, gone, "a file can revoke a client, and this server knows at once")
		require.NoError(t, s.Sweep(t.Context()))
		client, err = s.Access.Client(t.Context(), "other")
		require.NoError(t, err)
		require.False(t, client.RevokedAt.Before(revoked.RevokedAt), "it is kept for as long as its tokens are valid, whatever the line says")

		for id, at := range map[string]string{"before-1970": "1969-07-20T20:17:40.000Z", "in-1970": "1970-01-01T00:00:00.000Z", "new": "2024-02-01T00:00:00.000Z"} {
			bring(s, strings.Replace(till, `"till"`, `"`+id+`"`, 1)+`,"revoked_at":"`+at+`"}`)
			gone, err = s.Access.ClientRevoked(t.Context(), id)
			require.NoError(t, err)
			require.True(t, gone, id)
		}
		var out strings.Builder
		_, err = s.Exchange.Export(t.Context(), &out, exchange.ExportOptions{WithClients: true})
		require.NoError(t, err)
		require.Contains(t, out.String(), `"id":"new","name":"Till","scopes":["catalog:read"],"created_at":"2024-01-01T00:00:00.000Z","revoked_at":"2024-02-01T00:00:00.000Z"}`)
	})
}
