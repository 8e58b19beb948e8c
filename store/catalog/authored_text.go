package catalog

import (
	"context"
	"iter"
	"maps"
	"slices"

	"portico/store"
)

// AuthoredTranslation is the texts of a product, node or hierarchy in a language, as authored: empty if not set.
type AuthoredTranslation struct {
	Locale      string // BCP 47 tag
	Name        string
	Description string
	SEO         SEOText
}

// authoredTranslations returns the texts in other languages, by language; nil for none.
func authoredTranslations(texts map[string]LocaleText) (list []*AuthoredTranslation) {
	for _, tag := range slices.Sorted(maps.Keys(texts)) {
		text := texts[tag]
		list = append(list, &AuthoredTranslation{Locale: tag, Name: text.Name, Description: text.Description, SEO: text.SEO.orEmpty()})
	}
	return list
}

// authored is a row of a list of what is authored, which may hold any number of texts.
type authored interface {
	textSize() int // bytes that are read for it, besides those of any row
}

// decodedSize is the bytes that decoding a line takes for each of its bytes, as store.Charge counts them.
const decodedSize = 2

// chargedList returns a list that was read, and accounts for its texts.
func chargedList[T authored](ctx context.Context, list *store.Slice[T], err error) (*store.Slice[T], error) {
	if err == nil {
		err = chargeTexts(ctx, slices.Values(list.Items))
	}
	if err != nil {
		return nil, err
	}
	return list, nil
}

// chargedByID is chargedList for rows by id.
func chargedByID[T authored](ctx context.Context, rows map[string]T, err error) (map[string]T, error) {
	if err == nil {
		err = chargeTexts(ctx, maps.Values(rows))
	}
	if err != nil {
		return nil, err
	}
	return rows, nil
}

func chargeTexts[T authored](ctx context.Context, rows iter.Seq[T]) error {
	size := 0
	for row := range rows {
		size += row.textSize()
	}
	return store.Charge(ctx, size)
}

// translationOverhead is the bytes of a translation besides its texts.
const translationOverhead = 256

// attributeOverhead is the bytes of a value of an attribute besides its key and its JSON.
const attributeOverhead = 64

func translationsSize(translations []*AuthoredTranslation) (size int) {
	for _, text := range translations {
		size += translationOverhead + len(text.Name) + len(text.Description) + len(text.SEO.Title) + len(text.SEO.Description)
	}
	return size
}
