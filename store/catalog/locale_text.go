package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"portico/store/authoring"
)

// LocaleText is the text of a product or node in one language. A text that is empty is shown in the base language.
type LocaleText struct {
	Name        string   `json:"name,omitempty"`
	Description string   `json:"description,omitempty"`
	SEO         *SEOText `json:"seo,omitempty"`
}

// CanonicalTag returns a language tag as BCP 47 recommends to write it: zh-Hant-TW for ZH_hant_tw.
func CanonicalTag(tag string) string {
	parts := strings.Split(strings.ToLower(strings.ReplaceAll(tag, "_", "-")), "-")
	for i, part := range parts {
		switch {
		case i == 0:
		case len(parts[i-1]) == 1: // after a singleton, such as x for private use, all is in lower case
			return strings.Join(parts, "-")
		case len(part) == 2:
			parts[i] = strings.ToUpper(part) // a region
		case len(part) == 4 && part[0] >= 'a':
			parts[i] = strings.ToUpper(part[:1]) + part[1:] // a script
		}
	}
	return strings.Join(parts, "-")
}

// canonicalTags replaces the tags of texts by language by canonical ones. It adds an error if two tags become the same.
func canonicalTags[T any](f *authoring.Validator, member string, texts map[string]T) {
	for _, tag := range slices.Sorted(maps.Keys(texts)) {
		canonical := CanonicalTag(tag)
		if canonical == tag || !authoring.IsLocale(tag) { // the check of each tag names it as it was written
			continue
		}
		if _, twice := texts[canonical]; twice {
			f.Add(member+"."+tag, "is also present as %s; keep one of them", canonical)
		}
		texts[canonical] = texts[tag]
		delete(texts, tag)
	}
}

// checkLocales checks texts by language, makes their tags canonical, and replaces empty texts for search engines by nil.
func checkLocales(f *authoring.Validator, member string, texts map[string]LocaleText) {
	canonicalTags(f, member, texts)
	for tag, text := range texts {
		f.Locale(member+"."+tag, tag)
		f.Text(member+"."+tag+".name", text.Name, authoring.MaxName)
		f.Text(member+"."+tag+".description", text.Description, authoring.MaxDescription)
		checkSEO(f, member+"."+tag+".seo", &text.SEO)
		texts[tag] = text
	}
}

// seo returns what search engines show in the language, where the base language shows other texts. An empty title is shown
// as the name, and an empty description as the description: those are in the language, if it has them, and so better than
// the title and description of the base language.
func (t LocaleText) seo(base SEOText) SEOText {
	if t.Name != "" {
		base.Title = ""
	}
	if t.Description != "" {
		base.Description = ""
	}
	if t.SEO != nil {
		base.Title, base.Description = cmp.Or(t.SEO.Title, base.Title), cmp.Or(t.SEO.Description, base.Description)
	}
	return base
}
