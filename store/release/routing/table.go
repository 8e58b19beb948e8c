package routing

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"portico/internal/dependency"
	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/release/segment"
)

// Table maps shoppers to releases: the catalogs and the rules, both oldest
// first, and the releases that are served. It never changes.
type Table struct {
	catalogs []catalogEntry
	rules    []*catalog.CatalogRule
	releases map[string]*segment.Release // by catalog
	states   map[string]dependency.State // by catalog
}

type catalogEntry struct {
	source    *catalog.CatalogSource
	createdAt time.Time
	held      bool             // by a roll-back
	release   *segment.Release // nil when nothing is published
}

func (r *Router) readTable(ctx context.Context) (*Table, error) {
	catalogs, err := db.Collect(ctx, r.db.Reader, func(rows *sql.Rows) (c catalogEntry, err error) {
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
	served, err := segment.ServedReleases(ctx, r.db.Reader)
	if err != nil {
		return nil, err
	}
	releases := make(map[string]*segment.Release, len(served))
	for _, release := range served {
		releases[release.CatalogID] = release
	}
	for i := range catalogs {
		catalogs[i].release = releases[catalogs[i].source.ID]
	}
	rules, err := db.Collect(ctx, r.db.Reader, catalog.ScanRule, `SELECT `+catalog.RuleColumns+` FROM catalog_rule ORDER BY created_at, sequence, id`)
	return &Table{catalogs: catalogs, rules: rules, releases: releases}, err
}

// State returns the state of a published catalog.
func (t *Table) State(catalogID string) dependency.State { return t.states[catalogID] }

// Choose returns the release of the catalog that the rules select for a
// shopper, else of the oldest published catalog; nil when none is published.
func (t *Table) Choose(shopper ShopperContext, at time.Time) *segment.Release {
	if best, ok := bestRule(t.rules, shopper, at, t.published); ok {
		return t.releases[best.Rule.CatalogID]
	}
	for _, c := range t.catalogs {
		if c.release != nil {
			return c.release
		}
	}
	return nil
}

// Explain returns what Choose returns, and why.
func (t *Table) Explain(shopper ShopperContext, at time.Time) *CatalogResolution {
	x := &CatalogResolution{At: at, Release: t.Choose(shopper, at), Reason: ResolvedToNothing}
	x.Candidates, x.ValidUntil = verdicts(t.rules, shopper, at, t.published)
	if x.Release == nil {
		return x
	}
	x.Catalog, x.Reason = t.catalog(x.Release.CatalogID), ResolvedByAge
	if len(x.Candidates) > 0 && x.Candidates[0].Dropped == "" {
		best := x.Candidates[0]
		x.Rule, x.TieBreak, x.Reason = best.Rule, tieBreak(x.Candidates), ResolvedByRule
		if best.Default() {
			x.Reason = ResolvedByDefault
		}
	}
	return x
}

// ExplainRequested is Explain for a shopper who requested a release by its id.
func (t *Table) ExplainRequested(shopper ShopperContext, at time.Time, release *segment.Release) *CatalogResolution {
	x := t.Explain(shopper, at)
	x.Reason, x.Release, x.Catalog, x.Rule, x.TieBreak = ResolvedByRequest, release, t.catalog(release.CatalogID), nil, ""
	return x
}

// catalog returns a catalog, published or not; nil for an unknown id.
func (t *Table) catalog(id string) *catalog.Catalog {
	for _, c := range t.catalogs {
		if c.source.ID == id {
			return catalog.NewCatalog(c.source, c.createdAt, c.release != nil, c.held)
		}
	}
	return nil
}

func (t *Table) published(catalogID string) bool { return t.releases[catalogID] != nil }

// Currency returns the catalog's default currency, else that of the shop.
func (t *Table) Currency(catalogID string, settings *store.Settings) string {
	for _, c := range t.catalogs {
		if c.source.ID == catalogID {
			return cmp.Or(c.source.Attributes.Currency, settings.Currency)
		}
	}
	return settings.Currency
}
