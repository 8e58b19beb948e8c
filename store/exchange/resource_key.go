package exchange

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/exchange/sheet"
)

// keyLookup finds stored resources of a kind by what names them in place of an id. Rows of sheets and items
// of mutations are looked up in the same way.
type keyLookup struct {
	kind  string
	table string
	sql   string                               // selects the value, what it is in, and the id of those with a value in $in, by id
	keyOf func(body []byte) (sheet.Key, error) // in place of sql, for a kind of which a shop has few: all are read
	order string                               // with keyOf: columns that sort those with one key. Empty for id
}

var keyLookups = []keyLookup{
	{kind: "product", table: "product", sql: `SELECT sku, '', id FROM product WHERE sku IN ($in) ORDER BY id`},
	{kind: "product-price", table: "price", sql: `SELECT sku, pricebook_id, id FROM price WHERE sku IN ($in) ORDER BY id`},
	{kind: "promotion_code", table: "promotion_code", sql: `
		SELECT code, promotion.id, promotion_code.id FROM promotion_code
		JOIN promotion ON promotion.number = promotion_number AND promotion.epoch = promotion_code.epoch
		WHERE code IN ($in) ORDER BY promotion_code.id`},
	{kind: "synonym", table: "synonym", keyOf: func(body []byte) (sheet.Key, error) {
		s := &catalog.SynonymSource{}
		err := json.Unmarshal(body, s)
		return sheet.SynonymKey(s.Attributes.Locale, s.Attributes.Term, s.Attributes.Terms), err
	}},
	{kind: "redirect", table: "redirect", keyOf: func(body []byte) (sheet.Key, error) {
		r := &catalog.RedirectSource{}
		err := json.Unmarshal(body, r)
		return sheet.RedirectKey(r.Attributes.From), err
	}},
	{kind: "price_modifier", table: "price_modifier", order: "sequence, id", keyOf: func(body []byte) (sheet.Key, error) {
		m := &catalog.ModifierSource{}
		err := json.Unmarshal(body, m)
		return sheet.Key{Kind: "price_modifier", Value: m.Attributes.Name}, err
	}}, // of several with one name, products use the oldest
}

// resourceKey is a key with the id of a resource that it names.
type resourceKey struct {
	key sheet.Key
	id  string
}

// storedByKey returns the ids of the resources that each key names, in the order of their lookup. Keys that name none
// are missing.
func storedByKey(ctx context.Context, in db.Session, keys []sheet.Key) (map[sheet.Key][]string, error) {
	ids := map[sheet.Key][]string{}
	for _, lookup := range keyLookups {
		var values []string
		for _, key := range keys {
			if key.Kind == lookup.kind && store.IsStorableText(key.Value) {
				values = append(values, key.Value)
			}
		}
		if len(values) == 0 {
			continue
		}
		found, err := lookup.find(ctx, in, store.Unique(values))
		if err != nil {
			return nil, err
		}
		for _, one := range found {
			ids[one.key] = append(ids[one.key], one.id)
		}
	}
	return ids, nil
}

// find returns the resources that have one of values, in order. With keyOf it returns all of the kind.
func (l keyLookup) find(ctx context.Context, in db.Session, values []string) ([]resourceKey, error) {
	if l.keyOf == nil {
		return db.CollectIn(ctx, in, func(rows *sql.Rows) (found resourceKey, err error) {
			found.key.Kind = l.kind
			return found, rows.Scan(&found.key.Value, &found.key.In, &found.id)
		}, values, l.sql)
	}
	return db.Collect(ctx, in, func(rows *sql.Rows) (found resourceKey, err error) {
		var body []byte
		if err := rows.Scan(&found.id, &body); err != nil {
			return found, err
		}
		found.key, err = l.keyOf(body)
		return found, err
	}, `SELECT id, body FROM `+l.table+` ORDER BY `+cmp.Or(l.order, "id"))
}

// identify returns the id of each of count resources: the given one, that of the first stored resource
// that the key names, or a new one. Two with one key are the same resource. stored has the resources of each key, and the
// new ones.
func identify(ctx context.Context, in db.Session, count int, named func(i int) (id *string, key sheet.Key)) (ids []string, stored map[sheet.Key][]string, err error) {
	keys := make([]sheet.Key, count)
	for i := range count {
		_, keys[i] = named(i)
	}
	if stored, err = storedByKey(ctx, in, store.Unique(keys)); err != nil {
		return nil, nil, err
	}
	ids = make([]string, count)
	for i, key := range keys {
		if id, _ := named(i); id != nil {
			ids[i] = store.LocalID(*id)
			continue
		}
		if len(stored[key]) == 0 {
			stored[key] = []string{store.NewID()}
		}
		ids[i] = stored[key][0]
	}
	return ids, stored, nil
}
