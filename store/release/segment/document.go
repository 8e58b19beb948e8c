package segment

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"portico/store"
	"portico/store/db"
)

// Translation is the document of a product in one language.
type Translation struct {
	Language string
	Document int64
}

// translationList are the documents of one product, the base one first.
type translationList []Translation

func (l translationList) Size() int { return 24 + 40*len(l) }

// parseTranslations parses "12 fr=13 de=14", where 12 is in the base language.
func parseTranslations(documents, base string) (list translationList, err error) {
	for _, field := range strings.Fields(documents) {
		t := Translation{Language: base}
		if tag, number, named := strings.Cut(field, "="); named {
			t.Language, field = tag, number
		}
		if t.Document, err = strconv.ParseInt(field, 10, 64); err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

// bestTranslation returns a product's document in the best language that it
// has. translated is false for the base document.
func (r *Reader) bestTranslation(row ProductRow) (best Translation, translated bool, err error) {
	list, err := parseTranslations(row.documents, r.Release.Locale)
	if err != nil || len(list) == 0 {
		return best, false, err
	}
	for _, want := range r.languages {
		for _, t := range list[1:] {
			if t.Language == want {
				return t, true, nil
			}
		}
	}
	return list[0], false, nil
}

// TranslationsAt returns the documents of the products at some ordinals.
func (r *Reader) TranslationsAt(ctx context.Context, places []uint32) (map[uint32]translationList, error) {
	key := db.CacheKey{Kind: cachedTranslations}
	found := make(map[uint32]translationList, len(places))
	var missing []uint32
	for _, place := range places {
		key.Release, key.Number = r.Release.HolderIdentity(int(place)), int(place)
		if cached, ok := db.Cached[translationList](r.Cache, key); ok {
			found[place] = cached
		} else {
			missing = append(missing, place)
		}
	}
	err := store.Chunked(missing, 512, func(places []uint32) error {
		list, args := db.InList(r.Layers(), places)
		_, err := db.Collect(ctx, r.session(), func(rows *sql.Rows) (none struct{}, err error) {
			var place uint32
			var text string
			if err := rows.Scan(&place, &text); err != nil {
				return none, err
			}
			if found[place], err = parseTranslations(text, r.Release.Locale); err != nil {
				return none, err
			}
			key.Release, key.Number = r.Release.HolderIdentity(int(place)), int(place)
			r.Cache.Set(key, found[place])
			return none, nil
		}, `SELECT ordinal, documents FROM release_product WHERE release_id IN ($1, $2) AND ordinal IN (`+list+`)`, args...)
		return err
	})
	return found, err
}

// Crumbs reads breadcrumbs by the ids of their documents, and caches them, because
// many products share them.
func (r *Reader) Crumbs(ctx context.Context, ids []int64) (map[int64]string, error) {
	key, found := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedCrumbs}, make(map[int64]string, len(ids))
	var missing []int64
	for _, id := range ids {
		key.Number = int(id)
		if kept, ok := db.Cached[storedText](r.Cache, key); ok {
			found[id] = string(kept)
		} else {
			missing = append(missing, id)
		}
	}
	bodies, err := r.Documents(ctx, missing)
	if err != nil {
		return nil, err
	}
	for _, id := range missing {
		body, exists := bodies[id]
		if !exists {
			return nil, ErrGone
		}
		key.Number, found[id] = int(id), body
		r.Cache.Set(key, storedText(body))
	}
	return found, nil
}

// Documents reads documents by their ids, and charges the context's Allowance
// for their bytes. It leaves out missing ones.
func (r *Reader) Documents(ctx context.Context, ids []int64) (map[int64]string, error) {
	type document struct {
		id   int64
		body string
	}
	bodies := make(map[int64]string, len(ids))
	err := store.Chunked(ids, 1024, func(ids []int64) error {
		list, args := db.InList(nil, ids)
		documents, err := db.Collect(ctx, r.session(), func(rows *sql.Rows) (d document, err error) {
			if err := rows.Scan(&d.id, &d.body); err != nil {
				return d, err
			}
			return d, store.Charge(ctx, len(d.body)*5/4) // it is read, copied and decoded
		}, `SELECT id, body FROM document WHERE id IN (`+list+`)`, args...)
		for _, d := range documents {
			bodies[d.id] = d.body
		}
		return err
	})
	return bodies, err
}
