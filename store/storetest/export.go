package storetest

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/shop"
)

// elsewhere is another, empty store of the engine.
func OpenEmpty(t testing.TB, e Backend) *shop.Store {
	t.Helper()
	s, err := shop.Open(context.Background(), shop.Config{URL: e.OtherURL(t), Synchronous: "OFF"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// requireSameElsewhere imports a store's export into an empty store, which
// must export the same.
func RequireSameAfterImport(t *testing.T, e Backend, s *shop.Store) {
	t.Helper()
	want := Export(t, s)
	other := OpenEmpty(t, e)
	Import(t, other, want)
	RequireSameLines(t, want, Export(t, other))
}

// requireSameFile tells the first line of two long files that differs.
func RequireSameLines(t require.TestingT, want, got string) {
	wanted, found := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(wanted), len(found)) {
		require.Equal(t, wanted[i], found[i], "line %d", i+1)
	}
	require.Equal(t, len(wanted), len(found), "lines")
}
