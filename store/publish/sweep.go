package publish

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/release/segment"
)

// SweepOfReleases is the name of SweepReleases.
const SweepOfReleases = "releases"

// SweepReleases returns the sweep that deletes releases and documents that nobody
// reads any more.
func SweepReleases(s *PublishService, actor store.Actor, every time.Duration) db.Sweep {
	return db.Sweep{
		Name: SweepOfReleases, Every: every,
		Run: func(ctx context.Context) error { return s.sweepReleases(ctx, actor) },
		CountDue: func(ctx context.Context, most int) (int, error) {
			dead, err := s.deadReleases(ctx)
			return min(len(dead), most), err
		},
	}
}

// sweepReleases deletes unfinished releases of dead builds, and superseded
// releases, with the documents that only they have. It keeps the newest of each
// catalog (PublishConfig.Kept), those served within the last hour, at most 20 in
// all, and the bases of these.
func (s *PublishService) sweepReleases(ctx context.Context, actor store.Actor) error {
	for range 2 { // the second time for bases whose last delta is gone
		dead, err := s.deadReleases(ctx)
		if err != nil {
			return err
		}
		for _, d := range dead {
			if err := s.dropRelease(ctx, actor, d); err != nil {
				return err
			}
		}
	}
	return s.dropDocuments(ctx, actor)
}

// deltasSwept is the number of deltas after which unused documents are searched,
// which reads all documents. A delta leaves few; after a whole release is dropped,
// the search runs at once.
const deltasSwept = 64

// deadRelease is a release to delete.
type deadRelease struct {
	id      int64
	touched int64 // by its build, or by one that begins to use it as its base
	delta   bool
}

// deadReleases returns the releases to delete. Builds mark their progress by the
// database's clock, because servers' clocks may differ by minutes. When a release
// was last served is compared with the earlier of both clocks.
func (s *PublishService) deadReleases(ctx context.Context) ([]deadRelease, error) {
	kept := cmp.Or(s.kept, math.MaxInt32)
	now, err := s.db.SafeNow(ctx)
	if err != nil {
		return nil, err
	}
	return db.Collect(ctx, s.db.Reader, func(rows *sql.Rows) (r deadRelease, err error) {
		return r, rows.Scan(&r.id, &r.touched, &r.delta)
	}, `
		SELECT id, touched_at, base_id <> 0 FROM release
		WHERE state <> $1 AND touched_at < `+s.db.ClockSQL()+` - $2
		UNION ALL
		SELECT id, touched_at, base_id <> 0 FROM (
		    SELECT id, touched_at, base_id, superseded_at, preview, age,
		           ROW_NUMBER() OVER (PARTITION BY catalog_id ORDER BY CASE WHEN preview AND age > $3 THEN 1 ELSE 0 END, id DESC) AS place -- previews that go are not in the way
		    FROM (
		        SELECT id, catalog_id, touched_at, base_id, superseded_at, preview, ROW_NUMBER() OVER (PARTITION BY catalog_id ORDER BY id DESC) AS age
		        FROM release WHERE state = $1) AS published) AS placed
		WHERE superseded_at > 0 AND age > $3 AND (preview OR superseded_at <= $4 OR place > $5) AND id NOT IN (SELECT base_id FROM release)
		UNION ALL
		SELECT id, touched_at, base_id <> 0 FROM release -- of a catalog that was deleted
		WHERE state = $1 AND superseded_at > 0 AND catalog_id NOT IN (SELECT id FROM catalog)`,
		catalog.ReleasePublished, buildingStale.Microseconds(), kept, store.Micros(now.Add(-releaseRemembered)), max(kept, releasesMost))
}

// dropRelease deletes a release, its own row last, so that an interrupted deletion
// is found again. It changes the state first, so that nobody begins to read it. A
// release that is served again meanwhile, or became a base, stays.
func (s *PublishService) dropRelease(ctx context.Context, actor store.Actor, dead deadRelease) error {
	id := dead.id
	var dropped int64
	if err := s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) (err error) {
		dropped, err = t.Exec(ctx, `
			UPDATE release SET state = 'dropped', touched_at = 0
			WHERE id = $1 AND (state <> $2 OR superseded_at > 0) AND touched_at = $3`, id, catalog.ReleasePublished, dead.touched)
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
	if err := s.documentsDue(ctx, actor, dead); err != nil {
		return err
	}
	return s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		_, err := t.Exec(ctx, `DELETE FROM release WHERE id = $1`, id)
		return err
	})
}

// documentsDue makes the next sweep search unused documents, now that the
// release's rows are gone. The value differs each time, so that a running sweep
// notices.
func (s *PublishService) documentsDue(ctx context.Context, actor store.Actor, release deadRelease) error {
	if release.delta {
		return nil
	}
	return s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		_, err := t.Exec(ctx, `UPDATE counter SET value = $1 WHERE name = 'documents_due'`, -release.id)
		return err
	})
}

// dropDocuments deletes the documents that no release refers to. It stops for any
// publication, which may be about to share them.
func (s *PublishService) dropDocuments(ctx context.Context, actor store.Actor) error {
	var number, due int64
	if _, err := db.Collect(ctx, s.db.Reader, func(rows *sql.Rows) (none struct{}, err error) {
		return none, rows.Scan(&number, &due)
	}, `
		SELECT release.value, due.value FROM counter AS release, counter AS due
		WHERE release.name = 'release' AND due.name = 'documents_due'`); err != nil || number < due {
		return err
	}
	used := bitsets{}
	if err := s.usedDocuments(ctx, used); err != nil {
		return err
	}
	scan := func(rows *sql.Rows) ([]any, int64, error) {
		id, err := db.Scalar[int64](rows)
		return []any{id}, id, err
	}
	stopped := false
	if err := db.EachPage(ctx, s.db.Reader, "document", "id", []string{"id"}, scan, func(ids []int64) error {
		ids = slices.DeleteFunc(ids, used.has)
		return store.Chunked(ids, 512, func(ids []int64) error {
			return s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
				// Delays the start of a publication. One that started since the
				// documents were counted ends the sweep.
				n, err := t.Exec(ctx, `
					UPDATE counter SET value = value
					WHERE name = 'release' AND value = $1
					  AND NOT EXISTS (SELECT 1 FROM release WHERE state = $2)`, number, catalog.ReleaseBuilding)
				stopped = stopped || n == 0
				if err != nil || n == 0 {
					return err
				}
				list, args := db.InList(nil, ids)
				if _, err := t.Exec(ctx, `
					DELETE FROM document_hash
					WHERE hash IN (SELECT hash FROM document WHERE id IN (`+list+`))`, args...); err != nil {
					return err
				}
				n, err = t.Exec(ctx, `DELETE FROM document WHERE id IN (`+list+`)`, args...)
				db.AddSwept(ctx, n)
				return err
			})
		})
	}); err != nil || stopped {
		return err
	}
	return s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		_, err := t.Exec(ctx, `UPDATE counter SET value = $1 WHERE name = 'documents_due' AND value = $2`, number+deltasSwept, due)
		return err
	})
}

// usedDocuments marks the documents that releases refer to.
func (s *PublishService) usedDocuments(ctx context.Context, used bitsets) error {
	type row struct {
		documents string
		crumbs    int64
	}
	scan := func(rows *sql.Rows) ([]any, row, error) {
		var r row
		var release, ordinal int64
		err := rows.Scan(&release, &ordinal, &r.documents, &r.crumbs)
		return []any{release, ordinal}, r, err
	}
	err := db.EachPage(ctx, s.db.Reader, "release_product", "release_id, ordinal, documents, crumbs", []string{"release_id", "ordinal"}, scan, func(rows []row) error {
		for _, r := range rows {
			used.add(r.crumbs)
			for _, field := range strings.Fields(r.documents) {
				id, err := strconv.ParseInt(field[strings.IndexByte(field, '=')+1:], 10, 64)
				if err != nil {
					return err
				}
				used.add(id)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	scanFile := func(rows *sql.Rows) ([]any, int64, error) {
		var release, document int64
		var file string
		err := rows.Scan(&release, &file, &document)
		return []any{release, file}, document, err
	}
	return db.EachPage(ctx, s.db.Reader, "release_file", "release_id, file_id, document_id", []string{"release_id", "file_id"}, scanFile, func(ids []int64) error {
		for _, id := range ids {
			used.add(id)
		}
		return nil
	})
}

// bitsets is a set of document ids: one bit each, by the release that added it.
type bitsets map[int64][]uint64

func (b bitsets) add(id int64) {
	release, n := id>>segment.DocumentBits, id&(1<<segment.DocumentBits-1)
	for int64(len(b[release])) <= n/64 {
		b[release] = append(b[release], make([]uint64, 1+len(b[release]))...)
	}
	b[release][n/64] |= 1 << (n % 64)
}

func (b bitsets) has(id int64) bool {
	release, n := id>>segment.DocumentBits, id&(1<<segment.DocumentBits-1)
	set := b[release]
	return n/64 < int64(len(set)) && set[n/64]&(1<<(n%64)) != 0
}
