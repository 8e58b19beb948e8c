package publish

import (
	"context"
	"database/sql"
	"math"
	"slices"

	"portico/store"
	"portico/store/db"
	"portico/store/publish/compare"
	"portico/store/release/segment"
)

// The number of path changes that are kept, of a catalog and of one of its products or nodes. The oldest go.
const (
	maxPathChanges         = 100_000
	maxPathChangesOfTarget = 1000
)

// pathStep is a place in the paths of a release: what has a slug below a node.
type pathStep struct{ kind, aboveID, slug string }

// stepsOfNode returns the step that leads to a node; none for nil and without a slug.
func stepsOfNode(n *segment.CatalogNode) []pathStep {
	switch {
	case n == nil || n.Slug == "":
		return nil
	case n.IsTop():
		return []pathStep{{segment.PathTop, n.ParentID, n.Slug}}
	}
	return []pathStep{{segment.PathNode, n.ParentID, n.Slug}}
}

// stepsOfProduct returns a step for each node that lists a product, or one below nothing; none without a slug.
func stepsOfProduct(by compare.FoundBy) (steps []pathStep) {
	if by.Slug == "" {
		return nil
	}
	if len(by.NodeIDs) == 0 {
		return []pathStep{{segment.PathProduct, "", by.Slug}}
	}
	for _, id := range by.NodeIDs {
		steps = append(steps, pathStep{segment.PathProduct, id, by.Slug})
	}
	return steps
}

// pathChanges collects how the paths of a catalog change when it serves another release: the steps that end, and those that
// begin with or below a node that was elsewhere before. Without the latter, a product would seem to have been at the node's
// former paths. A moved node is one step, whatever is below it.
type pathChanges struct {
	turn  int64
	rows  [][]any         // of the table path_change
	moved map[string]bool // nodes that were elsewhere before
	known bool            // moved has those of earlier turns too
}

// changePath adds the changes of one product or node.
func (w *releaseWriter) changePath(ctx context.Context, id string, was, is []pathStep) error {
	add := func(step pathStep, came bool) {
		if len(w.paths.rows) < maxPathChanges {
			w.paths.rows = append(w.paths.rows, []any{w.release.CatalogID, step.slug, w.paths.turn, step.aboveID, step.kind, id, came})
		}
	}
	for _, step := range was {
		if !slices.Contains(is, step) {
			add(step, false)
		}
	}
	for _, step := range is {
		if slices.Contains(was, step) {
			continue
		}
		if moved, err := w.hasMoved(ctx, id, step); err != nil {
			return err
		} else if moved {
			add(step, true)
		}
	}
	return nil
}

// hasMoved reports whether the served release or an earlier one has what a step leads to, if that is a node, or a node above it
// elsewhere.
func (w *releaseWriter) hasMoved(ctx context.Context, id string, step pathStep) (bool, error) {
	if !w.paths.known {
		moved, err := db.Collect(ctx, w.service.db.Reader, db.Scalar[string],
			`SELECT DISTINCT target_id FROM path_change WHERE catalog_id = $1 AND kind <> $2`, w.release.CatalogID, segment.PathProduct)
		if err != nil {
			return false, err
		}
		for _, id := range moved {
			w.paths.moved[id] = true
		}
		w.paths.known = true
	}
	before, err := w.compared.Before.Tree(ctx)
	if err != nil {
		return false, err
	}
	now, err := w.compared.Now.Tree(ctx)
	if err != nil {
		return false, err
	}
	if step.kind != segment.PathProduct && w.paths.moved[id] {
		return true, nil
	}
	for node := now.ByID[step.aboveID]; node != nil; node = now.ByID[node.ParentID] {
		if w.paths.moved[node.ID] || before.ByID[node.ID] == nil {
			return w.paths.moved[node.ID], nil
		}
	}
	return false, nil
}

// dropPathChanges deletes the oldest changes beyond maxPathChanges and maxPathChangesOfTarget, with all others of the same turn, and
// those of catalogs that were deleted.
func (s *Service) dropPathChanges(ctx context.Context, actor store.Actor) error {
	type surplus struct {
		catalogID, kind, targetID string // kind and targetID are empty for all of the catalog
		until                     sql.NullInt64
	}
	found, err := db.Collect(ctx, s.db.Reader, func(rows *sql.Rows) (of surplus, err error) {
		return of, rows.Scan(&of.catalogID, &of.kind, &of.targetID, &of.until)
	}, `
		SELECT catalog_id, '', '', CASE WHEN EXISTS (SELECT 1 FROM catalog WHERE id = catalogs.catalog_id)
		    THEN (SELECT turn FROM path_change WHERE catalog_id = catalogs.catalog_id ORDER BY turn DESC LIMIT 1 OFFSET $1) ELSE $3 END
		FROM (SELECT DISTINCT catalog_id FROM path_change) AS catalogs
		UNION ALL
		SELECT catalog_id, kind, target_id,
		    (SELECT turn FROM path_change WHERE catalog_id = targets.catalog_id AND kind = targets.kind AND target_id = targets.target_id ORDER BY turn DESC LIMIT 1 OFFSET $2)
		FROM (SELECT catalog_id, kind, target_id FROM path_change GROUP BY catalog_id, kind, target_id HAVING COUNT(*) > $2) AS targets`,
		maxPathChanges, maxPathChangesOfTarget, int64(math.MaxInt64))
	for _, of := range found {
		if err == nil && of.until.Valid {
			err = s.db.InBatches(ctx, actor, func(ctx context.Context, t *db.Tx, rows int) (int64, error) {
				const key = `catalog_id, slug, turn, above_id, kind, target_id, came`
				return t.Exec(ctx, `DELETE FROM path_change WHERE (`+key+`) IN (
					SELECT `+key+` FROM path_change WHERE catalog_id = $1 AND ($2 = '' OR kind = $2 AND target_id = $3) AND turn <= $4 LIMIT $5)`,
					of.catalogID, of.kind, of.targetID, of.until.Int64, rows)
			})
		}
	}
	return err
}
