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
	Language    string
	Name        string
	Description string
}

// translatedTexts are the texts of one document.
type translatedTexts struct{ name, description string }

func (t *translatedTexts) Size() int { return 64 + len(t.name) + len(t.description) }

// TranslationsByID returns the texts of several products in all their languages:
// the base text first, then by tag. It leaves out unknown ids. It takes three
// statements at most for each 512 products.
func (v *View) TranslationsByID(ctx context.Context, ids []string) (map[string][]*ProductTranslation, error) {
	places, err := v.PlacesByID(ctx, ids)
	if err != nil || len(places) == 0 {
		return nil, err
	}
	kept, err := v.TranslationsAt(ctx, segment.Ordered(places))
	if err != nil {
		return nil, err
	}
	var documents []int64
	for _, list := range kept {
		for _, k := range list {
			documents = append(documents, k.Document)
		}
	}
	texts, err := v.translatedTexts(ctx, store.Unique(documents))
	if err != nil {
		return nil, err
	}
	byID := make(map[string][]*ProductTranslation, len(places))
	for id, place := range places {
		list := kept[uint32(place)]
		translations := make([]ProductTranslation, len(list))
		for i, k := range list {
			translations[i] = ProductTranslation{k.Language, texts[k.Document].name, texts[k.Document].description}
			byID[id] = append(byID[id], &translations[i])
		}
	}
	return byID, nil
}

// translatedTexts returns the texts of documents, by their ids.
func (v *View) translatedTexts(ctx context.Context, documents []int64) (map[int64]*translatedTexts, error) {
	key := db.CacheKey{Release: v.Release.CacheIdentity(), Kind: cachedTranslated}
	texts := make(map[int64]*translatedTexts, len(documents))
	var missing []int64
	for _, document := range documents {
		key.Number = int(document)
		if cached, ok := db.Cached[*translatedTexts](v.Cache, key); ok {
			texts[document] = cached
		} else {
			missing = append(missing, document)
		}
	}
	bodies, err := v.Documents(ctx, missing)
	if err != nil {
		return nil, err
	}
	for _, document := range missing {
		body, there := bodies[document]
		if !there {
			return nil, segment.ErrGone
		}
		if texts[document], err = textsOf(body); err != nil {
			return nil, err
		}
		key.Number = int(document)
		v.Cache.Set(key, texts[document])
	}
	return texts, nil
}

// textsOf decodes the texts of a document, which are before its line break.
func textsOf(document string) (*translatedTexts, error) {
	attributes, _, _ := strings.Cut(document, "\n")
	s := catalog.DocumentScanner{Input: []byte(attributes)}
	s.Member(`{"id":`)
	s.Skip(`,"type":"product","attributes":`)
	texts := &translatedTexts{s.Member(`{"name":`), s.Member(`,"description":`)}
	if !s.Failed {
		return texts, nil
	}
	var read struct {
		Attributes struct{ Name, Description string } `json:"attributes"`
	}
	err := json.Unmarshal([]byte(attributes+"}}"), &read)
	return &translatedTexts{read.Attributes.Name, read.Attributes.Description}, err
}
