package publish

import (
	"context"
	"database/sql"
	"slices"

	"portico/store"
	"portico/store/db"
	"portico/store/release/segment"
)

// around reads what decides whether products are in the release, and what they
// refer to.
func (s *affectedSet) around(ctx context.Context, ids []string) error {
	for _, read := range []func(context.Context, []string) error{s.read, s.readAttachments, s.readChildren, s.readBundles, s.readOrdinals} {
		if err := read(ctx, ids); err != nil {
			return err
		}
	}
	return nil
}

// unknownOf enters the ids that are not known yet with the value none. It calls do with these, as a list for IN (...) and its
// arguments. It leaves out empty ids.
func unknownOf[T any](known map[string]T, none T, ids []string, do func(list string, args []any) error) error {
	var fresh []string
	for _, id := range ids {
		if _, is := known[id]; !is && id != "" {
			known[id] = none
			fresh = append(fresh, id)
		}
	}
	slices.Sort(fresh)
	return store.Chunked(fresh, 512, func(ids []string) error {
		list, args := db.InList(nil, ids)
		return do(list, args)
	})
}

// read reads live products by id. readChildren and the following read what their names say, of ids that were not read before.
func (s *affectedSet) read(ctx context.Context, ids []string) error {
	return unknownOf(s.live, nil, ids, func(list string, args []any) error {
		found, err := db.Collect(ctx, s.plan.in, scanLive, `SELECT `+liveColumns+` FROM product WHERE live AND id IN (`+list+`)`, args...)
		for _, p := range found {
			s.live[p.id] = p
		}
		return err
	})
}

func (s *affectedSet) readChildren(ctx context.Context, parents []string) error {
	return unknownOf(s.children, nil, parents, func(list string, args []any) error {
		found, err := db.Collect(ctx, s.plan.in, scanLive,
			`SELECT `+liveColumns+` FROM product WHERE live AND parent_id <> '' AND parent_id IN (`+list+`) ORDER BY id`, args...)
		for _, p := range found {
			s.live[p.id] = p
			s.children[p.parent] = append(s.children[p.parent], p.id)
		}
		return err
	})
}

func (s *affectedSet) readBundles(ctx context.Context, components []string) error {
	return unknownOf(s.bundles, nil, components, func(list string, args []any) error {
		_, err := db.Collect(ctx, s.plan.in, func(rows *sql.Rows) (none struct{}, err error) {
			var component, bundle string
			err = rows.Scan(&component, &bundle)
			s.bundles[component] = append(s.bundles[component], bundle)
			return none, err
		}, `
			SELECT part.component_id, part.product_id FROM product_component AS part JOIN product ON product.id = part.product_id
			WHERE product.live AND part.component_id IN (`+list+`) ORDER BY part.component_id, part.product_id`, args...)
		return err
	})
}

func (s *affectedSet) readAttachments(ctx context.Context, ids []string) error {
	tree := s.plan.tree
	return unknownOf(s.attached, nil, ids, func(list string, args []any) error {
		_, err := db.Collect(ctx, s.plan.in, func(rows *sql.Rows) (a attachment, err error) {
			var nodeID, id string
			err = rows.Scan(&nodeID, &a.attached, &id)
			if node := tree.ByID[nodeID]; node != nil && node.Kind == segment.KindNode {
				a.node = int32(node.Place)
				s.attached[id] = append(s.attached[id], a)
			}
			return a, err
		}, `SELECT node_id, attached, product_id FROM node_product WHERE product_id IN (`+list+`)`, args...)
		return err
	})
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
