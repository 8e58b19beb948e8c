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

// checkLocales checks texts by language, and converts their tags to BCP 47: fr_CA becomes fr-CA.
func checkLocales(f *authoring.Validator, member string, texts map[string]LocaleText) {
	for _, tag := range slices.Sorted(maps.Keys(texts)) {
		canonical := strings.ReplaceAll(tag, "_", "-")
		if canonical == tag {
			continue
		}
		if _, twice := texts[canonical]; twice {
			f.Add(member+"."+tag, "is also present as %s; keep one of them", canonical)
		}
		texts[canonical] = texts[tag]
		delete(texts, tag)
	}
	for tag, text := range texts {
		f.Locale(member+"."+tag, tag)
		f.Text(member+"."+tag+".name", text.Name, authoring.MaxName)
		f.Text(member+"."+tag+".description", text.Description, authoring.MaxDescription)
		checkSEO(f, member+"."+tag+".seo", &text.SEO)
		texts[tag] = text
	}
}

// seo returns what search engines show in the language, where the base language shows other texts. A fall-back in the
// language is better than a text in another.
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
