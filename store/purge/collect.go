package purge

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"portico/internal/dependency"
	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/release/segment"
)

// seen is what decides which release each shopper sees. Its JSON is stored.
type seen struct {
	Versions map[string]int64  `json:"versions"` // of the topics
	Routing  string            `json:"routing"`  // digest of rules, catalogs and settings
	Catalogs map[string]served `json:"catalogs"` // those with a release, by id
}

// served is what a catalog serves.
type served struct {
	ReleaseID int64           `json:"release"`
	Ended     map[int64]int64 `json:"ended"` // when each release that is kept ceased to be served, in microseconds
}

// endedSince returns the releases that ceased to be served since a state. Some were served only after it, for a moment.
func (s served) endedSince(was served) (ids []int64) {
	for id, at := range s.Ended {
		if was.Ended[id] != at {
			ids = append(ids, id)
		}
	}
	return ids
}

// topics are the topics whose changes are purged.
var topics = []string{string(db.TopicCatalog), string(db.TopicSettings)}

// Collect queues a call for each catalog that serves another release than at the last time. It
// queues one for all catalogs at the first time, and if rules, settings or the set of published catalogs
// changed, which decide the catalog of a shopper. Any server may call it after any change.
func (s *Service) Collect(ctx context.Context) error {
	before, _, err := db.One(ctx, s.db.Reader, db.Scalar[string], `SELECT seen FROM purge_seen WHERE id = 1`)
	if err != nil {
		return err
	}
	versions, err := readVersions(ctx, s.db.Reader)
	if err != nil || maps.Equal(decodeSeen(before).Versions, versions) {
		return err
	}
	return s.db.Update(ctx, "", func(ctx context.Context, t *db.Tx) error {
		text, _, err := db.One(ctx, t.Session, db.Scalar[string], `
			INSERT INTO purge_seen (id, seen) VALUES (1, '') ON CONFLICT (id) DO UPDATE SET seen = purge_seen.seen RETURNING seen`) // locks the row
		if err != nil {
			return err
		}
		before := decodeSeen(text)
		now, err := readSeen(ctx, t.Session)
		if err != nil || maps.Equal(before.Versions, now.Versions) { // another server was faster
			return err
		}
		for _, call := range before.changes(now) {
			if call.Changed, err = changedSince(ctx, t.Session, before.Catalogs[call.CatalogID], now.Catalogs[call.CatalogID], call); err != nil {
				return err
			}
			if err := s.queue(ctx, t, call); err != nil {
				return err
			}
		}
		_, err = t.Exec(ctx, `UPDATE purge_seen SET seen = $1 WHERE id = 1`, string(store.Encode(now)))
		return err
	})
}

// decodeSeen returns the zero value for what it cannot read.
func decodeSeen(text string) seen {
	var s seen
	if json.Unmarshal([]byte(text), &s) != nil {
		return seen{}
	}
	return s
}

// changes returns the calls for the changes from one state to another.
func (s seen) changes(now seen) (calls []Call) {
	if s.Routing != now.Routing {
		return []Call{{}} // all catalogs
	}
	for _, id := range slices.Sorted(maps.Keys(now.Catalogs)) {
		is, was := now.Catalogs[id], s.Catalogs[id]
		if is.ReleaseID != was.ReleaseID || len(is.endedSince(was)) > 0 {
			calls = append(calls, Call{CatalogID: id, ReleaseID: is.ReleaseID})
		}
	}
	return calls
}

// changedSince returns what changed for a call, in all releases that its catalog served since a state.
func changedSince(ctx context.Context, in db.Session, was, is served, call Call) (*dependency.Changes, error) {
	changed := &dependency.Changes{}
	if call.CatalogID == "" || was.ReleaseID == 0 {
		changed.AddEverything()
		return changed, nil
	}
	for _, id := range append(is.endedSince(was), is.ReleaseID) {
		step, err := segment.ChangesBetween(ctx, in, call.CatalogID, was.ReleaseID, id)
		if err != nil {
			return nil, err
		}
		changed.AddAll(step)
	}
	return changed, nil
}

// queue adds a call, or adds its change to the call of the catalog that waits. A call that failed keeps its
// time.
func (s *Service) queue(ctx context.Context, t *db.Tx, call Call) error {
	waiting, found, err := db.One(ctx, t.Session, db.Scalar[[]byte], `SELECT `+changedColumn+` FROM purge_call WHERE catalog_id = $1`, call.CatalogID)
	if err != nil {
		return err
	}
	if found {
		earlier, err := dependency.UnpackChanges(waiting)
		if err != nil {
			return err
		}
		call.Changed.AddAll(earlier)
	}
	now := s.db.ClockSQL()
	_, err = t.Exec(ctx, `
		INSERT INTO purge_call (catalog_id, release_id, revision, calls, attempts, created_at, due_at, leased_until, changed, changed_revision)
		VALUES ($1, $2, 0, $3, 0, `+now+`, `+now+`, 0, $4, 0)
		ON CONFLICT (catalog_id) DO UPDATE SET release_id = excluded.release_id, revision = purge_call.revision + 1, calls = excluded.calls,
		       changed = excluded.changed, changed_revision = purge_call.revision + 1,
		       created_at = CASE WHEN purge_call.calls = excluded.calls THEN purge_call.created_at ELSE excluded.created_at END,
		       due_at = CASE WHEN purge_call.attempts > 0 THEN purge_call.due_at ELSE excluded.due_at END`,
		call.CatalogID, call.ReleaseID, callsPerChange, call.Changed.Pack())
	return err
}

// readVersions reads the versions of topics, by name.
func readVersions(ctx context.Context, in db.Session) (map[string]int64, error) {
	list, args := db.InList(nil, topics)
	rows, err := db.Collect(ctx, in, db.ScanPair[string, int64], `SELECT topic, version FROM change WHERE topic IN (`+list+`)`, args...)
	return db.PairMap(rows), err
}

// readSeen reads the state. What changes while it reads is found again by its version.
func readSeen(ctx context.Context, in db.Session) (seen, error) {
	now := seen{Catalogs: map[string]served{}}
	var err error
	if now.Versions, err = readVersions(ctx, in); err != nil {
		return now, err
	}
	digest := sha256.New()
	settings, err := db.ReadSettings(ctx, in)
	if err != nil {
		return now, err
	}
	fmt.Fprintf(digest, "%d %q %q\n", settings.PageLength, settings.Currency, settings.Locale)
	_, err = db.Collect(ctx, in, func(rows *sql.Rows) (none struct{}, err error) {
		var id string
		var source catalog.Source
		is := served{Ended: map[int64]int64{}}
		if err := rows.Scan(&id, db.JSON{Into: &source}, &is.ReleaseID); err != nil {
			return none, err
		}
		now.Catalogs[id] = is
		fmt.Fprintf(digest, "%q %q\n", id, source.Attributes.Currency)
		return none, nil
	}, `SELECT id, body, release_id FROM catalog WHERE release_id IS NOT NULL ORDER BY created_at, sequence, id`)
	if err != nil {
		return now, err
	}
	_, err = db.Collect(ctx, in, func(rows *sql.Rows) (none struct{}, err error) {
		var catalogID string
		var id, ended int64
		err = rows.Scan(&catalogID, &id, &ended)
		if is, found := now.Catalogs[catalogID]; found {
			is.Ended[id] = ended
		}
		return none, err
	}, `SELECT catalog_id, id, superseded_at FROM release WHERE NOT preview AND superseded_at > 0`)
	if err != nil {
		return now, err
	}
	_, err = db.Collect(ctx, in, func(rows *sql.Rows) (none struct{}, err error) {
		rule, err := catalog.ScanRule(rows)
		if err == nil {
			rule.Name = "" // decides nothing
			digest.Write(store.Encode(rule))
		}
		return none, err
	}, `SELECT `+catalog.RuleColumns+` FROM catalog_rule ORDER BY created_at, sequence, id`)
	now.Routing = hex.EncodeToString(digest.Sum(nil)[:16])
	return now, err
}
