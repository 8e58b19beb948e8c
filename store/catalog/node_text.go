package catalog

import (
	"context"
	"iter"
	"maps"
	"slices"

	"portico/store"
)

// AuthoredTranslation is the texts of a node or hierarchy in a language, as authored: empty if not set.
type AuthoredTranslation struct {
	Locale      string // BCP 47 tag
	Name        string
	Description string
	SEO         SEOText
}

// translations returns the texts in other languages, by language; nil for none.
func (a *nodeAttributes) translations() (list []*AuthoredTranslation) {
	for _, tag := range slices.Sorted(maps.Keys(a.Locales)) {
		text := a.Locales[tag]
		translation := &AuthoredTranslation{Locale: tag, Name: text.Name, Description: text.Description}
		if text.SEO != nil {
			translation.SEO = *text.SEO
		}
		list = append(list, translation)
	}
	return list
}

// chargeTranslations accounts for reading texts in other languages, of which a row may have any number.
func chargeTranslations[T any](ctx context.Context, rows iter.Seq[T], of func(T) []*AuthoredTranslation) error {
	size := 0
	for row := range rows {
		for _, text := range of(row) {
			size += translationOverhead + len(text.Name) + len(text.Description) + len(text.SEO.Title) + len(text.SEO.Description)
		}
	}
	return store.Charge(ctx, size)
}

// translationOverhead is the bytes of a translation besides its texts.
const translationOverhead = 256
