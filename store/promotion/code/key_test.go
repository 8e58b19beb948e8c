package code

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestKey(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "SAVE-10": "SAVE-10", "save-10": "SAVE-10", "\u017fave": "SAVE", "\u212aey": "KEY", "straße": "STRA\u00dfE",
		"STRA\u1e9eE": "STRA\u00dfE", "ος": "ΟΣ", "οσ": "ΟΣ", "éÉ": "ÉÉ", "iıİI": "IıİI", "日本": "日本"} {
		require.Equal(t, want, Key(text), text)
	}
	character := rapid.OneOf(rapid.SampledFrom([]rune("aAbBsS\u017fkK\u212aßẞςσΣiıİIéÉ1-日")), rapid.Rune())
	rapid.Check(t, func(r *rapid.T) {
		draw := func(label string) string { return string(rapid.SliceOfN(character, 0, 4).Draw(r, label)) }
		a, b := draw("a"), draw("b")
		require.Equal(r, strings.EqualFold(a, b), Key(a) == Key(b), "%q %q", a, b)
		require.True(r, strings.EqualFold(a, Key(a)) && Key(Key(a)) == Key(a) && len(Key(a)) <= len(a), "%q", a)
	})
}
