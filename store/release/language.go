package release

import (
	"slices"
	"strings"

	"golang.org/x/text/language"

	"portico/internal/cachekey"
	"portico/store/db"
	"portico/store/release/segment"
)

// acceptedLanguages is a shopper's languages applied to a release.
type acceptedLanguages struct {
	languages []string     // to look for in a product's languages, best first
	locale    language.Tag // in which amounts are written
	name      cachekey.Key // of both, for cache keys
}

// Size is about the memory in bytes.
func (a *acceptedLanguages) Size() int { return 128 + 2*a.name.Size() + 16*len(a.languages) }

// acceptedLanguages returns a shopper's preferred languages applied to a release, from the cache if it can.
func (s *Service) acceptedLanguages(release *segment.Release, preferred []language.Tag) *acceptedLanguages {
	tags := make([]string, len(preferred))
	for i, tag := range preferred {
		tags[i] = tag.String()
	}
	key := db.CacheKey{Release: release.CacheIdentity(), Kind: cachedLanguages, Name: cachekey.New(tags...)}
	if kept, ok := db.Cached[*acceptedLanguages](s.db.Cache, key); ok {
		return kept
	}
	a := &acceptedLanguages{languages: lookup(preferred, release), locale: amountLocale(preferred, release.Locale)}
	a.name = cachekey.Join(cachekey.New(a.languages...), cachekey.New(a.locale.String()))
	s.db.Cache.Set(key, a)
	return a
}

// amountLocale returns the locale in which amounts are written: language, script and region of the first preferred tag,
// else of the base. Nothing else of a tag changes how an amount is written, so nothing else becomes part of a key.
func amountLocale(preferred []language.Tag, base string) language.Tag {
	locale := language.Make(base)
	if len(preferred) > 0 && preferred[0] != language.Make("mul") { // any
		locale = preferred[0]
	}
	written, script, region := locale.Raw()
	if plain, err := language.Raw.Compose(written, script, region); err == nil {
		return plain
	}
	return locale
}

// lookup returns the languages of a release that match the preferred tags, best first. Each tag adds its fallbacks, then
// the same language and script of other regions, before the next tag. The base language ends the list
// (docs/architecture.md, decision 8).
func lookup(preferred []language.Tag, release *segment.Release) (languages []string) {
	add := func(have string) {
		if !slices.Contains(languages, have) {
			languages = append(languages, have)
		}
	}
	for _, tag := range preferred {
		for _, text := range fallbacks(tag) {
			if strings.EqualFold(text, release.Locale) || text == "mul" { // any
				return languages
			}
			for _, have := range release.Locales {
				if strings.EqualFold(have, text) {
					add(have)
				}
			}
		}
		for _, have := range release.Locales {
			if sameScript(tag, language.Make(have)) {
				add(have)
			}
		}
		if sameScript(tag, language.Make(release.Locale)) {
			return languages
		}
	}
	return languages
}

// fallbacks returns the tags to look up for a tag: itself, its shorter forms
// that still name a region, its parents by CLDR (en-AU: en-001), the script
// that the region implies (zh-TW: zh-Hant), and then the other shorter forms of
// RFC 4647.
func fallbacks(tag language.Tag) (texts []string) {
	var noRegion []string
	_, _, region := tag.Raw()
	for text := tag.String(); text != ""; text = shorter(text) {
		if _, _, r := language.Make(text).Raw(); r == region {
			texts = append(texts, text)
		} else {
			noRegion = append(noRegion, text)
		}
	}
	for parent := tag.Parent(); parent != language.Und; parent = parent.Parent() {
		if text := parent.String(); !slices.Contains(noRegion, text) {
			texts = append(texts, text)
		}
	}
	base, _ := tag.Base()
	if script, _ := tag.Script(); !sameScript(tag, language.Make(base.String())) {
		texts = append(texts, base.String()+"-"+script.String())
	}
	return append(texts, noRegion...)
}

// sameScript reports whether two tags have one language and script. A tag
// without a script has the likely one by CLDR.
func sameScript(a, b language.Tag) bool {
	language1, _ := a.Base()
	language2, _ := b.Base()
	script1, _ := a.Script()
	script2, _ := b.Script()
	return language1 == language2 && script1 == script2
}

// shorter removes the last subtag, and a singleton before it.
func shorter(tag string) string {
	parts := strings.Split(tag, "-")
	parts = parts[:len(parts)-1]
	if n := len(parts); n > 1 && len(parts[n-1]) == 1 {
		parts = parts[:n-1]
	}
	return strings.Join(parts, "-")
}
