package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	for address, host := range map[string]string{
		"postgres://portico:p%402024%2Fx@host/db":      "host",
		"postgres://portico:p@2024@host/db":            "host",
		"postgres://portico@host:5432/db?sslmode=none": "host:5432",
		"https://shop.example/%40me?by=%40me":          "shop.example",
		"":                                             "",
	} {
		parsed, err := store.ParseURL(address)
		require.NoError(t, err, address)
		require.Equal(t, host, parsed.Host, address)
	}
	for _, address := range []string{
		"postgres://portico:p@2024/x@host/db", "postgres://portico:2024/x@host/db", "postgres://portico:2024?x@host/db",
		"postgres://portico:2024#x@host/db", "postgres://portico:p/2024@host/db", "postgres://portico:20%24@host/db",
		"https://2024:2024/x@host", "https://a\x7f2024@host",
	} {
		_, err := store.ParseURL(address)
		require.ErrorContains(t, err, "%40 for @ and %2F for /", address)
		require.NotContains(t, err.Error(), "24", address)
		require.NotContains(t, err.Error(), "host", address)
	}
}
