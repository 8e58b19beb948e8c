package publish

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"strings"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/release/segment"
)

// noLayer is the condition that the release with an id, an expression, is no layer of another one.
func noLayer(id string) string {
	return `NOT EXISTS (SELECT 1 FROM release AS upper WHERE ` + segment.IsLayerSQL("upper", id) + `)`
}

// sweepReleases deletes unfinished releases of dead builds, and superseded
// releases. It keeps the newest of each
// catalog (Config.Kept), those served within the last hour, at most 20 in
// all, those that are retained, and the layers of these.
func (s *Service) sweepReleases(ctx context.Context, actor store.Actor) error {
	for range maxLayers { // again for the layers of those that are gone: a layer is dead once no release has it
		dead, err := s.deadReleases(ctx)
		if err != nil {
			return err
		}
		if len(dead) == 0 {
			break
		}
		for _, d := range dead {
			if err := s.dropRelease(ctx, actor, d); err != nil {
				return err
			}
		}
	}
	return s.dropPathChanges(ctx, actor)
}

// deadRelease is a release to delete.
type deadRelease struct {
	id      int64
	touched int64 // by its build, or by one that begins to use it as its base
}

// deadReleases returns the releases to delete. Builds mark their progress by the
// database's clock, because servers' clocks may differ by minutes. When a release
// was last served is compared with the earlier of both clocks.
func (s *Service) deadReleases(ctx context.Context) ([]deadRelease, error) {
	kept := cmp.Or(s.kept, math.MaxInt32)
	now, err := s.db.SafeNow(ctx)
	if err != nil {
		return nil, err
	}
	return db.Collect(ctx, s.db.Reader, func(rows *sql.Rows) (r deadRelease, err error) {
		return r, rows.Scan(&r.id, &r.touched)
	}, `
		SELECT id, touched_at FROM release
		WHERE state NOT IN ($1, $6) AND touched_at < `+s.db.ClockSQL()+` - $2
		UNION ALL
		SELECT id, touched_at FROM release
		WHERE state = $6 AND touched_at < `+s.db.ClockSQL()+` - $2 AND `+noLayer("release.id")+` AND (
		    NOT EXISTS (SELECT 1 FROM catalog WHERE catalog.id = release.catalog_id)
		    OR EXISTS (SELECT 1 FROM release AS later WHERE later.catalog_id = release.catalog_id AND later.id > release.id AND later.base_id = 0 AND (later.state = $6 OR later.state = $1 AND NOT later.preview)))
		UNION ALL
		SELECT id, touched_at FROM (
		    SELECT id, touched_at, superseded_at, preview, retained, age,
		           ROW_NUMBER() OVER (PARTITION BY catalog_id ORDER BY CASE WHEN preview AND age > $3 THEN 1 ELSE 0 END, id DESC) AS place -- previews that go are not in the way
		    FROM (
		        SELECT id, catalog_id, touched_at, superseded_at, preview, retained, ROW_NUMBER() OVER (PARTITION BY catalog_id ORDER BY id DESC) AS age
		        FROM release WHERE state = $1) AS published) AS placed
		WHERE superseded_at > 0 AND NOT retained AND age > $3 AND (preview OR superseded_at <= $4 OR place > $5) AND `+noLayer("placed.id")+`
		UNION ALL
		SELECT id, touched_at FROM release -- of a catalog that was deleted
		WHERE state = $1 AND superseded_at > 0 AND NOT EXISTS (SELECT 1 FROM catalog WHERE catalog.id = release.catalog_id) AND `+noLayer("release.id"),
		catalog.ReleasePublished, buildingStale.Microseconds(), kept, store.Micros(now.Add(-releaseRemembered)), max(kept, releasesMost), catalog.ReleaseBase)
}

// dropRelease deletes a release, its own row last, so that an interrupted deletion
// is found again. It changes the state first, so that nobody begins to read it. A
// release that is served again meanwhile, or became a layer, stays.
func (s *Service) dropRelease(ctx context.Context, actor store.Actor, dead deadRelease) error {
	id := dead.id
	var dropped int64
	if err := s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) (err error) {
		dropped, err = t.Exec(ctx, `
			UPDATE release SET state = 'dropped', touched_at = 0
			WHERE id = $1 AND (state <> $2 OR superseded_at > 0) AND touched_at = $3 AND `+noLayer("release.id")+`
			  AND (NOT retained OR NOT EXISTS (SELECT 1 FROM catalog WHERE catalog.id = release.catalog_id))`, id, catalog.ReleasePublished, dead.touched)
		return err
	}); err != nil || dropped == 0 {
		return err
	}
	for _, table := range segment.Tables {
		// A bound instead of a list of keys: PostgreSQL then reads only the rows
		// that it deletes, whatever its statistics say.
		last := strings.ReplaceAll(table.Key, ",", " DESC,") + " DESC"
		text := fmt.Sprintf(`
			DELETE FROM %[1]s WHERE %[2]s AND (%[3]s) <= (
			    SELECT %[3]s FROM (SELECT %[3]s FROM %[1]s WHERE %[2]s ORDER BY %[3]s LIMIT $2) AS batch
			    ORDER BY %[4]s LIMIT 1)`, table.Name, table.Owned(), table.Key, last)
		if err := s.db.InBatches(ctx, actor, func(ctx context.Context, t *db.Tx, rows int) (int64, error) {
			return t.Exec(ctx, text, id, rows)
		}); err != nil {
			return err
		}
	}
	return s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		_, err := t.Exec(ctx, `DELETE FROM release WHERE id = $1`, id)
		return err
	})
}
