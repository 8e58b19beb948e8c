package release_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
	"portico/store/storetest"
)

// The files of a product in memory are found without statements.
func TestFilesOf(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		v := storetest.View(t, storetest.OpenPublished(t, backend), release.ShopperContext{})
		product := storetest.FindProduct(t, v, "anvil")
		id := product.MainImageID()
		require.NotEmpty(t, id)
		ids, products := []string{id, "", "nothing", id}, []*release.Product{product, product, product, product}
		files, err := v.FilesOf(t.Context(), ids, products)
		require.NoError(t, err)
		require.Equal(t, id, files[0].ID)
		require.Same(t, files[0], files[3])
		require.Nil(t, files[1])
		require.Nil(t, files[2])
		ctx, counter := store.CountStatements(t.Context())
		_, err = v.FilesOf(ctx, []string{id, id}, products[:2])
		require.NoError(t, err)
		require.Empty(t, counter.Queries())
	})
}
