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

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
)

// seen is what decides which release each shopper sees. Its JSON is stored.
type seen struct {
	Versions map[string]int64  `json:"versions"` // of the topics
	Routing  string            `json:"routing"`  // digest of rules, catalogs and settings
	Catalogs map[string]served `json:"catalogs"` // those with a release, by id
}

// served is what a catalog serves. A roll-back and its end within a moment shows in Superseded.
type served struct {
	ReleaseID  int64 `json:"release"`
	Superseded int64 `json:"superseded"` // when a release last ceased to be served, in microseconds
}

// topics are the topics whose changes are purged.
var topics = []string{string(db.TopicCatalog), string(db.TopicSettings)}

// CollectPurges queues a call for each catalog that serves another release than at the last time. It
// queues one for all catalogs at the first time, and if rules, settings or the set of published catalogs
// changed, which decide the catalog of a shopper. Any server may call it after any change.
func (s *PurgeService) CollectPurges(ctx context.Context) error {
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
		for _, change := range before.changes(now) {
			if err := s.queue(ctx, t, change); err != nil {
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
		return []Call{{}}
	}
	for _, id := range slices.Sorted(maps.Keys(now.Catalogs)) {
		if is, was := now.Catalogs[id], s.Catalogs[id]; is.ReleaseID != was.ReleaseID || is.Superseded > was.Superseded {
			calls = append(calls, Call{CatalogID: id, ReleaseID: is.ReleaseID})
		}
	}
	return calls
}

// queue adds a call, or adds its change to the call of the catalog that waits. A call that failed keeps its
// time.
func (s *PurgeService) queue(ctx context.Context, t *db.Tx, call Call) error {
	now := s.db.ClockSQL()
	_, err := t.Exec(ctx, `
		INSERT INTO purge_call (catalog_id, release_id, revision, calls, attempts, created_at, due_at, leased_until)
		VALUES ($1, $2, 0, $3, 0, `+now+`, `+now+`, 0)
		ON CONFLICT (catalog_id) DO UPDATE SET release_id = excluded.release_id, revision = purge_call.revision + 1, calls = excluded.calls,
		       created_at = CASE WHEN purge_call.calls = excluded.calls THEN purge_call.created_at ELSE excluded.created_at END,
		       due_at = CASE WHEN purge_call.attempts > 0 THEN purge_call.due_at ELSE excluded.due_at END`,
		call.CatalogID, call.ReleaseID, callsPerChange)
	return err
}

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
		var source catalog.CatalogSource
		var is served
		if err := rows.Scan(&id, db.JSON{Into: &source}, &is.ReleaseID, &is.Superseded); err != nil {
			return none, err
		}
		now.Catalogs[id] = is
		fmt.Fprintf(digest, "%q %q\n", id, source.Attributes.Currency)
		return none, nil
	}, `
		SELECT catalog.id, catalog.body, catalog.release_id,
		       COALESCE((SELECT MAX(superseded_at) FROM release WHERE release.catalog_id = catalog.id AND NOT release.preview), 0)
		FROM catalog WHERE catalog.release_id IS NOT NULL ORDER BY catalog.created_at, catalog.sequence, catalog.id`)
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
