package catalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/index"
)

// HierarchyKind is the kind of hierarchies.
var HierarchyKind = authoring.Kind{
	Name: "hierarchy", Create: func() authoring.Source { return &hierarchySource{} },
	Write: hierarchyTable.Write, Delete: authoring.RemoveRows("hierarchy"), Export: authoring.ExportBodies("hierarchy", "id", "sequence", "id"),
	Published: true, Referred: true, Inputs: contentInputs,
}

// NodeKind imports nodes with their products. Mutations attach products separately.
var NodeKind = authoring.Kind{
	Name: "node", Create: func() authoring.Source { return &NodeSource{} },
	Write: writeNodes, Export: exportNodes,
	Author: authorNode, Delete: deleteNodes, Published: true, Referred: true,
	Line:   ExportNodesWithoutProducts,
	Inputs: slices.Concat(contentInputs, store.PathRenames{{"attributes.curated_products", "product_ids"}, {"relationships.products", "products"}}),
}

// ExportNodesWithoutProducts exports nodes as they are stored. As the Line of NodeKind it writes what the audit log compares. The
// audit log has the products apart: attachAt and detach record which come and go.
var ExportNodesWithoutProducts = authoring.ExportBodies("node", "id", "sequence", "id")

// deleteAndAudit deletes a node and records that in the audit log. Its products stay.
func deleteAndAudit(ctx context.Context, w *authoring.Writer, id string) error {
	var node authoring.Kind // as NodeKind, which would be an initialization cycle
	node.Name, node.Export, node.Delete = "node", ExportNodesWithoutProducts, removeNodes
	_, err := w.DeleteAll(ctx, node, []string{id})
	return err
}

// attachBatch is how many products an import attaches or detaches in a transaction; a node
// may have most of the shop's products.
const attachBatch = 2000

// writeNodes writes nodes and their products. The node that goes beyond attachBatch, and those after it, get their products by
// later transactions.
func writeNodes(ctx context.Context, w *authoring.Writer, sources []authoring.Source) (changed []string, err error) {
	room := attachBatch
	for _, resource := range sources {
		node := resource.(*NodeSource)
		written, err := nodeTable.Write(ctx, w, []authoring.Source{node})
		if err != nil {
			return nil, err
		}
		leave, fresh, err := diffAttached(ctx, w, node.ID, node.productIDs())
		if err != nil {
			return nil, err
		}
		if len(leave)+len(fresh)+len(written) > 0 {
			changed = append(changed, node.ID)
		}
		room -= len(leave) + len(fresh)
		if room < 0 {
			err = attachLater(ctx, w, node.ID, leave, fresh)
		} else if err = detach(ctx, w, node.ID, leave); err == nil {
			err = attach(ctx, w, node.ID, fresh)
		}
		if err != nil {
			return nil, err
		}
	}
	return changed, nil
}

// deleteNodes deletes nodes, not their products. The node with which they have more products than attachBatch, and those after
// it, are deleted by later transactions, but are among the result.
func deleteNodes(ctx context.Context, w *authoring.Writer, ids []string) (deleted []string, err error) {
	existing, err := w.Existing(ctx, "node", ids)
	if err != nil {
		return nil, err
	}
	room := attachBatch
	for _, id := range ids {
		if !existing[id] {
			continue
		}
		had, err := db.Collect(ctx, w.Session, db.Scalar[string], `SELECT product_id FROM node_product WHERE node_id = $1 ORDER BY attached, product_id`, id)
		if err != nil {
			return deleted, err
		}
		deleted = append(deleted, id)
		room -= len(had)
		if room < 0 {
			err = attachLater(ctx, w, id, had, nil)
			w.Defer(func(ctx context.Context, w *authoring.Writer) error {
				w.Revised = true
				return deleteAndAudit(ctx, w, id)
			})
		} else {
			_, err = removeNodes(ctx, w, []string{id})
		}
		if err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}

// maxDetached is the most products that RemoveNodes detaches, in one transaction.
const maxDetached = 10_000

// RemoveNodes deletes nodes, not their products, in the transaction of w. It returns UNPROCESSABLE if they have
// more than 10,000 products together.
func RemoveNodes(ctx context.Context, w *authoring.Writer, ids []string) ([]string, error) {
	counts, err := db.CollectIn(ctx, w.Session, db.Scalar[int], ids, `SELECT COUNT(*) FROM node_product WHERE node_id IN ($in)`)
	attached := 0
	for _, count := range counts {
		attached += count
	}
	switch {
	case err != nil:
		return nil, err
	case attached > maxDetached:
		return nil, store.Unprocessablef([]string{"ids"}, "have %d products together, and at most %d can be detached at once; delete fewer nodes, or detach their products first", attached, maxDetached)
	}
	return removeNodes(ctx, w, ids)
}

// removeNodes deletes nodes and detaches their products. It returns the ids of those that existed.
func removeNodes(ctx context.Context, w *authoring.Writer, ids []string) ([]string, error) {
	detached, err := db.CollectIn(ctx, w.Session, db.Scalar[string], ids, `DELETE FROM node_product WHERE node_id IN ($in) RETURNING product_id`)
	if err != nil {
		return nil, err
	}
	w.Touch("product", detached...)
	return w.RemoveAll(ctx, "node", ids)
}

// diffAttached returns which products to detach from a node and which to append, so that it
// has productIDs in this order. If the order of the remaining ones differs, all are
// attached again: they are in both lists.
func diffAttached(ctx context.Context, w *authoring.Writer, nodeID string, productIDs []string) (leave, fresh []string, err error) {
	had, err := db.Collect(ctx, w.Session, db.Scalar[string],
		`SELECT product_id FROM node_product WHERE node_id = $1 ORDER BY attached, product_id`, nodeID)
	if err != nil || slices.Equal(had, productIDs) {
		return nil, nil, err
	}
	wanted := make(map[string]bool, len(productIDs))
	for _, id := range productIDs {
		wanted[id] = true
	}
	var stay []string
	for _, id := range had {
		if wanted[id] {
			stay = append(stay, id)
		} else {
			leave = append(leave, id)
		}
	}
	if len(stay) > len(productIDs) || !slices.Equal(stay, productIDs[:len(stay)]) {
		return had, productIDs, nil
	}
	return leave, productIDs[len(stay):], nil
}

// attach attaches unattached products, the newest last.
func attach(ctx context.Context, w *authoring.Writer, nodeID string, productIDs []string) error {
	place, err := w.Sequence(ctx, len(productIDs))
	if err != nil {
		return err
	}
	return attachAt(ctx, w, nodeID, place, productIDs)
}

// attachAt attaches products with consecutive sequence numbers from place on.
func attachAt(ctx context.Context, w *authoring.Writer, nodeID string, place int64, productIDs []string) error {
	rows := make([][]any, len(productIDs))
	for i, id := range productIDs {
		rows[i] = []any{nodeID, place + int64(i), id}
	}
	w.Touch("product", productIDs...)
	recordProducts(w, nodeID, nil, productIDs)
	return w.InsertRows(ctx, "node_product", []string{"node_id", "attached", "product_id"}, rows)
}

// attachLater detaches and attaches products in transactions after this one. A product that moves is detached and
// attached in the same one, and a product that was attached meanwhile is attached once. A
// node that was deleted meanwhile is skipped.
func attachLater(ctx context.Context, w *authoring.Writer, nodeID string, leave, fresh []string) error {
	place, err := w.Sequence(ctx, len(fresh))
	if err != nil {
		return err
	}
	later := func(do func(context.Context, *authoring.Writer) error) {
		w.Defer(func(ctx context.Context, w *authoring.Writer) error {
			_, found, err := db.One(ctx, w.Session, db.Scalar[string], `SELECT id FROM node WHERE id = $1`+w.ForUpdate("node"), nodeID)
			if err != nil || !found {
				return err
			}
			w.Revised = true
			return do(ctx, w)
		})
	}
	comes := make(map[string]bool, len(fresh))
	for _, id := range fresh {
		comes[id] = true
	}
	goes := slices.DeleteFunc(slices.Clone(leave), func(id string) bool { return comes[id] })
	for ids := range slices.Chunk(goes, attachBatch) {
		later(func(ctx context.Context, w *authoring.Writer) error { return detach(ctx, w, nodeID, ids) })
	}
	end := place + int64(len(fresh)) // numbers from end on are those of later writes
	for ids := range slices.Chunk(fresh, attachBatch) {
		at := place
		later(func(ctx context.Context, w *authoring.Writer) error {
			_, attachedSince, err := db.One(ctx, w.Session, db.Scalar[int], `SELECT 1 FROM node_product WHERE node_id = $1 AND attached >= $2 LIMIT 1`, nodeID, end)
			if err == nil && (attachedSince || len(leave) > 0) {
				err = detach(ctx, w, nodeID, ids)
			}
			if err != nil {
				return err
			}
			return attachAt(ctx, w, nodeID, at, ids)
		})
		place += int64(len(ids))
	}
	return nil
}

// detach detaches products from a node and records those that were attached.
func detach(ctx context.Context, w *authoring.Writer, nodeID string, productIDs []string) error {
	w.Touch("product", productIDs...)
	gone, err := db.CollectIn(ctx, w.Session, db.Scalar[string], productIDs, `DELETE FROM node_product WHERE node_id = $1 AND product_id IN ($in) RETURNING product_id`, nodeID)
	recordProducts(w, nodeID, gone, nil)
	return err
}

// recordProducts records which products were detached from a node, and which were attached.
func recordProducts(w *authoring.Writer, nodeID string, gone, come []string) {
	change := store.MemberChange{Path: []string{"relationships", "products"}}
	if len(gone) > 0 {
		change.Before = store.Encode(gone)
	}
	if len(come) > 0 {
		change.After = store.Encode(come)
	}
	if len(gone)+len(come) > 0 {
		w.RecordMembers(store.AuditNode, nodeID, change)
	}
}

var hierarchyTable = authoring.Table{
	Name: "hierarchy", Columns: []string{"id", "sequence", "created_at", "updated_at", "body"},
	Row: func(r authoring.Source, _ *db.Tx) []any {
		return []any{r.Key(), nil, timeOf(r.(*hierarchySource).Attributes.CreatedAt), timeOf(r.(*hierarchySource).Attributes.UpdatedAt), store.Encode(r)}
	},
}

var nodeTable = authoring.Table{
	Name: "node", Columns: []string{"id", "sequence", "hierarchy_id", "parent_id", "slug", "name_folded", "name_key", "position", "created_at", "updated_at", "body"},
	Row: func(r authoring.Source, _ *db.Tx) []any {
		n := r.(*NodeSource).stored()
		return []any{n.ID, nil, n.Relationships.Hierarchy.ID(), n.parentID(), n.Attributes.Slug, index.Fold(n.Attributes.Name), index.SortKey(n.Attributes.Name), orderOf(n.Attributes.Position),
			timeOf(n.Attributes.CreatedAt), timeOf(n.Attributes.UpdatedAt), store.Encode(n)}
	},
}

// stored returns what nodeTable stores of a node: node_product has its products.
func (n *NodeSource) stored() *NodeSource {
	own := *n
	own.Relationships.Products = nil
	return &own
}

// authorNode writes the node of a mutation, without its products. If it changes, it was changed now.
func authorNode(ctx context.Context, w *authoring.Writer, sources []authoring.Source) ([]string, error) {
	sources[0].(*NodeSource).Attributes.UpdatedAt = ""
	if err := SetTimes(ctx, w.Session, w.Now, sources); err != nil {
		return nil, err
	}
	return nodeTable.Write(ctx, w, sources)
}

// exportBatch is how many products of nodes an export reads at once, unless one node has more.
const exportBatch = 10_000

// exportNodes exports nodes with their products.
func exportNodes(ctx context.Context, e *authoring.Exporter) error {
	key := []string{"sequence", "id"}
	return authoring.EachRow(ctx, e, "id", "node", "sequence, id, body", key, authoring.ScanKeyedBody(2), func(bodies [][]byte) error {
		nodes, ids := make([]NodeSource, len(bodies)), make([]string, len(bodies))
		for i, body := range bodies {
			if err := json.Unmarshal(body, &nodes[i]); err != nil {
				return err
			}
			ids[i] = nodes[i].ID
		}
		products, err := attachedCounts(ctx, e.In, ids)
		if err != nil {
			return err
		}
		for len(nodes) > 0 {
			n, total := 1, products[ids[0]]
			for n < len(nodes) && total+products[ids[n]] <= exportBatch {
				total += products[ids[n]]
				n++
			}
			if err := exportWithProducts(ctx, e, nodes[:n], ids[:n], total); err != nil {
				return err
			}
			nodes, ids = nodes[n:], ids[n:]
		}
		return nil
	})
}

// exportWithProducts exports nodes that have so many products in all.
func exportWithProducts(ctx context.Context, e *authoring.Exporter, nodes []NodeSource, ids []string, total int) error {
	attached := make(map[string]*authoring.LinksSource, len(nodes))
	if total > 0 {
		last := "" // so that all rows of a node share the memory of its id
		rows, err := db.CollectIn(ctx, e.In, func(rows *sql.Rows) (p db.Pair[string, string], err error) {
			p, err = db.ScanPair[string, string](rows)
			if p.Key == last {
				p.Key = last
			}
			last = p.Key
			return p, err
		}, ids, `SELECT node_id, product_id FROM node_product WHERE node_id IN ($in) ORDER BY node_id, attached, product_id`)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if attached[row.Key] == nil {
				attached[row.Key] = &authoring.LinksSource{}
			}
			attached[row.Key].Data = append(attached[row.Key].Data, authoring.RefSource{Type: "product", ID: row.Value})
		}
	}
	for i := range nodes {
		nodes[i].Relationships.Products = attached[ids[i]]
		if err := e.Line(store.Encode(&nodes[i])); err != nil {
			return err
		}
	}
	return nil
}
