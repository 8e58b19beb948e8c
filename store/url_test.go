package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
)

func TestCheckURL(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"postgres://portico:p%402024%2Fx@host/db", "postgres://portico@host:5432/db?sslmode=none", "postgres://db1:5432,[::1]:5432/shop",
		"postgres://%2Fvar%2Frun/db", "https://shop.example/%40me?by=%40me", "file:a@b/c.db", "",
	} {
		require.NoError(t, store.CheckURL(address), address)
	}
	for _, address := range []string{
		"postgres://portico:p@2024/x@host/db", "postgres://portico:p@2024@host/db", "postgres://portico:2024/x@host/db",
		"postgres://portico:2024?x@host/db", "postgres://portico:2024#x@host/db", "postgres://portico:p/2024@host/db",
		"postgres://portico@host/db?password=p@2024", "https://2024:2024/x@host",
	} {
		err := store.CheckURL(address)
		require.ErrorContains(t, err, "%40 for @ and %2F for /", address)
		require.NotContains(t, err.Error(), "24", address)
		require.NotContains(t, err.Error(), "host", address)
	}
}
