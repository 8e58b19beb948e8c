package auth_test

import (
	"crypto/ed25519"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/storetest/testkit"
)

func TestServersShareKeys(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, other := f.server(t)
	_, err := other.Verify(t.Context(), f.token(t).AccessToken)
	require.NoError(t, err)
	require.Equal(t, f.service.JWKS(), other.JWKS())
}

func TestUnknownKeyIsLookedUpOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	token := sign(t, jose.EdDSA, f.addKey(t, "new"), "new", say(nil))
	_, err := f.service.Verify(t.Context(), token)
	require.NoError(t, err, "a key that another server made a moment ago")

	_, stranger, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	unknown := sign(t, jose.EdDSA, stranger, "stranger", say(nil))
	reads := func() int {
		ctx, counter := store.CountStatements(t.Context())
		_, err := f.service.Verify(ctx, unknown)
		require.True(t, store.HasCode(err, store.Unauthenticated))
		return counter.Count()
	}
	require.Zero(t, reads(), "in the same second")
	f.clock.Advance(999 * time.Millisecond)
	require.Zero(t, reads(), "in the same second still")
	f.clock.Advance(time.Millisecond)
	require.Equal(t, 1, reads(), "a second later")
	require.Zero(t, reads(), "right after")
}

func TestUnknownKeyDuringDatabaseFailure(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	good := f.token(t).AccessToken
	f.exec(t, `ALTER TABLE signing_key RENAME TO gone`)
	_, stranger, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	for range 2 { // the second call does not query again
		_, err = f.service.Verify(t.Context(), sign(t, jose.EdDSA, stranger, "stranger", say(nil)))
		require.True(t, store.HasCode(err, store.Internal), "a failure of ours must not say that the token is bad: %v", err)
	}
	_, err = f.service.Verify(t.Context(), good)
	require.NoError(t, err, "known keys stay in use")
}

func TestTokensOfRemovedKeyAreRejected(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	token := f.token(t).AccessToken
	_, err := f.service.Verify(t.Context(), token)
	require.NoError(t, err)

	f.exec(t, `DELETE FROM signing_key`)
	f.exec(t, `UPDATE change SET version = version + 100 WHERE topic = 'keys'`)
	testkit.Eventually(t, true, func() bool {
		_, err := f.service.Verify(t.Context(), token)
		return store.HasCode(err, store.Unauthenticated)
	}, "a remembered token must go with its key")
	_, err = f.service.Verify(t.Context(), f.token(t).AccessToken)
	require.NoError(t, err, "a new key signs")
}

func TestConcurrentVerify(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	newKey := f.addKey(t, "new")
	tokens := []string{
		f.token(t).AccessToken,
		sign(t, jose.EdDSA, newKey, "new", say(nil)),
		sign(t, jose.EdDSA, newKey, "new", say(map[string]any{"jti": "2"})),
	}
	failures := make([]error, 60)
	var group sync.WaitGroup
	for i := range failures {
		group.Go(func() { _, failures[i] = f.service.Verify(t.Context(), tokens[i%len(tokens)]) })
	}
	group.Wait()
	for _, err := range failures {
		require.NoError(t, err)
	}
}
