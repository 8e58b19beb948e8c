package publish

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"portico/store"
	"portico/store/db"
	"portico/store/release/segment"
)

// around reads what decides whether products are in the release, and what they
// refer to.
func (s *affectedSet) around(ctx context.Context, ids []string) error {
	if err := s.read(ctx, ids, readLive, readAttachments, readChildren, readBundles); err != nil {
		return err
	}
	return s.readOrdinals(ctx, ids)
}

// relation is what read reads of products.
type relation int

const (
	readLive        relation = iota // the products, if they are live
	readChildren                    // the live children of parents
	readBundles                     // the live bundles of components
	readAttachments                 // to nodes of the catalog
)

// relationSQL has the query of each relation, for ids in a list.
var relationSQL = [...]string{
	readLive:        `SELECT 0, ` + liveColumns + ` FROM product WHERE live AND id IN (%s)`,
	readChildren:    `SELECT 1, ` + liveColumns + ` FROM product WHERE live AND parent_id <> '' AND parent_id IN (%s)`,
	readBundles:     `SELECT 2, product.id, 0, 0, part.component_id, '' FROM product_component AS part JOIN product ON product.id = part.product_id WHERE product.live AND part.component_id IN (%s)`,
	readAttachments: `SELECT 3, product_id, attached, 0, node_id, '' FROM node_product WHERE product_id IN (%s)`,
}

// read reads relations of the products whose relation was not read before, in one statement for up to 512 products.
func (s *affectedSet) read(ctx context.Context, ids []string, relations ...relation) error {
	return store.Chunked(store.Unique(ids), 512, func(ids []string) error {
		var queries []string
		var args []any
		fresh := make([][]string, len(relationSQL))
		for _, r := range relations {
			if fresh[r] = s.unread(r, ids); len(fresh[r]) > 0 {
				var list string
				list, args = db.InList(args, fresh[r])
				queries = append(queries, fmt.Sprintf(relationSQL[r], list))
			}
		}
		if len(queries) == 0 {
			return nil
		}
		_, err := db.Collect(ctx, s.plan.in, s.scanRelation, strings.Join(queries, " UNION ALL "), args...)
		for _, parent := range fresh[readChildren] {
			slices.Sort(s.children[parent])
		}
		for _, component := range fresh[readBundles] {
			slices.Sort(s.bundles[component])
		}
		return err
	})
}

// unread returns the ids whose relation is not known yet, in order, and enters them as having none. It leaves out empty ids.
func (s *affectedSet) unread(r relation, ids []string) (fresh []string) {
	for _, id := range ids {
		known := id == ""
		switch r {
		case readLive:
			known = known || enter(s.live, id)
		case readChildren:
			known = known || enter(s.children, id)
		case readBundles:
			known = known || enter(s.bundles, id)
		case readAttachments:
			known = known || enter(s.attached, id)
		}
		if !known {
			fresh = append(fresh, id)
		}
	}
	slices.Sort(fresh)
	return fresh
}

// enter reports whether a map has an id. If not, enter adds the id.
func enter[T any](known map[string]T, id string) bool {
	value, is := known[id]
	known[id] = value
	return is
}

// scanRelation enters a row of relationSQL.
func (s *affectedSet) scanRelation(rows *sql.Rows) (none struct{}, err error) {
	var from relation
	p := &liveProduct{}
	if err := rows.Scan(&from, &p.id, &p.created, &p.updated, &p.parent, &p.components); err != nil {
		return none, err
	}
	switch from {
	case readLive:
		s.live[p.id] = p
	case readChildren:
		s.live[p.id] = p
		s.children[p.parent] = append(s.children[p.parent], p.id)
	case readBundles:
		s.bundles[p.parent] = append(s.bundles[p.parent], p.id)
	case readAttachments:
		if node := s.plan.tree.ByID[p.parent]; node != nil && node.Kind == segment.KindNode {
			s.attached[p.id] = append(s.attached[p.id], attachment{node: int32(node.Place), attached: p.created})
		}
	}
	return none, nil
}

func (s *affectedSet) readOrdinals(ctx context.Context, ids []string) error {
	var fresh []string
	for _, id := range ids {
		if _, is := s.parentOrdinals[id]; !is && id != "" {
			s.parentOrdinals[id], fresh = -1, append(fresh, id)
		}
	}
	return store.Chunked(fresh, 512, func(ids []string) error {
		found, err := s.plan.delta.view.OrdinalsByID(ctx, ids, nil)
		for id, ordinal := range found {
			s.parentOrdinals[id] = int32(ordinal)
		}
		return err
	})
}
