package release

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
)

// routingTable is what leads a shopper to a release: the catalogs that are
// published, and the rules, both in the order in which they came to be.
type routingTable struct {
	catalogs []publishedCatalog
	rules    []*catalog.CatalogRule
	releases map[string]*Release // by catalog, of the published ones
}

type publishedCatalog struct {
	source    *catalog.CatalogSource
	createdAt time.Time
	held      bool     // by a roll-back
	release   *Release // nil when nothing is published
}

// routingNow returns the current one.
func (s *ReleaseService) routingNow(ctx context.Context) (*routingTable, error) {
	return s.routing.Get(ctx, s.db, db.TopicCatalog, s.readRouting)
}

func (s *ReleaseService) readRouting(ctx context.Context) (*routingTable, error) {
	catalogs, err := db.Collect(ctx, s.db.Reader, func(rows *sql.Rows) (c publishedCatalog, err error) {
		var body []byte
		var created int64
		c.source = &catalog.CatalogSource{}
		if err := rows.Scan(&created, &body, &c.held); err != nil {
			return c, err
		}
		c.createdAt = store.FromMicros(created)
		return c, json.Unmarshal(body, c.source)
	}, `SELECT created_at, body, `+catalog.RolledBackSQL+` FROM catalog ORDER BY created_at, sequence, id`)
	if err != nil {
		return nil, err
	}
	served, err := db.Collect(ctx, s.db.Reader, scanRelease, `
		SELECT `+releaseColumns+` FROM release WHERE state = $1 AND id IN (SELECT release_id FROM catalog)`, catalog.ReleasePublished)
	if err != nil {
		return nil, err
	}
	releases := make(map[string]*Release, len(served))
	for _, release := range served {
		releases[release.CatalogID] = release
	}
	for i := range catalogs {
		catalogs[i].release = releases[catalogs[i].source.ID]
	}
	rules, err := db.Collect(ctx, s.db.Reader, catalog.ScanRule, `SELECT `+catalog.RuleColumns+` FROM catalog_rule ORDER BY created_at, sequence, id`)
	return &routingTable{catalogs, rules, releases}, err
}

// choose returns the release of the catalog that the rules give a shopper,
// else of the oldest published one; nil when none is published.
func (r *routingTable) choose(shopper ShopperContext, at time.Time) *Release {
	if best, ok := bestRule(r.rules, shopper, at, r.published); ok {
		return r.releases[best.Rule.CatalogID]
	}
	for _, c := range r.catalogs {
		if c.release != nil {
			return c.release
		}
	}
	return nil
}

// explain says what choose returns, and why.
func (r *routingTable) explain(shopper ShopperContext, at time.Time) *CatalogResolution {
	x := &CatalogResolution{At: at, Release: r.choose(shopper, at), Reason: ResolvedToNothing}
	x.Candidates, x.ValidUntil = verdicts(r.rules, shopper, at, r.published)
	if x.Release == nil {
		return x
	}
	x.Catalog, x.Reason = r.catalog(x.Release.CatalogID), ResolvedByAge
	if len(x.Candidates) > 0 && x.Candidates[0].Dropped == "" {
		best := x.Candidates[0]
		x.Rule, x.TieBreak, x.Reason = best.Rule, tieBreak(x.Candidates), ResolvedByRule
		if best.Default() {
			x.Reason = ResolvedByDefault
		}
	}
	return x
}

// catalog is one of the catalogs, published or not; nil when there is none.
func (r *routingTable) catalog(id string) *catalog.Catalog {
	for _, c := range r.catalogs {
		if c.source.ID == id {
			return catalog.NewCatalog(c.source, c.createdAt, c.release != nil, c.held)
		}
	}
	return nil
}

func (r *routingTable) published(catalogID string) bool { return r.releases[catalogID] != nil }

// currency is the catalog's own, else the store's.
func (r *routingTable) currency(catalogID string, settings *store.Settings) string {
	for _, c := range r.catalogs {
		if c.source.ID == catalogID {
			return cmp.Or(c.source.Attributes.Currency, settings.Currency)
		}
	}
	return settings.Currency
}

// CatalogIDs lists the catalogs, published or not, oldest first.
func (s *ReleaseService) CatalogIDs(ctx context.Context) ([]string, error) {
	routing, err := s.readRouting(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(routing.catalogs))
	for i, c := range routing.catalogs {
		ids[i] = c.source.ID
	}
	return ids, nil
}
