package catalog

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// MaxAttached is the most products that one call attaches or detaches.
const MaxAttached = 1000

// AttachProducts attaches products to a node, the newest last; attached ones keep their
// position. It returns NOT_FOUND for an unknown node, and UNPROCESSABLE for each unknown
// product or a list out of range.
func (s *Service) AttachProducts(ctx context.Context, actor store.Actor, id string, productIDs []string) (*AuthoredNode, error) {
	return s.changeAttached(ctx, actor, id, productIDs, func(ctx context.Context, w *authoring.Writer, _ *NodeSource) error {
		known, err := w.Existing(ctx, "product", store.ValidIDs(productIDs))
		if err != nil {
			return err
		}
		if err := store.BatchError(productErrors(productIDs, func(id string) bool { return known[id] }, store.UnknownReferencef, "is not a product: %q")); err != nil {
			return err
		}
		attached, err := attachedAmong(ctx, w, id, productIDs)
		if err != nil {
			return err
		}
		fresh := slices.DeleteFunc(store.Unique(productIDs), func(id string) bool { return attached[id] })
		return attach(ctx, w, id, fresh)
	})
}

// DetachProducts detaches products from a node and its curated list; unattached ones are
// ignored. It returns NOT_FOUND for an unknown node, and UNPROCESSABLE for a list out of
// range.
func (s *Service) DetachProducts(ctx context.Context, actor store.Actor, id string, productIDs []string) (*AuthoredNode, error) {
	return s.changeAttached(ctx, actor, id, productIDs, func(ctx context.Context, w *authoring.Writer, source *NodeSource) error {
		curated := &source.Attributes.CuratedProducts
		*curated = slices.DeleteFunc(*curated, func(id string) bool { return slices.Contains(productIDs, id) })
		return detach(ctx, w, id, store.ValidIDs(productIDs))
	})
}

// CurateProducts sets which products of a node come first, in this order: at most
// MaxCurated, all attached. It returns NOT_FOUND for an unknown node, CONFLICT unless its curated products are those expected, if
// they are not nil, and UNPROCESSABLE for each product that is not attached or repeated.
func (s *Service) CurateProducts(ctx context.Context, actor store.Actor, id string, productIDs, expected []string) (*AuthoredNode, error) {
	return changeRow(ctx, s, actor, NodeList, NodeKind, "node", id, func(ctx context.Context, w *authoring.Writer, source *NodeSource) error {
		if err := checkExpected("expected_product_ids", expected, source.Attributes.CuratedProducts); err != nil {
			return err
		}
		source.Attributes.CuratedProducts = productIDs
		if len(productIDs) > MaxCurated {
			return nil // the check of the node reports it
		}
		attached, err := attachedAmong(ctx, w, id, productIDs)
		if err != nil {
			return err
		}
		loose := productErrors(productIDs, func(id string) bool { return attached[id] }, store.Unprocessablef, "is not attached to the node: %q; attach it first")
		return store.BatchError(append(loose, repeatedErrors(productIDs)...))
	})
}

// changeAttached checks the length of a list and runs change on the node, whose source it writes afterwards.
func (s *Service) changeAttached(ctx context.Context, actor store.Actor, id string, productIDs []string, change func(context.Context, *authoring.Writer, *NodeSource) error) (*AuthoredNode, error) {
	if len(productIDs) == 0 || len(productIDs) > MaxAttached {
		return nil, store.Unprocessablef([]string{"product_ids"}, "must have between 1 and %d products, got %d", MaxAttached, len(productIDs))
	}
	return changeRow(ctx, s, actor, NodeList, NodeKind, "node", id, change)
}

// NodeProductsChange is what SetProducts did, or would do.
type NodeProductsChange struct {
	Node               *AuthoredNode // as it is now
	Attached, Detached []string      // products; those that only move are in neither
}

// maxReplaced is the most products of a node that SetProducts replaces, in one transaction.
const maxReplaced = 10_000

// SetProducts sets the products of a node, the newest first, as AttachedProducts lists them: products that are not in the list are detached
// and no longer curated. Attached products that were deleted may be in the list: they stay attached, and count again when
// they come back. It returns NOT_FOUND for an unknown node, CONFLICT unless its products are those expected, if they are not nil, and
// UNPROCESSABLE for each unknown or repeated product, for a longer list than MaxAttached and for a node with more products
// than maxReplaced.
// A dry run changes no node, but it takes a sequence number, and is stored as the first call of its idempotency key.
func (s *Service) SetProducts(ctx context.Context, actor store.Actor, id string, productIDs, expected []string, dryRun bool) (*NodeProductsChange, error) {
	if len(productIDs) > MaxAttached {
		return nil, store.Unprocessablef([]string{"product_ids"}, "must have at most %d products, got %d; attach the others by catalogNodeProductsAttach", MaxAttached, len(productIDs))
	}
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (*NodeProductsChange, error) {
		w := &authoring.Writer{Tx: t, DB: s.db}
		// This locks the sequence row, as every write of nodes does (Service.write), so that they run one at a time.
		if _, err := w.Sequence(ctx, 1); err != nil {
			return nil, err
		}
		source := &NodeSource{}
		if err := w.Read(ctx, "node", "node", id, source); err != nil {
			return nil, err
		}
		if expected != nil {
			attached, err := db.Collect(ctx, w.Session, db.Scalar[string],
				`SELECT product_id FROM node_product WHERE node_id = $1 ORDER BY attached DESC, product_id DESC`, id)
			if err = cmp.Or(err, checkExpected("expected_product_ids", expected, attached)); err != nil {
				return nil, err
			}
		}
		leave, fresh, change, err := planProducts(ctx, w, id, productIDs)
		if err == nil && !dryRun && len(leave)+len(fresh) > 0 {
			err = replaceProducts(ctx, w, source, leave, fresh)
		}
		if err != nil {
			return nil, err
		}
		change.Node, err = authoring.ReadRow(ctx, w.Session, NodeList, "node", id)
		return change, err
	})
}

// planProducts returns which products to detach and to attach, so that a node has productIDs, and what SetProducts reports, without
// the node. It checks the list and the node.
func planProducts(ctx context.Context, w *authoring.Writer, id string, productIDs []string) (leave, fresh []string, change *NodeProductsChange, err error) {
	known, err := w.Existing(ctx, "product", store.ValidIDs(productIDs))
	if err != nil {
		return nil, nil, nil, err
	}
	attached, err := attachedAmong(ctx, w, id, productIDs) // with those that were deleted since
	if err != nil {
		return nil, nil, nil, err
	}
	unknown := productErrors(productIDs, func(id string) bool { return known[id] || attached[id] }, store.UnknownReferencef, "is not a product: %q")
	if err := store.BatchError(append(unknown, repeatedErrors(productIDs)...)); err != nil {
		return nil, nil, nil, err
	}
	count, _, err := db.One(ctx, w.Session, db.Scalar[int], `SELECT COUNT(*) FROM node_product WHERE node_id = $1`, id)
	if err != nil {
		return nil, nil, nil, err
	}
	if count > maxReplaced {
		return nil, nil, nil, store.Unprocessablef([]string{"id"}, "has %d products, and at most %d can be replaced at once; use catalogNodeProductsAttach and catalogNodeProductsDetach", count, maxReplaced)
	}
	oldestFirst := slices.Clone(productIDs)
	slices.Reverse(oldestFirst)
	leave, fresh, err = diffAttached(ctx, w, id, oldestFirst)
	if err != nil {
		return nil, nil, nil, err
	}
	comes, goes := store.SetOf(fresh), store.SetOf(leave)
	return leave, fresh, &NodeProductsChange{
		Attached: slices.DeleteFunc(slices.Clone(productIDs), func(id string) bool { return !comes[id] || goes[id] }),
		Detached: slices.DeleteFunc(slices.Clone(leave), func(id string) bool { return comes[id] }),
	}, nil
}

// replaceProducts detaches and attaches products, ends the curation of those that leave, and finishes the write.
func replaceProducts(ctx context.Context, w *authoring.Writer, source *NodeSource, leave, fresh []string) error {
	w.Revised = true // releases contain the products of nodes
	gone := store.SetOf(leave)
	for _, id := range fresh {
		delete(gone, id)
	}
	curated := &source.Attributes.CuratedProducts
	*curated = slices.DeleteFunc(*curated, func(id string) bool { return gone[id] })
	if err := detach(ctx, w, source.ID, leave); err != nil {
		return err
	}
	if err := attach(ctx, w, source.ID, fresh); err != nil {
		return err
	}
	if err := w.Replace(ctx, NodeKind, source); err != nil {
		return err
	}
	return w.Finish(ctx)
}

// productErrors returns an error, made by newError, for each id for which good is false. format gets the id.
func productErrors(ids []string, good func(id string) bool, newError func([]string, string, ...any) *store.Error, format string) (faults store.Errors) {
	for i, id := range ids {
		if !good(id) {
			faults = append(faults, newError([]string{"product_ids", strconv.Itoa(i)}, format, store.Abbreviate(id)))
		}
	}
	return faults
}

// repeatedErrors reports the ids that stand in the list before.
func repeatedErrors(ids []string) store.Errors {
	seen := map[string]bool{}
	return productErrors(ids, func(id string) bool {
		twice := seen[id]
		seen[id] = true
		return !twice
	}, store.Unprocessablef, "is repeated: %q")
}

// attachedAmong returns which products are attached to a node.
func attachedAmong(ctx context.Context, w *authoring.Writer, nodeID string, productIDs []string) (map[string]bool, error) {
	found, err := db.CollectIn(ctx, w.Session, db.Scalar[string], store.ValidIDs(productIDs),
		`SELECT product_id FROM node_product WHERE node_id = $1 AND product_id IN ($in)`, nodeID)
	return store.SetOf(found), err
}

// AttachedCounts returns the number of products by node; nodes without any are missing.
func (s *Service) AttachedCounts(ctx context.Context, nodeIDs []string) (map[string]int, error) {
	return attachedCounts(ctx, s.db.Reader, store.ValidIDs(nodeIDs))
}

func attachedCounts(ctx context.Context, in db.Session, nodeIDs []string) (map[string]int, error) {
	counts, err := db.CollectIn(ctx, in, db.ScanPair[string, int], nodeIDs,
		`SELECT node_id, COUNT(*) FROM node_product WHERE node_id IN ($in) GROUP BY node_id`)
	return db.PairMap(counts), err
}

// AttachedProducts lists the products of nodes, the newest attachment first: at most limit
// of each, after offset.
func (s *Service) AttachedProducts(ctx context.Context, nodeIDs []string, limit, offset int) (map[string][]string, error) {
	rows, err := db.CollectIn(ctx, s.db.Reader, db.ScanPair[string, string], store.ValidIDs(nodeIDs), `
		SELECT node_id, product_id FROM (
		    SELECT node_id, product_id,
		           ROW_NUMBER() OVER (PARTITION BY node_id ORDER BY attached DESC, product_id DESC) AS place
		    FROM node_product WHERE node_id IN ($in)) AS listed
		WHERE place > $1 AND place <= $2
		ORDER BY node_id, place`, offset, offset+limit)
	attached := make(map[string][]string, len(nodeIDs))
	for _, row := range rows {
		attached[row.Key] = append(attached[row.Key], row.Value)
	}
	return attached, err
}
