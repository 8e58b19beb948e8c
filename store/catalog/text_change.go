package catalog

import (
	"slices"
	"strconv"
	"strings"

	"portico/store"
)

// SEOChange is what changes of the texts for search engines. Nil members keep their value, unless they are among the
// nulls.
type SEOChange struct {
	Title       *string `json:"title,omitempty"`
	Description *string `json:"description,omitempty"`
}

// TranslationChange is what changes of the texts of a product, node or hierarchy in a language. Nil members keep their
// value, unless they are among the nulls.
type TranslationChange struct {
	Locale      string     `json:"locale"`
	Name        *string    `json:"name,omitempty"`
	Description *string    `json:"description,omitempty"`
	SEO         *SEOChange `json:"seo,omitempty"`
}

// PatchTexts calls set for each text that the members seo and translations of an input change, with its path in the
// attributes: locales, fr, name. A nil value clears it. Languages that are not in the list stay. null reports whether a
// member of the input is null, such as translations.0.name. It returns an error for each language that is in the list
// twice.
func PatchTexts(seo *SEOChange, translations []*TranslationChange, null func(member string) bool, set func(value any, path ...string)) store.Errors {
	put := func(value *string, member string, path ...string) {
		if value != nil {
			set(*value, path...)
		} else if null(member) {
			set(nil, path...)
		}
	}
	putSEO := func(seo *SEOChange, member string, path ...string) {
		if seo == nil {
			put(nil, member, path...)
			return
		}
		put(seo.Title, member+".title", slices.Concat(path, []string{"title"})...)
		put(seo.Description, member+".description", slices.Concat(path, []string{"description"})...)
	}
	putSEO(seo, "seo", "seo")
	if translations == nil {
		put(nil, "translations", "locales")
	}
	for i, text := range translations {
		member, locale := "translations."+strconv.Itoa(i), CanonicalTag(text.Locale)
		put(text.Name, member+".name", "locales", locale, "name")
		put(text.Description, member+".description", "locales", locale, "description")
		putSEO(text.SEO, member+".seo", "locales", locale, "seo")
	}
	return Repeated("translations", translations, translationTag)
}

// translationTag is the key of a translation in a line.
func translationTag(t *TranslationChange) string { return CanonicalTag(t.Locale) }

// Repeated returns an error for each element of a list whose key an earlier element has. Such lists of an input become
// objects, in which the last element of a key would replace the others. The path of the list has dots.
func Repeated[T any](list string, elements []T, key func(T) string) (faults store.Errors) {
	first := map[string]int{}
	for i, element := range elements {
		at, repeated := first[key(element)]
		if !repeated {
			first[key(element)] = i
			continue
		}
		faults = append(faults, store.Unprocessablef(append(strings.Split(list, "."), strconv.Itoa(i)),
			"repeats %q, which is in the list as number %d, counted from 0; send it once", store.Abbreviate(key(element)), at))
	}
	return faults
}
