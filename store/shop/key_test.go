package shop_test

import (
	"crypto/ed25519"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/seal"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

func TestSigningKeysCreatesTheFirst(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s, sealer := backend.Open(t), storetest.NewSealer(t, 1)
		before := s.Access.SigningKeysVersion()
		keys, err := s.Access.SigningKeys(t.Context(), sealer)
		require.NoError(t, err)
		require.Len(t, keys, 1)
		testkit.Eventually(t, true, func() bool { return s.Access.SigningKeysVersion() != before })
		require.True(t, ed25519.Verify(keys[0].Public, []byte("m"), ed25519.Sign(keys[0].Private, []byte("m"))))

		again, err := s.Access.SigningKeys(t.Context(), sealer)
		require.NoError(t, err)
		require.Equal(t, keys, again)

		var sealed []byte
		require.NoError(t, backend.SQL(t).QueryRow(`SELECT sealed FROM signing_key`).Scan(&sealed))
		require.NotContains(t, string(sealed), string(keys[0].Private.Seed()))
		require.Equal(t, "signing key "+keys[0].ID, fmt.Sprint(keys[0]), "a printed key shows no secret")
	})
}

// addKey adds a signing key as another server would.
func addKey(t *testing.T, backend storetest.Backend, sealer *seal.Sealer, id string, created time.Time) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	_, err = backend.SQL(t).Exec(`INSERT INTO signing_key (id, public, sealed, created_at) VALUES ($1, $2, $3, $4)`,
		id, []byte(public), sealer.Seal("signing_key/"+id, private.Seed()), created.UnixMicro())
	require.NoError(t, err)
}

func TestSigningKeysNewestFirst(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s, sealer := backend.Open(t), storetest.NewSealer(t, 1)
		day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
		addKey(t, backend, sealer, "b", day)
		addKey(t, backend, sealer, "newest", day.Add(time.Hour))
		addKey(t, backend, sealer, "a", day)
		keys, err := s.Access.SigningKeys(t.Context(), sealer)
		require.NoError(t, err)
		var ids []string
		for _, key := range keys {
			ids = append(ids, key.ID)
		}
		require.Equal(t, []string{"newest", "b", "a"}, ids)
		require.Equal(t, day.Add(time.Hour), keys[0].CreatedAt)
	})
}

func TestSigningKeysOfConcurrentServers(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		sealer := storetest.NewSealer(t, 1)
		servers := []*shop.Store{backend.Open(t), backend.Open(t), backend.Open(t)}
		var group sync.WaitGroup
		failures := make([]error, 4*len(servers))
		for i := range failures {
			group.Go(func() {
				keys, err := servers[i%len(servers)].Access.SigningKeys(t.Context(), sealer)
				if err == nil && len(keys) == 0 {
					err = fmt.Errorf("server %d has no key to sign with", i)
				}
				failures[i] = err
			})
		}
		group.Wait()
		for _, err := range failures {
			require.NoError(t, err)
		}
		first, err := servers[0].Access.SigningKeys(t.Context(), sealer)
		require.NoError(t, err)
		for _, s := range servers[1:] {
			keys, err := s.Access.SigningKeys(t.Context(), sealer)
			require.NoError(t, err)
			require.Equal(t, first, keys)
		}
		if backend.Name == "sqlite" {
			require.Len(t, first, 1, "all servers agree on one key")
		}
	})
}

func TestSigningKeysRefuses(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s, sealer := backend.Open(t), storetest.NewSealer(t, 1)
		keys, err := s.Access.SigningKeys(t.Context(), sealer)
		require.NoError(t, err)

		_, err = s.Access.SigningKeys(t.Context(), storetest.NewSealer(t, 2))
		require.ErrorIs(t, err, seal.ErrKey)
		require.ErrorContains(t, err, "signing_key/"+keys[0].ID)

		_, err = backend.SQL(t).Exec(`UPDATE signing_key SET public = $1`, make([]byte, ed25519.PublicKeySize))
		require.NoError(t, err)
		_, err = s.Access.SigningKeys(t.Context(), sealer)
		require.ErrorContains(t, err, "do not match")
	})
}
