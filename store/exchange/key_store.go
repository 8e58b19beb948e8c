package exchange

import (
	"context"
	"slices"
	"strings"

	"portico/store"
	"portico/store/authoring"
	"portico/store/catalog"
	"portico/store/db"
)

// keyStore looks for keys in the store.
type keyStore struct {
	empty map[string]bool // tables without rows at the start of the import
}

// keyQuery selects those of $in that resources of the store define.
type keyQuery struct{ table, sql string }

var keyQueries = map[authoring.KeyKind]keyQuery{
	authoring.KeyProduct: {"product", `SELECT id FROM product WHERE id IN ($in)`},
	authoring.KeyFile:    {"file", `SELECT id FROM file WHERE id IN ($in)`},
	authoring.KeyNode:    {"node", `SELECT id FROM node WHERE id IN ($in)`},
	authoring.KeySKU:     {"product", `SELECT sku FROM product WHERE sku IN ($in)`},
	authoring.KeyChild:   {"product", `SELECT DISTINCT parent_id FROM product WHERE parent_id IN ($in)`},
}

func newKeyStore(ctx context.Context, in db.Session) (*keyStore, error) {
	s := &keyStore{empty: map[string]bool{}}
	for _, table := range []string{"product", "file", "node", "price_modifier"} {
		_, found, err := db.One(ctx, in, db.Scalar[int], `SELECT 1 FROM `+table+` LIMIT 1`)
		if err != nil {
			return nil, err
		}
		s.empty[table] = !found
	}
	return s, nil
}

// find returns those of values that the store defines.
func (s *keyStore) find(ctx context.Context, in db.Session, kind authoring.KeyKind, values []string) ([]string, error) {
	switch query := keyQueries[kind]; {
	case query.sql != "" && !s.empty[query.table]:
		return db.CollectIn(ctx, in, db.Scalar[string], store.Unique(values), query.sql)
	case (kind == authoring.KeyOption || kind == authoring.KeyParent || kind == authoring.KeyOptionCount) && !s.empty["product"]:
		return s.ofParents(ctx, in, kind, values)
	case kind == authoring.KeyModifier && !s.empty["price_modifier"]:
		return s.modifierNames(ctx, in)
	}
	return nil, nil
}

// ofParents returns the keys of a kind that the parents in the store define, which are before the first space of
// keys.
func (s *keyStore) ofParents(ctx context.Context, in db.Session, kind authoring.KeyKind, keys []string) (found []string, err error) {
	parents := make([]string, len(keys))
	for i, key := range keys {
		parents[i], _, _ = strings.Cut(key, " ")
	}
	var line keysOfLine
	bodies, err := db.CollectIn(ctx, in, db.Scalar[[]byte], store.Unique(parents), `SELECT body FROM product WHERE id IN ($in)`)
	for _, body := range bodies {
		p := &catalog.ProductSource{}
		if err := store.Decode(body, p); err != nil {
			return nil, err
		}
		line = keysOfLine{}
		p.Keys(&line)
		for _, key := range line.defined {
			if key.kind == kind {
				found = append(found, key.value)
			}
		}
	}
	return found, err
}

// modifierNames returns the names of all price modifiers, of which a shop has few.
func (s *keyStore) modifierNames(ctx context.Context, in db.Session) (names []string, err error) {
	bodies, err := db.Collect(ctx, in, db.Scalar[[]byte], `SELECT body FROM price_modifier`)
	for _, body := range bodies {
		m := &catalog.ModifierSource{}
		if err := store.Decode(body, m); err != nil {
			return nil, err
		}
		names = append(names, m.Attributes.Name)
	}
	return names, err
}

// owners returns the products of the store that have one of the SKUs or slugs, by it.
func (s *keyStore) owners(ctx context.Context, in db.Session, kind authoring.KeyKind, values []string) ([]db.Pair[string, string], error) {
	if s.empty["product"] {
		return nil, nil
	}
	column := string(kind)
	return db.CollectIn(ctx, in, db.ScanPair[string, string], slices.Compact(slices.Sorted(slices.Values(values))),
		`SELECT `+column+`, id FROM product WHERE `+column+` IN ($in)`)
}

// inAnyCase returns a SKU of the store that equals folded in lower case; "" if there is none.
func (s *keyStore) inAnyCase(ctx context.Context, in db.Session, folded string) (string, error) {
	if s.empty["product"] {
		return "", nil
	}
	sku, _, err := db.One(ctx, in, db.Scalar[string], `SELECT sku FROM product WHERE lower(sku) = $1 ORDER BY sku LIMIT 1`, folded)
	return sku, err
}
