package release

import (
	"context"
	"database/sql"

	"portico/store"
	"portico/store/db"
)

// ProductsAt reads the products at some places of the release, in two
// statements however many.
func (v *View) ProductsAt(ctx context.Context, places []uint32) ([]*released, error) {
	found := make([]*released, len(places))
	key := db.CacheKey{Release: v.Release.identity(), Kind: cachedProduct, Name: v.name}
	var missing []uint32
	now := store.Micros(v.now)
	for i, place := range places {
		key.Number = int(place)
		kept, ok := db.Cached[*released](v.Cache, key)
		if !ok || !kept.holds(now) {
			missing = append(missing, place)
			continue
		}
		found[i] = kept
		v.valid.narrow(kept.from, kept.until)
	}
	if len(missing) == 0 {
		return found, nil
	}
	read := make(map[uint32]*released, len(missing))
	if err := store.Chunked(store.Unique(missing), 512, func(places []uint32) error {
		return v.readProducts(ctx, places, read)
	}); err != nil {
		return nil, err
	}
	for i, place := range places {
		if found[i] != nil {
			continue
		}
		product := read[place]
		if product == nil {
			return nil, errReleaseGone
		}
		found[i], key.Number = product, int(place)
		v.valid.narrow(product.from, product.until)
		v.Cache.Set(key, product)
	}
	return found, nil
}

// errReleaseGone says that a release was swept while it was read.
var errReleaseGone = &store.Error{Code: store.CursorExpired, Detail: "The catalog was published anew meanwhile; ask again."}

// readProducts reads rows, then the documents they name.
func (v *View) readProducts(ctx context.Context, places []uint32, into map[uint32]*released) error {
	rows, err := v.rows(ctx, places)
	if err != nil {
		return err
	}
	chosen := make(map[uint32]keptTranslation, len(rows))
	var documents, crumbs []int64
	for place, row := range rows {
		if chosen[place], err = v.chooseDocument(row.documents); err != nil {
			return err
		}
		documents, crumbs = append(documents, chosen[place].document), append(crumbs, row.crumbs)
	}
	bodies, shared, err := v.bodies(ctx, store.Unique(documents), store.Unique(crumbs))
	if err != nil {
		return err
	}
	for place, row := range rows {
		offer, err := offerIn(row.offers, v.Currency)
		if err != nil {
			return err
		}
		product := &released{id: row.id, Ordinal: place, release: v.Release, language: chosen[place].language,
			pricing: pricingAt(offer, store.Micros(v.now), v.moneyFormat())}
		if err := product.assemble(bodies[chosen[place].document], string(shared[row.crumbs]), v); err != nil {
			return err
		}
		into[place] = product
	}
	return nil
}

// chooseDocument picks the document in the best language there is; the base
// one comes first.
func (v *View) chooseDocument(documents string) (keptTranslation, error) {
	list, err := keptTranslations(documents, v.Release.Locale)
	if err != nil || len(list) == 0 {
		return keptTranslation{}, err
	}
	for _, want := range v.languages {
		for _, k := range list[1:] {
			if k.language == want {
				return k, nil
			}
		}
	}
	return list[0], nil
}

// bodies reads documents, and breadcrumbs, which many products share and which
// are therefore kept by themselves.
func (v *View) bodies(ctx context.Context, documents, crumbs []int64) (bodies map[int64]string, shared map[int64]storedText, err error) {
	key, shared := db.CacheKey{Release: v.Release.identity(), Kind: cachedCrumbs}, make(map[int64]storedText, len(crumbs))
	missing := documents
	for _, id := range crumbs {
		key.Number = int(id)
		if kept, ok := db.Cached[storedText](v.Cache, key); ok {
			shared[id] = kept
		} else {
			missing = append(missing, id)
		}
	}
	if bodies, err = v.service.documents(ctx, missing); err != nil {
		return nil, nil, err
	}
	for _, id := range missing[len(documents):] {
		body, found := bodies[id]
		if !found {
			return nil, nil, errReleaseGone
		}
		key.Number, shared[id] = int(id), storedText(body)
		v.Cache.Set(key, storedText(body))
	}
	return bodies, shared, nil
}

// documents reads documents by their ids, and charges for their bytes.
func (s *ReleaseService) documents(ctx context.Context, ids []int64) (map[int64]string, error) {
	type document struct {
		id   int64
		body string
	}
	bodies := make(map[int64]string, len(ids))
	err := store.Chunked(ids, 1024, func(ids []int64) error {
		list, args := db.InList(nil, ids)
		documents, err := db.Collect(ctx, s.db.Reader, func(rows *sql.Rows) (d document, err error) {
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
