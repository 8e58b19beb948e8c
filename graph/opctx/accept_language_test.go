package opctx

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/language"
)

func TestAcceptLanguage(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"":                        "",
		"FR":                      "fr",
		"fr-CA,fr;q=0.8,en;q=0.5": "fr-CA fr en",
		"pt-BR;q=0.5,fr;q=0.9":    "fr pt-BR", // by weight, not by place
		"fr;q=0":                  "",
		"*":                       "mul",
		"de,*;q=0.1":              "de mul",
		"!!!;q=x":                 "",
		"qq-QQ,fr;q=0.5":          "fr", // an unknown tag does not spoil the others
		"de,,fr":                  "de fr",
		strings.Repeat("de,", maxLanguages-1) + "fr,en": strings.Repeat("de ", maxLanguages-1) + "fr",
	} {
		var got []string
		for _, tag := range acceptLanguage(value) {
			got = append(got, tag.String())
		}
		require.Equal(t, want, strings.Join(got, " "), value)
	}
}

// TestLongAcceptLanguageCostsLittle requires that a long value is parsed within few allocations.
func TestLongAcceptLanguageCostsLittle(t *testing.T) {
	var long []string
	for _, base := range language.Supported.BaseLanguages() {
		long = append(long, base.String()+"-Latn-AT;q=0.5")
	}
	value := strings.Join(long, ",")
	require.Less(t, testing.AllocsPerRun(3, func() { acceptLanguage(value) }), 1000.)
}
