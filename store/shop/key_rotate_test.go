package shop_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/access"
	"portico/store/seal"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// keyIDs returns the IDs of the signing keys in order.
func keyIDs(t *testing.T, s *shop.Store, sealer *seal.Sealer) (ids []string) {
	t.Helper()
	keys, err := s.Access.SigningKeys(t.Context(), sealer)
	require.NoError(t, err)
	for _, key := range keys {
		ids = append(ids, key.ID)
	}
	return ids
}

func TestRotateSigningKey(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		clock, sealer := testkit.NewClock(newYear), storetest.NewSealer(t, 1)
		s := backend.Open(t, storetest.WithClock(clock))
		first := keyIDs(t, s, sealer)[0]
		clock.Advance(time.Hour)
		before := s.Access.SigningKeysVersion()
		second, err := s.Access.RotateSigningKey(t.Context(), "command:test", sealer, time.Minute, false)
		require.NoError(t, err)
		require.NotEqual(t, before, s.Access.SigningKeysVersion(), "the version tells other servers")
		require.Equal(t, []string{second, first}, keyIDs(t, s, sealer))

		made, signs := newYear.Add(time.Hour), newYear.Add(time.Hour+time.Minute)
		states := func() []*access.SigningKeyState {
			list, err := s.Access.SigningKeyStates(t.Context())
			require.NoError(t, err)
			return list
		}
		require.Equal(t, []*access.SigningKeyState{
			{ID: second, CreatedAt: made, SignsAt: signs, MadeBy: "command:test"},
			{ID: first, CreatedAt: newYear, SignsAt: newYear, MadeBy: "system:signing-key", Signs: true},
		}, states(), "until its time comes, the new key is only published")

		clock.Set(signs)
		require.Equal(t, []*access.SigningKeyState{
			{ID: second, CreatedAt: made, SignsAt: signs, MadeBy: "command:test", Signs: true},
			{ID: first, CreatedAt: newYear, SignsAt: newYear, MadeBy: "system:signing-key", KeptUntil: signs.Add(25 * time.Hour)},
		}, states())

		clock.Set(signs.Add(25*time.Hour - time.Millisecond))
		third, err := s.Access.RotateSigningKey(t.Context(), "command:test", sealer, 0, false)
		require.NoError(t, err)
		require.Equal(t, []string{third, second, first}, keyIDs(t, s, sealer), "tokens of the first key may still be valid")
		clock.Set(signs.Add(25 * time.Hour))
		fourth, err := s.Access.RotateSigningKey(t.Context(), "command:test", sealer, 0, false)
		require.NoError(t, err)
		require.Equal(t, []string{fourth, third, second}, keyIDs(t, s, sealer), "the first key is no longer needed")

		fifth, err := s.Access.RotateSigningKey(t.Context(), "command:test", sealer, 0, true)
		require.NoError(t, err)
		require.Equal(t, []string{fifth}, keyIDs(t, s, sealer), "a leaked key is deleted at once")
		clock.Advance(1000 * time.Hour)
		sixth, err := s.Access.RotateSigningKey(t.Context(), "command:test", sealer, access.MaxKeyDelay, false)
		require.NoError(t, err)
		require.Equal(t, []string{sixth, fifth}, keyIDs(t, s, sealer), "the signing key is kept whatever its age")
	})
}

// TestWorkersSweepSigningKeys checks that a worker deletes expired keys.
func TestWorkersSweepSigningKeys(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		clock, sealer := testkit.NewClock(newYear), storetest.NewSealer(t, 1)
		s := backend.Open(t, storetest.WithClock(clock))
		keyIDs(t, s, sealer)
		clock.Advance(time.Second)
		second, err := s.Access.RotateSigningKey(t.Context(), "command:test", sealer, 0, false)
		require.NoError(t, err)
		clock.Advance(26 * time.Hour)
		storetest.RunWorker(t, s)
		testkit.Eventually(t, true, func() bool { return len(keyIDs(t, s, sealer)) == 1 })
		require.Equal(t, []string{second}, keyIDs(t, s, sealer))
	})
}

func TestRotateSigningKeyRefuses(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s, sealer := backend.Open(t), storetest.NewSealer(t, 1)
		before := keyIDs(t, s, sealer)
		for _, test := range []struct {
			delay     time.Duration
			endTokens bool
		}{{-1, false}, {access.MaxKeyDelay + 1, false}, {time.Second, true}} {
			_, err := s.Access.RotateSigningKey(t.Context(), "command:test", sealer, test.delay, test.endTokens)
			require.True(t, store.HasCode(err, store.Unprocessable), "%v", err)
			require.ErrorContains(t, err, "delay must be")
		}
		_, err := s.Access.RotateSigningKey(t.Context(), "command:test", storetest.NewSealer(t, 2), 0, false)
		require.ErrorIs(t, err, seal.ErrKey, "servers could not open a key with another seal")
		require.Equal(t, before, keyIDs(t, s, sealer))
	})
}
