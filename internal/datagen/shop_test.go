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
		{1, 1, "adedf9f027df465c01bcb4e9f3f1f5e987be7aa0c89d6171d9c096567ca12707"},
		{20, 1, "3672022f372524e6b125fbc3d0db5814eb9bcb3f0c3771a3ba3fe1090d9f1d5a"},
		{300, 7, "a5b322752f5e364e8f08d89e08abc000590bc94d478893ba71e0e3154ba86851"},
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
