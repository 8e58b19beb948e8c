package store

import (
	"context"
	"database/sql"
)

// products reads the products at some places of the release, in two
// statements however many.
func (v *View) products(ctx context.Context, places []uint32) ([]*released, error) {
	found := make([]*released, len(places))
	key := cacheKey{release: v.Release.identity(), kind: cachedProduct, name: v.name}
	var missing []uint32
	now := micros(v.now)
	for i, place := range places {
		key.number = int(place)
		kept, ok := cached[*released](v.cache, key)
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
	if err := chunked(unique(missing), 512, func(places []uint32) error {
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
		found[i], key.number = product, int(place)
		v.valid.narrow(product.from, product.until)
		v.cache.keep(key, product)
	}
	return found, nil
}

// errReleaseGone says that a release was swept while it was read.
var errReleaseGone = &Error{Code: CursorExpired, Detail: "The catalog was published anew meanwhile; ask again."}

// readProducts reads rows, then the documents they name.
func (v *View) readProducts(ctx context.Context, places []uint32, into map[uint32]*released) error {
	type row struct {
		product          *released
		document, crumbs int64
	}
	list, args := in(append(v.layers(), v.Currency), places)
	rows, err := collect(ctx, v.store.reader, func(rows *sql.Rows) (r row, err error) {
		r.product = &released{release: v.Release}
		var documents string
		var kept keptOffer
		if err := rows.Scan(&r.product.ordinal, &r.product.id, &documents, &r.crumbs,
			&kept.pricebook, &kept.amount, &kept.includesTax, &kept.tiers, &kept.saleBook, &kept.sales); err != nil {
			return r, err
		}
		offer, err := kept.offer()
		if err != nil {
			return r, err
		}
		r.product.pricing = offer.at(micros(v.now), v.Currency, v.Locale)
		chosen, err := v.chooseDocument(documents)
		r.document, r.product.language = chosen.document, chosen.language
		return r, err
	}, `
		SELECT p.ordinal, p.product_id, p.documents, p.crumbs,
		       price.pricebook_id, price.amount, price.includes_tax, price.tiers, sale.pricebook_id, sale.sales
		FROM release_product p
		LEFT JOIN release_price price
		       ON price.release_id = p.release_id AND price.ordinal = p.ordinal AND price.currency = $3
		LEFT JOIN release_sale sale
		       ON sale.release_id = p.release_id AND sale.ordinal = p.ordinal AND sale.currency = $3
		WHERE p.release_id IN ($1, $2) AND p.ordinal IN (`+list+`)`, args...)
	if err != nil {
		return err
	}
	var documents, crumbs []int64
	for _, r := range rows {
		documents, crumbs = append(documents, r.document), append(crumbs, r.crumbs)
	}
	bodies, shared, err := v.bodies(ctx, unique(documents), unique(crumbs))
	if err != nil {
		return err
	}
	for _, r := range rows {
		if err := r.product.assemble(bodies[r.document], string(shared[r.crumbs]), v); err != nil {
			return err
		}
		into[r.product.ordinal] = r.product
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
func (v *View) bodies(ctx context.Context, documents, crumbs []int64) (bodies map[int64]string, shared map[int64]text, err error) {
	key, shared := cacheKey{release: v.Release.identity(), kind: cachedCrumbs}, make(map[int64]text, len(crumbs))
	missing := documents
	for _, id := range crumbs {
		key.number = int(id)
		if kept, ok := cached[text](v.cache, key); ok {
			shared[id] = kept
		} else {
			missing = append(missing, id)
		}
	}
	if bodies, err = v.store.documents(ctx, missing); err != nil {
		return nil, nil, err
	}
	for _, id := range missing[len(documents):] {
		body, found := bodies[id]
		if !found {
			return nil, nil, errReleaseGone
		}
		key.number, shared[id] = int(id), text(body)
		v.cache.keep(key, text(body))
	}
	return bodies, shared, nil
}

func (s *Store) documents(ctx context.Context, ids []int64) (map[int64]string, error) {
	type document struct {
		id   int64
		body string
	}
	bodies := make(map[int64]string, len(ids))
	err := chunked(ids, 1024, func(ids []int64) error {
		list, args := in(nil, ids)
		documents, err := collect(ctx, s.reader, func(rows *sql.Rows) (d document, err error) {
			return d, rows.Scan(&d.id, &d.body)
		}, `SELECT id, body FROM document WHERE id IN (`+list+`)`, args...)
		for _, d := range documents {
			bodies[d.id] = d.body
		}
		return err
	})
	return bodies, err
}
