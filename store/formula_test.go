package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store"
)

func TestFormulasAreEscaped(t *testing.T) {
	t.Parallel()
	for text, cell := range map[string]string{"": "", "mug": "mug", "'": "'", "'mug": "'mug", "=1+1": "'=1+1", "-5": "'-5", "＠a": "'＠a", "'=a": "''=a", "''": "''", "mug ": "'mug ", " mug": "' mug", " ": "' ", "' ": "'' "} {
		require.Equal(t, cell, store.EscapeFormula(text))
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("'=+-@＝\t\r\n ab"))).Draw(t, "text")
		cell := store.EscapeFormula(text)
		require.NotRegexp(t, `^[=+\-@＝\t\r\n]`, cell)
		require.Equal(t, text, store.UnescapeFormula(cell))
	})
}
