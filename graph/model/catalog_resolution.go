package model

import (
	"fmt"

	"portico/store"
	"portico/store/catalog"
	"portico/store/release"
	"portico/store/release/routing"
	"portico/store/release/segment"
)

// ShopperContextInput is a shopper other than the caller.
type ShopperContextInput struct {
	Channel     *string
	Tags        []string
	AccountID   *string
	AccountTags []string
	CustomerID  *string
}

// maxTags is the largest number of a shopper's tags.
const maxTags = 100

// Shopper converts the input for the store. It returns UNPROCESSABLE for too many tags.
func (c *ShopperContextInput) Shopper() (shopper release.ShopperContext, err error) {
	for _, list := range []struct {
		member string
		tags   []string
	}{{"tags", c.Tags}, {"account_tags", c.AccountTags}} {
		if len(list.tags) > maxTags {
			return shopper, &store.Error{Code: store.Unprocessable, Path: []string{"context", list.member}, Detail: fmt.Sprintf("must be at most %d, got %d", maxTags, len(list.tags))}
		}
	}
	return release.ShopperContext{Channel: orEmpty(c.Channel), Tags: c.Tags,
		AccountID: orEmpty(c.AccountID), AccountTags: c.AccountTags, CustomerID: orEmpty(c.CustomerID)}, nil
}

// orEmpty returns the text, or an empty one for nil.
func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// CatalogResolution is the store's resolution, with its release and its rules as rows.
type CatalogResolution struct {
	*routing.CatalogResolution
	Release    *CatalogRelease // nil if nothing is published
	Rule       *CatalogRule    // nil if no rule decided
	Candidates []*CatalogCandidate
}

// NewCatalogResolution returns a resolution whose rules are one batch.
func NewCatalogResolution(resolution *routing.CatalogResolution) *CatalogResolution {
	r := &CatalogResolution{CatalogResolution: resolution, Candidates: make([]*CatalogCandidate, len(resolution.Candidates))}
	if resolution.Release != nil {
		r.Release = NewBatch[CatalogRelease]([]*segment.Release{resolution.Release})[0]
	}
	rules := make([]*catalog.Rule, len(resolution.Candidates))
	for i, verdict := range resolution.Candidates {
		rules[i] = verdict.Rule
	}
	for i, rule := range NewBatch[CatalogRule](rules) {
		r.Candidates[i] = &CatalogCandidate{resolution.Candidates[i], rule}
		if rule.Rule == resolution.Rule {
			r.Rule = rule
		}
	}
	return r
}

// TieBreak returns what decided a tie; nil without one.
func (r *CatalogResolution) TieBreak() *routing.TieBreak {
	return store.NonEmpty(r.CatalogResolution.TieBreak)
}

// CatalogCandidate is a rule compared with a shopper.
type CatalogCandidate struct {
	*routing.RuleVerdict
	Rule *CatalogRule
}

// Dropped returns why the rule was not chosen; nil if it was.
func (c *CatalogCandidate) Dropped() *routing.RuleDrop { return store.NonEmpty(c.RuleVerdict.Dropped) }
