package exchange

import (
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

// patchTranslations adds texts by language; languages that the item does not name stay.
func patchTranslations(p *itemPatch, translations []*TranslationInput) {
	if translations == nil && p.null("translations") {
		p.set(nil, "attributes", "locales")
	}
	for i, text := range translations {
		member := "translations." + strconv.Itoa(i)
		p.translation(text.Locale, "name", member, text.Name)
		p.translation(text.Locale, "description", member, text.Description)
		if text.Seo == nil {
			if p.null(member + ".seo") {
				p.set(nil, "attributes", "locales", canonicalTag(text.Locale), "seo")
			}
			continue
		}
		p.translation(text.Locale, "seo.title", member, text.Seo.Title)
		p.translation(text.Locale, "seo.description", member, text.Seo.Description)
	}
}

// translation sets a text in a language.
func (p *itemPatch) translation(locale, name, member string, text *string) {
	path := append([]string{"attributes", "locales", canonicalTag(locale)}, strings.Split(name, ".")...)
	if text != nil {
		p.set(*text, path...)
	} else if p.null(member + "." + name) {
		p.set(nil, path...)
	}
}

// translationPath returns the path in the item of a member of attributes.locales.
func translationPath(rest []string, translations []*TranslationInput) []string {
	return keyedPath("translations", rest, translations, func(t *TranslationInput) string { return canonicalTag(t.Locale) })
}

// canonicalTag returns fr-CA for fr_CA, as imports do.
func canonicalTag(locale string) string { return strings.ReplaceAll(locale, "_", "-") }
