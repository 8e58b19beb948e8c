package catalog

import (
	"context"
	"encoding/json"
	"slices"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

var HierarchyKind = authoring.Kind{
	Name: "hierarchy", Create: func() authoring.Source { return &hierarchySource{} },
	Write: hierarchyTable.WriteInOrder, Export: authoring.Bodies("hierarchy", "sequence", "id"),
	Published: true, Referred: true,
}

// NodeKind is written with what is attached to it, but by mutations, which
// attach products apart.
var NodeKind = authoring.Kind{
	Name: "node", Create: func() authoring.Source { return &NodeSource{} },
	Write: writeNodes, Export: exportNodes,
	Author: nodeTable.WriteInOrder, Published: true, Referred: true,
}

// writeNodes writes nodes and what is attached to them.
func writeNodes(ctx context.Context, w *authoring.Writer, sources []authoring.Source) (changed int, err error) {
	for _, resource := range sources {
		node := resource.(*NodeSource)
		written, err := nodeTable.WriteInOrder(ctx, w, []authoring.Source{node})
		if err != nil {
			return 0, err
		}
		attached, err := attach(ctx, w, node.ID, node.productIDs())
		if err != nil {
			return 0, err
		}
		if attached || written > 0 {
			changed++
		}
	}
	return changed, nil
}

// attach makes the products the node's, in this order. Attachments that stay
// keep their place in time, unless the order among them is another.
func attach(ctx context.Context, w *authoring.Writer, nodeID string, productIDs []string) (changed bool, err error) {
	had, err := db.Collect(ctx, w.Session, db.Scalar[string],
		`SELECT product_id FROM node_product WHERE node_id = $1 ORDER BY attached, product_id`, nodeID)
	if err != nil || slices.Equal(had, productIDs) {
		return false, err
	}
	wanted := make(map[string]bool, len(productIDs))
	for _, id := range productIDs {
		wanted[id] = true
	}
	var stay, leave []string
	for _, id := range had {
		if wanted[id] {
			stay = append(stay, id)
		} else {
			leave = append(leave, id)
		}
	}
	if len(stay) > len(productIDs) || !slices.Equal(stay, productIDs[:len(stay)]) {
		stay, leave = nil, had
	}
	if err := detach(ctx, w, nodeID, leave); err != nil {
		return false, err
	}
	fresh := productIDs[len(stay):]
	attached, err := w.Sequence(ctx, len(fresh))
	if err != nil {
		return false, err
	}
	rows := make([][]any, len(fresh))
	for i, id := range fresh {
		rows[i] = []any{nodeID, attached + int64(i), id}
	}
	w.Touch("product", fresh...)
	return true, w.InsertRows(ctx, "node_product", []string{"node_id", "attached", "product_id"}, rows)
}

func detach(ctx context.Context, w *authoring.Writer, nodeID string, productIDs []string) error {
	w.Touch("product", productIDs...)
	return store.Chunked(productIDs, 512, func(ids []string) error {
		list, args := db.In([]any{nodeID}, ids)
		_, err := w.Exec(ctx, `DELETE FROM node_product WHERE node_id = $1 AND product_id IN (`+list+`)`, args...)
		return err
	})
}

var hierarchyTable = authoring.Table{
	Name: "hierarchy", Columns: []string{"id", "sequence", "updated_at", "body"},
	Row: func(r authoring.Source, t *db.Tx) []any {
		return []any{r.Key(), nil, store.Micros(t.Now), store.Encode(r)}
	},
}

var nodeTable = authoring.Table{
	Name: "node", Columns: []string{"id", "sequence", "hierarchy_id", "updated_at", "body"},
	Row: func(r authoring.Source, t *db.Tx) []any {
		n := *r.(*NodeSource)
		n.Relationships.Products = nil // kept in node_product
		return []any{n.ID, nil, n.Relationships.Hierarchy.ID(), store.Micros(t.Now), store.Encode(&n)}
	},
}

// exportNodes exports nodes with what is attached to them.
func exportNodes(ctx context.Context, e *authoring.Exporter) error {
	key := []string{"sequence", "id"}
	return db.Pages(ctx, e.In, "node", "sequence, id, body", key, authoring.KeyedBody(2), func(bodies [][]byte) error {
		for _, body := range bodies {
			var node NodeSource
			if err := json.Unmarshal(body, &node); err != nil {
				return err
			}
			ids, err := db.Collect(ctx, e.In, db.Scalar[string],
				`SELECT product_id FROM node_product WHERE node_id = $1 ORDER BY attached, product_id`, node.ID)
			if err != nil {
				return err
			}
			if len(ids) > 0 {
				node.Relationships.Products = &authoring.LinksSource{}
				for _, id := range ids {
					node.Relationships.Products.Data = append(node.Relationships.Products.Data, authoring.RefSource{Type: "product", ID: id})
				}
			}
			if err := e.Line(store.Encode(&node)); err != nil {
				return err
			}
		}
		return nil
	})
}
