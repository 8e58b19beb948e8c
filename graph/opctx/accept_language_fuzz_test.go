package opctx

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever a browser sends as languages, few are taken, and each is a tag.
//
//	go test ./graph/opctx -run - -fuzz FuzzAcceptLanguage
func FuzzAcceptLanguage(f *testing.F) {
	for _, seed := range []string{"", "*", "de", "de-AT,de;q=0.9,en;q=0.8", "fr_CA", "de;q=2", "x-private", "-", ";;;,,,", "\xff", "zh-Hant-TW;q=0.001"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list := acceptLanguage(text)
		require.LessOrEqual(t, len(list), min(1+len(text)/2, maxLanguages))
		for _, tag := range list {
			require.NotEmpty(t, tag.String())
		}
	})
}
