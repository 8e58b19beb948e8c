package release

import (
	"context"
	"database/sql"
	"encoding/json"
	"strconv"
	"strings"

	"portico/store"
	"portico/store/db"
)

// ProductTranslation is a product's texts in one language; where the language has
// none of its own they are the base ones.
type ProductTranslation struct {
	Language    string
	Name        string
	Description string
}

// TranslationsByID returns the texts of several products in every language
// they have: the base text first, then by tag. A product that is not in the
// catalog is left out. It costs three statements, however many products.
func (v *View) TranslationsByID(ctx context.Context, ids []string) (map[string][]*ProductTranslation, error) {
	places, err := v.PlacesByID(ctx, ids)
	if err != nil || len(places) == 0 {
		return nil, err
	}
	kept := map[string][]keptTranslation{}
	var documents []int64
	if err := store.Chunked(Ordered(places), 512, func(places []uint32) error {
		list, args := db.In(v.Layers(), places)
		_, err := db.Collect(ctx, v.service.db.Reader, func(rows *sql.Rows) (none struct{}, err error) {
			var id, text string
			if err := rows.Scan(&id, &text); err != nil {
				return none, err
			}
			kept[id], err = keptTranslations(text, v.Release.Locale)
			for _, k := range kept[id] {
				documents = append(documents, k.document)
			}
			return none, err
		}, `SELECT product_id, documents FROM release_product WHERE release_id IN ($1, $2) AND ordinal IN (`+list+`)`, args...)
		return err
	}); err != nil {
		return nil, err
	}
	bodies, err := v.service.documents(ctx, store.Unique(documents))
	if err != nil {
		return nil, err
	}
	byID := make(map[string][]*ProductTranslation, len(kept))
	for id, list := range kept {
		for _, k := range list {
			t, err := k.read(bodies[k.document])
			if err != nil {
				return nil, err
			}
			byID[id] = append(byID[id], t)
		}
	}
	return byID, nil
}

// keptTranslation is a document and the language of its texts.
type keptTranslation struct {
	language string
	document int64
}

// keptTranslations reads "12 fr=13 de=14".
func keptTranslations(documents, base string) (list []keptTranslation, err error) {
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

// read takes the texts from a document; they stand before its line break.
func (k keptTranslation) read(document string) (*ProductTranslation, error) {
	attributes, _, _ := strings.Cut(document, "\n")
	var texts struct {
		Attributes struct{ Name, Description string } `json:"attributes"`
	}
	err := json.Unmarshal([]byte(attributes+"}}"), &texts)
	return &ProductTranslation{k.language, texts.Attributes.Name, texts.Attributes.Description}, err
}
