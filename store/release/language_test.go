package release

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/language"

	"portico/store/release/segment"
)

// A region implies a script by CLDR's likely subtags: texts in that script are
// found before those in the language's usual one. Every language and region
// that CLDR knows is asked for.
func TestLookupFindsTheScriptOfARegion(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, base := range language.Supported.BaseLanguages() {
		bare := language.Make(base.String())
		if bare.String() != base.String() || bare == language.Und {
			continue // another name of a language
		}
		usual, _ := bare.Script()
		for _, region := range language.Supported.Regions() {
			tag, err := language.Raw.Compose(base, region)
			require.NoError(t, err)
			script, _ := tag.Script()
			if script == usual || script.String() == "Zzzz" { // Zzzz: no script is known
				continue
			}
			checked++
			inScript := base.String() + "-" + script.String()
			release := &segment.Release{Locale: "en", Locales: []string{base.String(), "fr", inScript}}
			require.Equal(t, []string{inScript, base.String()}, lookup([]language.Tag{tag}, release), "%s", tag)
		}
	}
	require.Greater(t, checked, 50, "regions that imply a script")
}

func TestLookupOrder(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, asked, base string
		have, want        []string
	}{
		{"the tag, its parents, its shorter forms", "zh-Hant-MO", "en", []string{"zh", "zh-Hant", "zh-Hant-HK", "zh-Hant-MO"}, []string{"zh-Hant-MO", "zh-Hant-HK", "zh-Hant", "zh"}},
		{"a parent that is a group of regions", "es-AR", "en", []string{"es", "es-419"}, []string{"es-419", "es"}},
		{"a parent in another region", "pt-AO", "en", []string{"pt-BR", "pt-PT"}, []string{"pt-PT", "pt-BR"}},
		{"a written script before the bare language", "zh-Hans-CN", "en", []string{"zh", "zh-Hans"}, []string{"zh-Hans", "zh"}},
		{"other regions after the language", "de-CH", "en", []string{"de-AT", "de"}, []string{"de", "de-AT"}},
		{"the same region with its script written", "zh-TW", "en", []string{"zh-Hant-TW"}, []string{"zh-Hant-TW"}},
		{"other regions in the same script only", "zh-HK", "en", []string{"zh-CN", "zh-TW"}, []string{"zh-TW"}},
		{"a tag without a region finds its regions", "pt", "en", []string{"pt-BR"}, []string{"pt-BR"}},
		{"a region finds others before the next language", "de-DE,fr", "en", []string{"fr", "de-AT", "zh-Hant"}, []string{"de-AT", "fr"}},
		{"so does a tag without a region", "de,fr", "en", []string{"fr", "de-AT", "zh-Hant"}, []string{"de-AT", "fr"}},
		{"but not in another script", "zh,fr", "en", []string{"fr", "de-AT", "zh-Hant"}, []string{"fr"}},
		{"the base text in a region ends the list for its language", "en,fr", "en-GB", []string{"fr"}, nil},
		{"the base text ends the list", "en-AU,fr", "en", []string{"en-GB", "fr"}, nil},
		{"the base text of another region ends it too", "en-AU,fr", "en-US", []string{"en-GB", "fr"}, []string{"en-GB"}},
		{"any language", "mul,fr", "en", []string{"fr"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, lookup(parseTags(test.asked), &segment.Release{Locale: test.base, Locales: test.have}))
		})
	}
}

// TestLookupOfManyLanguagesCostsLittle requires that many languages are looked up within few allocations.
func TestLookupOfManyLanguagesCostsLittle(t *testing.T) {
	var many []language.Tag
	for _, base := range language.Supported.BaseLanguages()[:32] {
		many = append(many, language.Make(base.String()+"-Latn-AT"))
	}
	release := &segment.Release{Locale: "en", Locales: []string{"fr", "de-AT", "zh-Hant"}}
	require.Less(t, testing.AllocsPerRun(3, func() { lookup(many, release) }), 5500.)
}

// parseTags parses tags, separated by commas.
func parseTags(list string) (tags []language.Tag) {
	for tag := range strings.SplitSeq(list, ",") {
		tags = append(tags, language.MustParse(tag))
	}
	return tags
}
