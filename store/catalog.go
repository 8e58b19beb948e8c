package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
)

// routing is what leads a shopper to a release: the catalogs that are
// published, and the rules, both in the order in which they came to be.
type routing struct {
	catalogs []publishedCatalog
	rules    []*ruleSource
}

type publishedCatalog struct {
	source  *catalogSource
	release *Release // nil when nothing is published
}

// routingNow returns the current one.
func (s *Store) routingNow(ctx context.Context) (*routing, error) {
	return s.routing.get(ctx, s, topicCatalog, s.readRouting)
}

func (s *Store) readRouting(ctx context.Context) (*routing, error) {
	catalogs, err := collect(ctx, s.reader, func(rows *sql.Rows) (c publishedCatalog, err error) {
		var body []byte
		var release sql.NullInt64
		c.source = &catalogSource{}
		if err := rows.Scan(&body, &release); err != nil {
			return c, err
		}
		if release.Valid {
			c.release = &Release{ID: release.Int64}
		}
		return c, json.Unmarshal(body, c.source)
	}, `SELECT body, release_id FROM catalog ORDER BY created_at, sequence, id`)
	if err != nil {
		return nil, err
	}
	for i := range catalogs {
		if catalogs[i].release != nil {
			if catalogs[i].release, err = s.release(ctx, catalogs[i].release.ID); err != nil {
				return nil, err
			}
		}
	}
	rules, err := collect(ctx, s.reader, func(rows *sql.Rows) (*ruleSource, error) {
		var body []byte
		rule := &ruleSource{}
		if err := rows.Scan(&body); err != nil {
			return nil, err
		}
		return rule, json.Unmarshal(body, rule)
	}, `SELECT body FROM catalog_rule ORDER BY created_at, sequence, id`)
	return &routing{catalogs, rules}, err
}

// choose returns the release of the default rule's catalog: the oldest rule
// without criteria whose catalog is published, else the oldest published
// catalog; nil when there is none.
func (r *routing) choose(ShopperContext) *Release {
	for _, rule := range r.rules {
		if release := r.releaseOf(rule.Attributes.CatalogID); rule.unconditional() && release != nil {
			return release
		}
	}
	for _, c := range r.catalogs {
		if c.release != nil {
			return c.release
		}
	}
	return nil
}

func (r *routing) releaseOf(catalogID string) *Release {
	for _, c := range r.catalogs {
		if c.source.ID == catalogID {
			return c.release
		}
	}
	return nil
}

// currency is the catalog's own, else the store's.
func (r *routing) currency(catalogID string, settings *Settings) string {
	for _, c := range r.catalogs {
		if c.source.ID == catalogID {
			return cmp.Or(c.source.Attributes.Currency, settings.Currency)
		}
	}
	return settings.Currency
}

// CatalogIDs lists the catalogs, published or not, oldest first.
func (s *Store) CatalogIDs(ctx context.Context) ([]string, error) {
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

// ranked are a catalog's price books, the highest priority first.
func (c *catalogSource) ranked() []pricebookRank {
	ranks := slices.Clone(c.Attributes.PricebookIDs)
	slices.SortStableFunc(ranks, func(a, b pricebookRank) int { return cmp.Compare(b.Priority, a.Priority) })
	return ranks
}
