package release

import (
	"context"
	"encoding/json"
	"strings"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/release/segment"
)

// ProductTranslation is a product's texts in one language. A text that the
// language lacks is the base one.
type ProductTranslation struct {
	Locale      string
	Name        string
	Description *string // nil for none
}

// translations are the texts of one product.
type translations []*ProductTranslation

func (t translations) Size() int {
	n := 24
	for _, texts := range t {
		n += 88 + len(texts.Locale) + len(texts.Name)
		if texts.Description != nil {
			n += len(*texts.Description)
		}
	}
	return n
}

// TranslationsByID returns the texts of several products in all their languages:
// the base text first, then by tag. It leaves out unknown ids. It takes three
// statements at most for each 512 products.
func (v *View) TranslationsByID(ctx context.Context, ids []string) (map[string][]*ProductTranslation, error) {
	ordinals, err := v.OrdinalsByID(ctx, ids, nil)
	if err != nil || len(ordinals) == 0 {
		return nil, err
	}
	key, found := db.CacheKey{Kind: cachedTranslated}, make(map[uint32]translations, len(ordinals))
	var missing []uint32
	for _, ordinal := range segment.Ordered(ordinals) {
		key.Release, key.Number = v.Release.HolderIdentity(int(ordinal)), int(ordinal)
		if cached, ok := db.Cached[translations](v.Cache, key); ok {
			found[ordinal] = cached
		} else {
			missing = append(missing, ordinal)
		}
	}
	if err := store.Chunked(missing, 512, func(ordinals []uint32) error {
		documents, err := v.Translations(ctx, ordinals)
		if err != nil {
			return err
		}
		for i, ordinal := range ordinals {
			if len(documents[i]) == 0 {
				return segment.ErrGone
			}
			texts := make(translations, len(documents[i]))
			for n, d := range documents[i] {
				if texts[n], err = textsOf(d); err != nil {
					return err
				}
			}
			key.Release, key.Number, found[ordinal] = v.Release.HolderIdentity(int(ordinal)), int(ordinal), texts
			v.Cache.Set(key, texts)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	byID := make(map[string][]*ProductTranslation, len(ordinals))
	for id, ordinal := range ordinals {
		byID[id] = found[uint32(ordinal)]
	}
	return byID, nil
}

// textsOf decodes the texts of a document, which are before its line break. Without the scanner, which reads the exact form,
// it closes the two open objects and decodes the JSON.
func textsOf(d segment.Translation) (*ProductTranslation, error) {
	attributes, _, _ := strings.Cut(d.Document, "\n")
	s := catalog.DocumentScanner{Input: attributes}
	s.Member(`{"id":`)
	s.Skip(`,"type":"product","attributes":`)
	texts := &ProductTranslation{d.Language, strings.Clone(s.Member(`{"name":`)), store.NonEmpty(strings.Clone(s.Member(`,"description":`)))}
	if !s.Failed {
		return texts, nil
	}
	var read struct {
		Attributes struct{ Name, Description string } `json:"attributes"`
	}
	err := json.Unmarshal([]byte(attributes+"}}"), &read)
	return &ProductTranslation{d.Language, read.Attributes.Name, store.NonEmpty(read.Attributes.Description)}, err
}
