package catalog_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/language"

	"portico/store/catalog"
)

// Tags have the case that BCP 47 recommends, which package language writes too where it keeps the subtags.
func TestCanonicalTag(t *testing.T) {
	t.Parallel()
	for _, tag := range []string{"fr", "fr-CA", "zh-Hant", "zh-Hant-TW", "de-CH-1996", "sl-rozaj-biske-1994", "en-x-shop", "de-DE-u-co-phonebk", "es-419", ""} {
		for _, written := range []string{tag, strings.ToLower(tag), strings.ToUpper(tag), strings.ReplaceAll(tag, "-", "_")} {
			require.Equal(t, tag, catalog.CanonicalTag(written), written)
		}
		if tag != "" {
			require.Equal(t, language.Raw.Make(tag).String(), tag)
		}
	}
}
