package routing

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"reflect"
	"slices"
	"sync/atomic"
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
	routes   uint64 // Routes
	catalogs []catalogEntry
	rules    []*catalog.Rule
	releases map[string]*segment.Release // by catalog
	basis    Basis
	edges    []int64                     // starts and ends of the rules' schedules in microseconds, sorted
	states   map[string]dependency.State // of the served releases, by catalog
}

// Routes is a number in the process for how the table routes: tables with one number choose the same
// catalog for every shopper at any time, and read it in the same languages and currency, while the
// catalog's release may differ. Who compares numbers need not keep tables in memory.
func (t *Table) Routes() uint64 { return t.routes }

// lastRoutes is the highest number of Routes so far.
var lastRoutes atomic.Uint64

// numberRoutes sets Routes of a table that was read after another; nil for none.
func (t *Table) numberRoutes(before *Table) {
	if before != nil && t.routesAs(before) {
		t.routes = before.routes
	} else {
		t.routes = lastRoutes.Add(1)
	}
}

// routesAs reports whether two tables route alike.
func (t *Table) routesAs(other *Table) bool {
	return reflect.DeepEqual(t.rules, other.rules) && slices.EqualFunc(t.catalogs, other.catalogs, catalogEntry.routesAs)
}

// routesAs reports whether shoppers of both entries read in the same languages and currency. The releases may differ.
func (c catalogEntry) routesAs(other catalogEntry) bool {
	if !reflect.DeepEqual(c.source, other.source) || !c.createdAt.Equal(other.createdAt) {
		return false
	}
	a, b := c.release, other.release
	return a == b || a != nil && b != nil && a.Locale == b.Locale && slices.Equal(a.Locales, b.Locales)
}

// Basis says which properties of shoppers the rules look at. The others decide nothing.
type Basis struct{ Channel, Tag, Identity bool }

// catalogEntry is a catalog, published or not.
type catalogEntry struct {
	source    *catalog.Source
	createdAt time.Time
	held      bool             // by a roll-back
	release   *segment.Release // nil when nothing is published
}

// readTable reads a table, without its routes and states.
func (r *Router) readTable(ctx context.Context) (*Table, error) {
	catalogs, err := db.Collect(ctx, r.db.Reader, func(rows *sql.Rows) (c catalogEntry, err error) {
		var body []byte
		var created int64
		c.source = &catalog.Source{}
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
	return newTable(catalogs, rules, releases), err
}

// newTable returns a table that knows what its rules look at.
func newTable(catalogs []catalogEntry, rules []*catalog.Rule, releases map[string]*segment.Release) *Table {
	t := &Table{catalogs: catalogs, rules: rules, releases: releases}
	for _, rule := range rules {
		t.basis.Channel = t.basis.Channel || len(rule.Channels) > 0
		t.basis.Tag = t.basis.Tag || len(rule.Tags) > 0
		t.basis.Identity = t.basis.Identity || len(rule.AccountIDs)+len(rule.AccountTagIDs)+len(rule.CustomerIDs) > 0
		for _, schedule := range rule.Schedules {
			for _, edge := range []time.Time{schedule.From, schedule.To} {
				if !edge.IsZero() {
					t.edges = append(t.edges, store.Micros(edge))
				}
			}
		}
	}
	slices.Sort(t.edges)
	return t
}

// Channels returns the channels by which rules lead to a catalog at a time, sorted, each once. Rules for certain
// accounts, account tags or customers do not count, so that nobody learns of them.
func (t *Table) Channels(catalogID string, at time.Time) []string {
	channels := []string{}
	for _, rule := range t.rules {
		restricted := len(rule.AccountIDs)+len(rule.AccountTagIDs)+len(rule.CustomerIDs) > 0
		applies := len(rule.Schedules) == 0 || slices.ContainsFunc(rule.Schedules, func(s catalog.Schedule) bool { return s.Contains(at) })
		if rule.CatalogID == catalogID && applies && !restricted {
			channels = append(channels, rule.Channels...)
		}
	}
	slices.Sort(channels)
	return slices.Compact(channels)
}

// Basis returns what the choice of a release depends on, besides the time.
func (t *Table) Basis() Basis { return t.basis }

// HoldsUntil returns when a schedule of any rule next starts or ends after a time; zero for never.
// Until then, and while the table is current, Choose returns the same.
func (t *Table) HoldsUntil(at time.Time) time.Time {
	i, _ := slices.BinarySearch(t.edges, store.Micros(at)+1)
	if i == len(t.edges) {
		return time.Time{}
	}
	return store.FromMicros(t.edges[i])
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
	x.Catalog, x.Reason = t.Catalog(x.Release.CatalogID), ResolvedByAge
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
	x.Reason, x.Release, x.Catalog, x.Rule, x.TieBreak = ResolvedByRequest, release, t.Catalog(release.CatalogID), nil, ""
	return x
}

// Catalog returns a catalog, published or not; nil for an unknown id.
func (t *Table) Catalog(id string) *catalog.Catalog {
	for _, c := range t.catalogs {
		if c.source.ID == id {
			return catalog.NewCatalog(c.source, c.createdAt, c.release != nil, c.held)
		}
	}
	return nil
}

// published reports whether a catalog serves a release.
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
