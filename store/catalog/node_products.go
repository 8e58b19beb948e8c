package catalog

import (
	"context"
	"database/sql"
	"slices"
	"strconv"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// MaxAttached bounds the products that one call attaches or detaches.
const MaxAttached = 1000

// AttachProducts attaches products to a node, the newest last; those that are
// attached keep their place. NOT_FOUND for an unknown node; UNPROCESSABLE
// names each product that there is not, and a list out of bounds.
func (s *CatalogService) AttachProducts(ctx context.Context, actor store.Actor, id string, productIDs []string) (*AuthoredNode, error) {
	return s.changeAttached(ctx, actor, id, productIDs, func(ctx context.Context, w *authoring.Writer, _ *NodeSource) error {
		known, err := w.Existing(ctx, "product", store.ValidIDs(productIDs))
		if err != nil {
			return err
		}
		if err := store.BatchError(eachProduct(productIDs, func(id string) bool { return known[id] }, "names no product: %q")); err != nil {
			return err
		}
		attached, err := attached(ctx, w, id, productIDs)
		if err != nil {
			return err
		}
		fresh := slices.DeleteFunc(store.Unique(productIDs), func(id string) bool { return attached[id] })
		place, err := w.Sequence(ctx, len(fresh))
		if err != nil {
			return err
		}
		rows := make([][]any, len(fresh))
		for i, product := range fresh {
			rows[i] = []any{id, place + int64(i), product}
		}
		w.Touch("product", fresh...)
		return w.InsertRows(ctx, "node_product", []string{"node_id", "attached", "product_id"}, rows)
	})
}

// DetachProducts takes products off a node, and off its curated ones; those
// that are not attached are passed over. NOT_FOUND for an unknown node;
// UNPROCESSABLE for a list out of bounds.
func (s *CatalogService) DetachProducts(ctx context.Context, actor store.Actor, id string, productIDs []string) (*AuthoredNode, error) {
	return s.changeAttached(ctx, actor, id, productIDs, func(ctx context.Context, w *authoring.Writer, source *NodeSource) error {
		curated := &source.Attributes.CuratedProducts
		*curated = slices.DeleteFunc(*curated, func(id string) bool { return slices.Contains(productIDs, id) })
		return detach(ctx, w, id, store.ValidIDs(productIDs))
	})
}

// CurateProducts says which products of a node come first, in this order: at
// most MaxCurated, each attached to it. NOT_FOUND for an unknown node;
// UNPROCESSABLE names each product that is not attached, or there twice.
func (s *CatalogService) CurateProducts(ctx context.Context, actor store.Actor, id string, productIDs []string) (*AuthoredNode, error) {
	return s.changeNode(ctx, actor, id, func(ctx context.Context, w *authoring.Writer, source *NodeSource) error {
		source.Attributes.CuratedProducts = productIDs
		if len(productIDs) > MaxCurated {
			return nil // which the check of the node says
		}
		attached, err := attached(ctx, w, id, productIDs)
		if err != nil {
			return err
		}
		loose := eachProduct(productIDs, func(id string) bool { return attached[id] }, "is not attached to the node: %q; attach it first")
		seen := map[string]bool{}
		again := eachProduct(productIDs, func(id string) bool {
			twice := seen[id]
			seen[id] = true
			return !twice
		}, "is there twice: %q")
		return store.BatchError(append(loose, again...))
	})
}

// changeAttached holds a list of products against its bounds, and changes the
// node by it.
func (s *CatalogService) changeAttached(ctx context.Context, actor store.Actor, id string, productIDs []string, change func(context.Context, *authoring.Writer, *NodeSource) error) (*AuthoredNode, error) {
	if len(productIDs) == 0 || len(productIDs) > MaxAttached {
		return nil, store.Unprocessablef([]string{"product_ids"}, "must hold between 1 and %d products, not %d", MaxAttached, len(productIDs))
	}
	return s.changeNode(ctx, actor, id, change)
}

// eachProduct finds every product that is not as it should be.
func eachProduct(ids []string, good func(id string) bool, format string) (faults store.Errors) {
	for i, id := range ids {
		if !good(id) {
			faults = append(faults, store.Unprocessablef([]string{"product_ids", strconv.Itoa(i)}, format, store.Abbreviate(id)))
		}
	}
	return faults
}

// attached tells which of some products are attached to a node.
func attached(ctx context.Context, w *authoring.Writer, nodeID string, productIDs []string) (map[string]bool, error) {
	attached := map[string]bool{}
	err := store.Chunked(store.ValidIDs(productIDs), 512, func(ids []string) error {
		places, args := db.InList([]any{nodeID}, ids)
		found, err := db.Collect(ctx, w.Session, db.Scalar[string],
			`SELECT product_id FROM node_product WHERE node_id = $1 AND product_id IN (`+places+`)`, args...)
		for _, id := range found {
			attached[id] = true
		}
		return err
	})
	return attached, err
}

// AttachedCounts tells how many products are attached to each of several
// nodes; a node without any is left out.
func (s *CatalogService) AttachedCounts(ctx context.Context, nodeIDs []string) (map[string]int, error) {
	counts := make(map[string]int, len(nodeIDs))
	err := store.Chunked(store.ValidIDs(nodeIDs), 512, func(ids []string) error {
		places, args := db.InList(nil, ids)
		_, err := db.Collect(ctx, s.db.Reader, func(rows *sql.Rows) (none struct{}, err error) {
			var id string
			var n int
			err = rows.Scan(&id, &n)
			counts[id] = n
			return none, err
		}, `SELECT node_id, COUNT(*) FROM node_product WHERE node_id IN (`+places+`) GROUP BY node_id`, args...)
		return err
	})
	return counts, err
}

// AttachedProducts lists the products attached to each of several nodes, the
// newest attachment first: at most limit of each, after passing over offset.
func (s *CatalogService) AttachedProducts(ctx context.Context, nodeIDs []string, limit, offset int) (map[string][]string, error) {
	attached := make(map[string][]string, len(nodeIDs))
	err := store.Chunked(store.ValidIDs(nodeIDs), 512, func(ids []string) error {
		places, args := db.InList([]any{offset, offset + limit}, ids)
		_, err := db.Collect(ctx, s.db.Reader, func(rows *sql.Rows) (none struct{}, err error) {
			var node, product string
			err = rows.Scan(&node, &product)
			attached[node] = append(attached[node], product)
			return none, err
		}, `
			SELECT node_id, product_id FROM (
			    SELECT node_id, product_id,
			           ROW_NUMBER() OVER (PARTITION BY node_id ORDER BY attached DESC, product_id DESC) AS place
			    FROM node_product WHERE node_id IN (`+places+`)) AS listed
			WHERE place > $1 AND place <= $2
			ORDER BY node_id, place`, args...)
		return err
	})
	return attached, err
}
