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
	if n == nil || n.Slug == "" {
		return nil
	}
	return []pathStep{{n.PathKind(), n.ParentID, n.Slug}}
}

// stepsOfProduct returns a step for each node that lists a product, or one below nothing; none without a slug.
func stepsOfProduct(by compare.FoundBy) (steps []pathStep) {
	above := by.NodeIDs
	if len(above) == 0 {
		above = []string{""}
	}
	for _, id := range above {
		if by.Slug != "" {
			steps = append(steps, pathStep{segment.PathProduct, id, by.Slug})
		}
	}
	return steps
}

// pathChanges collects how the paths of a catalog change when it serves another release: the steps that end, and those that
// begin with or below a node that was elsewhere before. Without the latter, a product would seem to have been at the node's
// former paths. A moved node is one step, whatever is below it.
type pathChanges struct {
	turn  int64
	rows  [][]any         // of the table path_change
	moved map[string]bool // nodes that were elsewhere at an earlier turn; nil before hasMoved reads them
}

// changePath adds the changes of one product or node.
func (w *releaseWriter) changePath(ctx context.Context, id string, was, is []pathStep) (err error) {
	for _, step := range slices.Concat(was, is) {
		ended, came := !slices.Contains(is, step), !slices.Contains(was, step)
		if came {
			if came, err = w.hasMoved(ctx, id, step); err != nil {
				return err
			}
		}
		if (ended || came) && len(w.paths.rows) < maxPathChanges {
			w.paths.rows = append(w.paths.rows, []any{w.release.CatalogID, step.slug, w.paths.turn, step.aboveID, step.kind, id, came})
		}
	}
	return nil
}

// hasMoved reports whether the served release or an earlier one has what a step leads to, if that is a node, or a node above it
// elsewhere.
func (w *releaseWriter) hasMoved(ctx context.Context, id string, step pathStep) (bool, error) {
	before, err := w.compared.Before.Tree(ctx)
	if err != nil {
		return false, err
	}
	now, err := w.compared.Now.Tree(ctx)
	if err != nil {
		return false, err
	}
	if w.paths.moved == nil {
		ids, err := db.Collect(ctx, w.service.db.Reader, db.Scalar[string],
			`SELECT DISTINCT target_id FROM path_change WHERE catalog_id = $1 AND kind <> $2`, w.release.CatalogID, segment.PathProduct)
		if err != nil {
			return false, err
		}
		w.paths.moved = store.SetOf(ids)
	}
	moved := func(id string) bool {
		was := before.ByID[id]
		return w.paths.moved[id] || was != nil && !slices.Equal(stepsOfNode(was), stepsOfNode(now.ByID[id]))
	}
	if step.kind != segment.PathProduct && moved(id) {
		return true, nil
	}
	for node := now.ByID[step.aboveID]; node != nil; node = now.ByID[node.ParentID] {
		if before.ByID[node.ID] == nil || moved(node.ID) {
			return moved(node.ID), nil
		}
	}
	return false, nil
}

// dropPathChanges deletes the oldest changes beyond maxPathChanges and maxPathChangesOfTarget, with all others of the same turn, and
// those of catalogs that were deleted.
func (s *Service) dropPathChanges(ctx context.Context, actor store.Actor) error {
	surplus, err := db.Collect(ctx, s.db.Reader, func(rows *sql.Rows) ([]any, error) {
		var catalogID, kind, targetID string // the last two are empty for all of the catalog
		var until int64
		err := rows.Scan(&catalogID, &kind, &targetID, &until)
		return []any{catalogID, kind, targetID, until}, err
	}, `
		SELECT catalog_id, kind, target_id, until FROM (
		    SELECT catalog_id, '' AS kind, '' AS target_id, CASE WHEN catalog_id NOT IN (SELECT id FROM catalog) THEN $3
		        ELSE (SELECT turn FROM path_change WHERE catalog_id = own.catalog_id ORDER BY turn DESC LIMIT 1 OFFSET $1) END AS until
		    FROM path_change AS own GROUP BY catalog_id
		    UNION ALL
		    SELECT catalog_id, kind, target_id,
		        (SELECT turn FROM path_change WHERE catalog_id = own.catalog_id AND kind = own.kind AND target_id = own.target_id ORDER BY turn DESC LIMIT 1 OFFSET $2)
		    FROM path_change AS own GROUP BY catalog_id, kind, target_id HAVING COUNT(*) > $2) AS surplus
		WHERE until IS NOT NULL`, maxPathChanges, maxPathChangesOfTarget, int64(math.MaxInt64))
	for _, args := range surplus {
		if err == nil {
			err = s.db.InBatches(ctx, actor, func(ctx context.Context, t *db.Tx, rows int) (int64, error) {
				const key = `catalog_id, slug, turn, above_id, kind, target_id, came`
				return t.Exec(ctx, `DELETE FROM path_change WHERE (`+key+`) IN (
					SELECT `+key+` FROM path_change WHERE catalog_id = $1 AND ($2 = '' OR kind = $2 AND target_id = $3) AND turn <= $4 LIMIT $5)`,
					append(args, rows)...)
			})
		}
	}
	return err
}
