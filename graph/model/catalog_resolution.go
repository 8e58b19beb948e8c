package model

import (
	"fmt"
	"strconv"
	"time"

	"portico/store"
	"portico/store/release"
	"portico/store/release/routing"
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

// CatalogResolution is the store's resolution, without what the client may not see.
type CatalogResolution struct {
	*routing.CatalogResolution
	Candidates []*CatalogCandidate
}

// NewCatalogResolution returns a resolution. full names rules for other shoppers and rules out of schedule too.
func NewCatalogResolution(resolution *routing.CatalogResolution, full bool) *CatalogResolution {
	r := &CatalogResolution{resolution, make([]*CatalogCandidate, len(resolution.Candidates))}
	for i, verdict := range resolution.Candidates {
		r.Candidates[i] = &CatalogCandidate{verdict, full || !verdict.Foreign() && verdict.Dropped != routing.DropSchedule}
	}
	return r
}

// CatalogID returns the id of the chosen catalog; nil if nothing is published.
func (r *CatalogResolution) CatalogID() *string {
	if r.Catalog == nil {
		return nil
	}
	return &r.Catalog.ID
}

// CatalogName returns the name of the chosen catalog; nil if nothing is published.
func (r *CatalogResolution) CatalogName() *string {
	if r.Catalog == nil {
		return nil
	}
	return &r.Catalog.Name
}

// ReleaseID returns the id of the release; nil if nothing is published.
func (r *CatalogResolution) ReleaseID() *string {
	if r.Release == nil {
		return nil
	}
	id := strconv.FormatInt(r.Release.ID, 10)
	return &id
}

// PublishedAt returns when the release was published; nil if nothing is.
func (r *CatalogResolution) PublishedAt() *time.Time {
	if r.Release == nil {
		return nil
	}
	return &r.Release.PublishedAt
}

// RuleID returns the id of the rule that decided; nil for none.
func (r *CatalogResolution) RuleID() *string {
	if r.Rule == nil {
		return nil
	}
	return &r.Rule.ID
}

// RuleName returns the name of the rule that decided; nil for none.
func (r *CatalogResolution) RuleName() *string {
	if r.Rule == nil {
		return nil
	}
	return &r.Rule.Name
}

// TieBreak returns what decided a tie; nil without one.
func (r *CatalogResolution) TieBreak() *routing.TieBreak {
	if r.CatalogResolution.TieBreak == "" {
		return nil
	}
	return &r.CatalogResolution.TieBreak
}

// CatalogCandidate is a rule compared with a shopper. Rules that the client may not see have no names.
type CatalogCandidate struct {
	*routing.RuleVerdict
	named bool
}

// RuleID returns the rule's id; nil if the client may not see it.
func (c *CatalogCandidate) RuleID() *string { return c.name(c.Rule.ID) }

// RuleName returns the rule's name; nil if the client may not see it.
func (c *CatalogCandidate) RuleName() *string { return c.name(c.Rule.Name) }

// CatalogID returns the rule's catalog; nil if the client may not see it.
func (c *CatalogCandidate) CatalogID() *string { return c.name(c.Rule.CatalogID) }

// name returns a text that names the rule; nil if the client may not see it.
func (c *CatalogCandidate) name(text string) *string {
	if !c.named {
		return nil
	}
	return &text
}

// Dropped returns why the rule was not chosen; nil if it was.
func (c *CatalogCandidate) Dropped() *routing.RuleDrop {
	if c.RuleVerdict.Dropped == "" {
		return nil
	}
	return &c.RuleVerdict.Dropped
}
