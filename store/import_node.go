package store

import (
	"context"
	"slices"
)

// nodes writes nodes and what is attached to them.
func (w *importWriter) nodes(ctx context.Context, sources []source) (changed int, err error) {
	for _, resource := range sources {
		node := resource.(*nodeSource)
		written, err := w.inOrder(ctx, nodeTable, []source{node})
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
	had, err := collect(ctx, w.session, scalar[string],
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
	attached, err := w.sequence(ctx, len(fresh))
	if err != nil {
		return false, err
	}
	rows := make([][]any, len(fresh))
	for i, id := range fresh {
		rows[i] = []any{nodeID, attached + int64(i), id}
	}
	w.touch("product", fresh...)
	return true, w.insertRows(ctx, "node_product", []string{"node_id", "attached", "product_id"}, rows)
}

func (w *importWriter) detach(ctx context.Context, nodeID string, productIDs []string) error {
	w.touch("product", productIDs...)
	return chunked(productIDs, 512, func(ids []string) error {
		list, args := in([]any{nodeID}, ids)
		_, err := w.exec(ctx, `DELETE FROM node_product WHERE node_id = $1 AND product_id IN (`+list+`)`, args...)
		return err
	})
}
