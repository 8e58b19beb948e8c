package segment

import (
	"context"
	"database/sql"
	"slices"

	"portico/internal/dependency"
	"portico/store/catalog"
	"portico/store/db"
)

// comparison is a row of release_change without its body: it says what differs between a release and the
// one that was served when it was published.
type comparison struct{ release, against int64 }

// maxComparisons is the largest number of publications that ChangesBetween goes
// back or forward.
const maxComparisons = 32

// ChangesBetween returns what differs between two releases of a catalog. It
// joins what the publications wrote, so it may contain keys that differ between
// none but the releases in between. It is everything if a release in between is
// not kept.
func ChangesBetween(ctx context.Context, in db.Session, catalogID string, from, to int64) (*dependency.Changes, error) {
	changes := &dependency.Changes{}
	compared, err := db.Collect(ctx, in, func(rows *sql.Rows) (c comparison, err error) {
		return c, rows.Scan(&c.release, &c.against)
	}, `
		SELECT c.release_id, c.against_id FROM release_change c JOIN release r ON r.id = c.release_id
		WHERE r.catalog_id = $1 AND r.state = $2 ORDER BY c.release_id`, catalogID, catalog.ReleasePublished)
	if err != nil {
		return nil, err
	}
	path, found := comparisonsBetween(compared, from, to)
	if !found {
		changes.AddEverything()
		return changes, nil
	}
	if len(path) == 0 {
		return changes, nil
	}
	ids := make([]int64, len(path))
	for i, c := range path {
		ids[i] = c.release
	}
	list, args := db.InList(nil, ids)
	packed, err := db.Collect(ctx, in, db.Scalar[[]byte], `SELECT body FROM release_change WHERE release_id IN (`+list+`)`, args...)
	if err != nil {
		return nil, err
	}
	if len(packed) < len(path) { // swept meanwhile
		changes.AddEverything()
	}
	for _, body := range packed {
		part, err := dependency.UnpackChanges(body)
		if err != nil {
			return nil, err
		}
		changes.AddAll(part)
	}
	return changes, nil
}

// comparisonsBetween returns the fewest comparisons that lead from one release
// to another. A comparison leads both ways: to roll a publication back changes
// what it changed.
func comparisonsBetween(compared []comparison, from, to int64) (path []comparison, found bool) {
	reached := map[int64][]comparison{from: nil}
	for frontier := []int64{from}; len(frontier) > 0; {
		at := frontier[0]
		frontier = frontier[1:]
		if at == to {
			return reached[at], true
		}
		if len(reached[at]) == maxComparisons {
			continue
		}
		for _, c := range compared {
			next := c.against
			if at == c.against {
				next = c.release
			} else if at != c.release {
				continue
			}
			if _, known := reached[next]; !known {
				reached[next] = append(slices.Clone(reached[at]), c)
				frontier = append(frontier, next)
			}
		}
	}
	return nil, false
}
