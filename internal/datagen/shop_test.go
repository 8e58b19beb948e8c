package datagen_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/datagen"
)

// Benchmarks are compared across versions, so a shop must not change.
func TestWriteShopIsDeterministic(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		products int
		seed     uint64
		want     string
	}{
		{1, 1, "bd87c26de18de424cf86a4123655c030d17ec8155e90923f361e205be2a19a06"},
		{20, 1, "ef5d0142b6254fbe720a76e03aa3cfaa49ddb76dd6e37628842b370e2e8603db"},
		{300, 7, "6f472e829f58b2fb0422d25eb88b8e5885474140a6e122f36ca27f4921cc7744"},
	} {
		sum := sha256.New()
		require.NoError(t, datagen.WriteShop(sum, test.products, test.seed))
		require.Equal(t, test.want, hex.EncodeToString(sum.Sum(nil)), "%d products of the seed %d", test.products, test.seed)
	}
}

func TestWriteShopWithoutProducts(t *testing.T) {
	t.Parallel()
	require.Error(t, datagen.WriteShop(io.Discard, 0, 1))
}

func TestWriteShopReturnsWriteErrors(t *testing.T) {
	t.Parallel()
	full := errors.New("the disk is full")
	require.ErrorIs(t, datagen.WriteShop(failingWriter{full}, 1000, 1), full)
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }
