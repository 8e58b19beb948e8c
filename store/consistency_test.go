package store_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
)

func TestConsistencyTokens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]store.ConsistencyToken{
		"":                              {},
		"0":                             {},
		"settings=7":                    {"settings": 7},
		"stock/a=5,settings=7":          {"stock/a": 5, "settings": 7},
		" settings=7 ,0,, settings=3, ": {"settings": 7},
	} {
		token, err := store.ParseConsistencyToken([]string{text})
		require.NoError(t, err, text)
		require.Equal(t, want, token, text)
		again, err := store.ParseConsistencyToken([]string{token.String()})
		require.NoError(t, err)
		require.Equal(t, want, again, "as it is written")
	}
	for _, text := range []string{"1", "settings", "settings=", "settings=0", "settings=-1", "settings=+1", "settings=1.5", "=1", "Settings=1", "settings=99999999999999999999",
		"set tings=1", strings.Repeat("a", 33) + "=1", strings.Repeat("a=1,", 600)} {
		_, err := store.ParseConsistencyToken([]string{text})
		require.True(t, store.HasCode(err, store.Invalid), text)
		require.ErrorContains(t, err, store.ConsistencyHeader, text)
	}
	require.Equal(t, "0", store.ConsistencyToken{}.String())
}
