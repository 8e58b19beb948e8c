package release

import (
	"context"
	"database/sql"
	"encoding/json"
	"strconv"
	"strings"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
)

// ProductTranslation is a product's texts in one language; where the language has
// none of its own they are the base ones.
type ProductTranslation struct {
	Language    string
	Name        string
	Description string
}

// translatedTexts are the texts of one document. The cache shares them between
// requests.
type translatedTexts struct{ name, description string }

func (t *translatedTexts) Size() int { return 64 + len(t.name) + len(t.description) }

// TranslationsByID returns the texts of several products in every language
// they have: the base text first, then by tag. A product that is not in the
// catalog is left out. It takes three statements at most, however many
// products, and none for what is cached.
func (v *View) TranslationsByID(ctx context.Context, ids []string) (map[string][]*ProductTranslation, error) {
	places, err := v.PlacesByID(ctx, ids)
	if err != nil || len(places) == 0 {
		return nil, err
	}
	kept, err := v.translationsAt(ctx, Ordered(places))
	if err != nil {
		return nil, err
	}
	var documents []int64
	for _, list := range kept {
		for _, k := range list {
			documents = append(documents, k.document)
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
			translations[i] = ProductTranslation{k.language, texts[k.document].name, texts[k.document].description}
			byID[id] = append(byID[id], &translations[i])
		}
	}
	return byID, nil
}

// keptTranslation is a document and the language of its texts.
type keptTranslation struct {
	language string
	document int64
}

// translationsAt returns the documents of the products at some places.
func (v *View) translationsAt(ctx context.Context, places []uint32) (map[uint32]translationList, error) {
	key := db.CacheKey{Release: v.Release.identity(), Kind: cachedTranslations}
	found := make(map[uint32]translationList, len(places))
	var missing []uint32
	for _, place := range places {
		key.Number = int(place)
		if cached, ok := db.Cached[translationList](v.Cache, key); ok {
			found[place] = cached
		} else {
			missing = append(missing, place)
		}
	}
	err := store.Chunked(missing, 512, func(places []uint32) error {
		list, args := db.InList(v.Layers(), places)
		_, err := db.Collect(ctx, v.service.db.Reader, func(rows *sql.Rows) (none struct{}, err error) {
			var place uint32
			var text string
			if err := rows.Scan(&place, &text); err != nil {
				return none, err
			}
			if found[place], err = keptTranslations(text, v.Release.Locale); err != nil {
				return none, err
			}
			key.Number = int(place)
			v.Cache.Set(key, found[place])
			return none, nil
		}, `SELECT ordinal, documents FROM release_product WHERE release_id IN ($1, $2) AND ordinal IN (`+list+`)`, args...)
		return err
	})
	return found, err
}

// translationList are the documents of one product, the base one first.
type translationList []keptTranslation

func (l translationList) Size() int { return 24 + 40*len(l) }

// translatedTexts returns the texts of documents, by their ids.
func (v *View) translatedTexts(ctx context.Context, documents []int64) (map[int64]*translatedTexts, error) {
	key := db.CacheKey{Release: v.Release.identity(), Kind: cachedTranslated}
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
	bodies, err := v.service.documents(ctx, missing)
	if err != nil {
		return nil, err
	}
	for _, document := range missing {
		body, there := bodies[document]
		if !there {
			return nil, errReleaseGone
		}
		if texts[document], err = textsOf(body); err != nil {
			return nil, err
		}
		key.Number = int(document)
		v.Cache.Set(key, texts[document])
	}
	return texts, nil
}

// keptTranslations reads "12 fr=13 de=14".
func keptTranslations(documents, base string) (list translationList, err error) {
	for _, field := range strings.Fields(documents) {
		k := keptTranslation{language: base}
		if tag, number, named := strings.Cut(field, "="); named {
			k.language, field = tag, number
		}
		if k.document, err = strconv.ParseInt(field, 10, 64); err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	return list, nil
}

// textsOf takes the texts from a document, which has them before its line break.
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
