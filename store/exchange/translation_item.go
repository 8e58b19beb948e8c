package exchange

import (
	"slices"
	"strconv"
	"strings"
)

// SeoInput is what search engines show.
type SeoInput struct {
	Title       *string `json:"title,omitempty"`
	Description *string `json:"description,omitempty"`
}

// TranslationInput is the texts of a product, node or hierarchy in a language. Nil members keep their value, unless
// they are among the nulls.
type TranslationInput struct {
	Locale      string    `json:"locale"`
	Name        *string   `json:"name,omitempty"`
	Description *string   `json:"description,omitempty"`
	Seo         *SeoInput `json:"seo,omitempty"`
}

func (seo *SeoInput) patch(p *itemPatch, member, path string) {
	if seo == nil {
		put[any](p, member, path, nil)
		return
	}
	put(p, member+".title", path+".title", seo.Title)
	put(p, member+".description", path+".description", seo.Description)
}

// patchTranslations adds texts by language; languages that the item does not name stay. An object in the place of the
// list is its only element.
func patchTranslations(p *itemPatch, translations []*TranslationInput) {
	if translations == nil && p.null("translations") {
		p.set(nil, "attributes", "locales")
	}
	for i, text := range translations {
		cleared := func(name string) bool {
			return p.null("translations."+strconv.Itoa(i)+"."+name) || len(translations) == 1 && p.null("translations."+name)
		}
		locale := []string{"attributes", "locales", canonicalTag(text.Locale)}
		set := func(name string, value *string) {
			if path := append(slices.Clone(locale), strings.Split(name, ".")...); value != nil {
				p.set(*value, path...)
			} else if cleared(name) {
				p.set(nil, path...)
			}
		}
		set("name", text.Name)
		set("description", text.Description)
		if text.Seo != nil {
			set("seo.title", text.Seo.Title)
			set("seo.description", text.Seo.Description)
		} else {
			set("seo", nil)
		}
	}
}

// translationPath returns the path in the item of a member of attributes.locales.
func translationPath(rest []string, translations []*TranslationInput) []string {
	return keyedPath("translations", rest, translations, func(t *TranslationInput) string { return canonicalTag(t.Locale) })
}

// canonicalTag returns fr-CA for fr_CA, as imports do.
func canonicalTag(locale string) string { return strings.ReplaceAll(locale, "_", "-") }
