package shop

import (
	"context"
	"encoding/json"
	"slices"

	"portico/store"
	"portico/store/db"
)

var hierarchyKind = kind{
	name: "hierarchy", create: func() source { return &hierarchySource{} },
	write: hierarchyTable.writeInOrder, export: bodies("hierarchy", "sequence", "id"),
	published: true, referred: true,
}

// nodeKind is written with what is attached to it, but by mutations, which
// attach products apart.
var nodeKind = kind{
	name: "node", create: func() source { return &nodeSource{} },
	write: (*importWriter).nodes, export: (*exporter).nodes,
	author: nodeTable.writeInOrder, published: true, referred: true,
}

// nodes writes nodes and what is attached to them.
func (w *importWriter) nodes(ctx context.Context, sources []source) (changed int, err error) {
	for _, resource := range sources {
		node := resource.(*nodeSource)
		written, err := nodeTable.writeInOrder(w, ctx, []source{node})
		if err != nil {
			return 0, err
		}
		attached, err := w.attach(ctx, node.ID, node.productIDs())
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
func (w *importWriter) attach(ctx context.Context, nodeID string, productIDs []string) (changed bool, err error) {
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
	if err := w.detach(ctx, nodeID, leave); err != nil {
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
	w.touch("product", fresh...)
	return true, w.InsertRows(ctx, "node_product", []string{"node_id", "attached", "product_id"}, rows)
}

func (w *importWriter) detach(ctx context.Context, nodeID string, productIDs []string) error {
	w.touch("product", productIDs...)
	return store.Chunked(productIDs, 512, func(ids []string) error {
		list, args := db.In([]any{nodeID}, ids)
		_, err := w.Exec(ctx, `DELETE FROM node_product WHERE node_id = $1 AND product_id IN (`+list+`)`, args...)
		return err
	})
}

var hierarchyTable = sourceTable{
	name: "hierarchy", columns: []string{"id", "sequence", "updated_at", "body"},
	row: func(r source, t *db.Tx) []any { return []any{r.key(), nil, store.Micros(t.Now), store.Encode(r)} },
}

var nodeTable = sourceTable{
	name: "node", columns: []string{"id", "sequence", "hierarchy_id", "updated_at", "body"},
	row: func(r source, t *db.Tx) []any {
		n := *r.(*nodeSource)
		n.Relationships.Products = nil // kept in node_product
		return []any{n.ID, nil, n.Relationships.Hierarchy.id(), store.Micros(t.Now), store.Encode(&n)}
	},
}

// nodes exports nodes with what is attached to them.
func (e *exporter) nodes(ctx context.Context) error {
	key := []string{"sequence", "id"}
	return db.Pages(ctx, e.in, "node", "sequence, id, body", key, keyedBody(2), func(bodies [][]byte) error {
		for _, body := range bodies {
			var node nodeSource
			if err := json.Unmarshal(body, &node); err != nil {
				return err
			}
			ids, err := db.Collect(ctx, e.in, db.Scalar[string],
				`SELECT product_id FROM node_product WHERE node_id = $1 ORDER BY attached, product_id`, node.ID)
			if err != nil {
				return err
			}
			if len(ids) > 0 {
				node.Relationships.Products = &linksSource{}
				for _, id := range ids {
					node.Relationships.Products.Data = append(node.Relationships.Products.Data, refSource{"product", id})
				}
			}
			if err := e.line(store.Encode(&node)); err != nil {
				return err
			}
		}
		return nil
	})
}
