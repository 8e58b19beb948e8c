package check

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"portico/store"
	"portico/store/authoring"
	"portico/store/catalog"
	"portico/store/db"
)

// storedKeys finds the SKUs, slugs, ids and other unique keys that resources in the store have.
type storedKeys struct {
	empty map[string]bool     // tables without rows at the start of the import, which are not read
	nodes map[string]keyOwner // of the hierarchies that were read, by KeyNodeSlug
	trees map[string]bool     // these hierarchies
}

// keyQuery selects those of $in that resources of the store define.
type keyQuery struct{ table, sql string } // table is the name in storedKeys.empty, if it is there

var keyQueries = map[authoring.KeyKind]keyQuery{
	authoring.KeyProduct: {"product", `SELECT id FROM product WHERE id IN ($in)`},
	authoring.KeyFile:    {"file", `SELECT id FROM file WHERE id IN ($in)`},
	authoring.KeyTarget:  {"node or hierarchy", `SELECT id FROM (SELECT id FROM node UNION ALL SELECT id FROM hierarchy) AS target WHERE id IN ($in)`},
	authoring.KeySKU:     {"product", `SELECT sku FROM product WHERE sku IN ($in)`},
	authoring.KeyChild:   {"product", `SELECT DISTINCT parent_id FROM product WHERE parent_id IN ($in)`},
}

// NewStoredKeys returns the keys of the store, which it reads when they are asked for.
func NewStoredKeys(ctx context.Context, in db.Session) (*storedKeys, error) {
	s := &storedKeys{empty: map[string]bool{}, nodes: map[string]keyOwner{}, trees: map[string]bool{}}
	for _, table := range []string{"product", "file", "node", "price_modifier"} {
		_, found, err := db.One(ctx, in, db.Scalar[int], `SELECT 1 FROM `+table+` LIMIT 1`)
		if err != nil {
			return nil, err
		}
		s.empty[table] = !found
	}
	return s, nil
}

// find returns those of values that the store defines. It calls note with those that parents define.
func (s *storedKeys) find(ctx context.Context, in db.Session, kind authoring.KeyKind, values []string, note func(recordedMember)) ([]string, error) {
	switch query := keyQueries[kind]; {
	case query.sql != "" && !s.empty[query.table]:
		return db.CollectIn(ctx, in, db.Scalar[string], store.Unique(values), query.sql)
	case (kind == authoring.KeyOption || kind == authoring.KeyParent || kind == authoring.KeyOptionCount) && !s.empty["product"]:
		return s.ofParents(ctx, in, kind, values, note)
	case kind == authoring.KeyModifier && !s.empty["price_modifier"]:
		return s.modifierNames(ctx, in)
	}
	return nil, nil
}

// ofParents returns the keys of a kind that the parents in the store define. The id of the parent is before the first space of
// a key. It calls note with each.
func (s *storedKeys) ofParents(ctx context.Context, in db.Session, kind authoring.KeyKind, keys []string, note func(recordedMember)) (found []string, err error) {
	parents := make([]string, len(keys))
	for i, key := range keys {
		parents[i], _, _ = strings.Cut(key, " ")
	}
	bodies, err := db.CollectIn(ctx, in, db.Scalar[[]byte], store.Unique(parents), `SELECT body FROM product WHERE id IN ($in)`)
	for _, body := range bodies {
		p := &catalog.ProductSource{}
		if err := store.Decode(body, p); err != nil {
			return nil, err
		}
		line := LineKeys{}
		p.Keys(&line)
		for _, key := range line.Defined {
			if key.Kind == kind {
				found = append(found, key.Value)
				note(key)
			}
		}
	}
	return found, err
}

// modifierNames returns the names of all price modifiers, of which a shop has few.
func (s *storedKeys) modifierNames(ctx context.Context, in db.Session) (names []string, err error) {
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

// owners returns the products that have one of some SKUs, in any case, or slugs, or the nodes that have one of some slugs.
func (s *storedKeys) owners(ctx context.Context, in db.Session, kind authoring.KeyKind, values []string) ([]keyOwner, error) {
	if kind == authoring.KeyNodeSlug {
		return s.nodeOwners(ctx, in, values)
	}
	if kind == authoring.KeyPath {
		return s.pages(ctx, in, values)
	}
	if s.empty["product"] {
		return nil, nil
	}
	query := `SELECT slug, id FROM product WHERE slug IN ($in)`
	if kind == authoring.KeySKU {
		query = `SELECT sku, id FROM product WHERE lower(sku) IN ($in)`
		lower := make([]string, len(values))
		for i, sku := range values {
			lower[i] = lowerASCII(sku)
		}
		values = lower
	}
	return db.CollectIn(ctx, in, func(rows *sql.Rows) (o keyOwner, err error) {
		o.kind = authoring.KeyProduct
		return o, rows.Scan(&o.key, &o.id)
	}, slices.Compact(slices.Sorted(slices.Values(values))), query)
}

// lowerASCII is lower of both databases for columns with the collation "C".
func lowerASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, text)
}

// nodeOwners returns the nodes that have one of some slugs in their hierarchies, each of which is read once.
func (s *storedKeys) nodeOwners(ctx context.Context, in db.Session, keys []string) (owners []keyOwner, err error) {
	var trees []string
	for _, key := range keys {
		if tree, _, _ := strings.Cut(key, " "); !s.empty["node"] && !s.trees[tree] {
			s.trees[tree] = true
			trees = append(trees, tree)
		}
	}
	_, err = db.CollectIn(ctx, in, func(rows *sql.Rows) (n catalog.NodeSource, err error) {
		if err = rows.Scan(db.JSON{Into: &n}); err == nil && n.Attributes.Slug != "" {
			key := n.Relationships.Hierarchy.ID() + " " + n.Attributes.Slug
			s.nodes[key] = keyOwner{authoring.KeyNode, n.ID, key}
		}
		return n, err
	}, trees, `SELECT body FROM node WHERE hierarchy_id IN ($in)`)
	for _, key := range keys {
		if owner, has := s.nodes[key]; has {
			owners = append(owners, owner)
		}
	}
	return owners, err
}
