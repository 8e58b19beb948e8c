package model

import (
	"fmt"
	"slices"
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
	for member, tags := range map[string][]string{"tags": c.Tags, "account_tags": c.AccountTags} {
		if len(tags) > maxTags {
			return shopper, &store.Error{Code: store.Unprocessable, Path: []string{"context", member}, Detail: fmt.Sprintf("must be at most %d, got %d", maxTags, len(tags))}
		}
	}
	return release.ShopperContext{Channel: orEmpty(c.Channel), Tags: c.Tags,
		AccountID: orEmpty(c.AccountID), AccountTags: c.AccountTags, CustomerID: orEmpty(c.CustomerID)}, nil
}

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// CatalogResolution is the store's resolution, without what the caller may not see.
type CatalogResolution struct {
	*routing.CatalogResolution
	Candidates []*CatalogCandidate
}

// NewCatalogResolution returns a resolution. full names rules for other shoppers too.
func NewCatalogResolution(x *routing.CatalogResolution, full bool) *CatalogResolution {
	r := &CatalogResolution{x, make([]*CatalogCandidate, len(x.Candidates))}
	for i, verdict := range x.Candidates {
		r.Candidates[i] = &CatalogCandidate{verdict, full || !verdict.Foreign()}
	}
	return r
}

// CatalogID is the chosen catalog's own id; nil when nothing is published.
func (r *CatalogResolution) CatalogID() *string {
	if r.Catalog == nil {
		return nil
	}
	return &r.Catalog.ID
}

// CatalogName is the chosen catalog's name; nil when nothing is published.
func (r *CatalogResolution) CatalogName() *string {
	if r.Catalog == nil {
		return nil
	}
	return &r.Catalog.Name
}

// ReleaseID is the release that is read; nil when nothing is published.
func (r *CatalogResolution) ReleaseID() *string {
	if r.Release == nil {
		return nil
	}
	id := strconv.FormatInt(r.Release.ID, 10)
	return &id
}

// PublishedAt is the release's time; nil when nothing is published.
func (r *CatalogResolution) PublishedAt() *time.Time {
	if r.Release == nil {
		return nil
	}
	return &r.Release.PublishedAt
}

// Locales are the languages of the release's texts, the base language first;
// empty when nothing is published.
func (r *CatalogResolution) Locales() []string {
	if r.Release == nil {
		return []string{}
	}
	return store.Unique(append([]string{r.Release.Locale}, r.Release.Locales...))
}

// Channels returns the channels of the visible rules in force that lead to the chosen
// catalog, sorted.
func (r *CatalogResolution) Channels() []string {
	channels := []string{}
	for _, c := range r.Candidates {
		if r.Catalog != nil && c.named && c.Rule.CatalogID == r.Catalog.ID && c.RuleVerdict.Dropped != routing.DropSchedule {
			channels = append(channels, c.Rule.Channels...)
		}
	}
	slices.Sort(channels)
	return slices.Compact(channels)
}

// RuleID is the own id of the rule that decided; nil when none did.
func (r *CatalogResolution) RuleID() *string {
	if r.Rule == nil {
		return nil
	}
	return &r.Rule.ID
}

// RuleName is the name of the rule that decided; nil when none did.
func (r *CatalogResolution) RuleName() *string {
	if r.Rule == nil {
		return nil
	}
	return &r.Rule.Name
}

// TieBreak is what decided a tie; nil without one.
func (r *CatalogResolution) TieBreak() *routing.TieBreak {
	if r.CatalogResolution.TieBreak == "" {
		return nil
	}
	return &r.CatalogResolution.TieBreak
}

// CatalogCandidate is a rule compared with a shopper. Rules for others have no names.
type CatalogCandidate struct {
	*routing.RuleVerdict
	named bool
}

// RuleID is the rule's own id, where it may be named.
func (c *CatalogCandidate) RuleID() *string { return c.name(c.Rule.ID) }

// RuleName is the rule's name, where it may be named.
func (c *CatalogCandidate) RuleName() *string { return c.name(c.Rule.Name) }

// CatalogID is the catalog that the rule leads to, where it may be named.
func (c *CatalogCandidate) CatalogID() *string { return c.name(c.Rule.CatalogID) }

func (c *CatalogCandidate) name(text string) *string {
	if !c.named {
		return nil
	}
	return &text
}

// Dropped is why the rule could not be chosen; nil when it could.
func (c *CatalogCandidate) Dropped() *routing.RuleDrop {
	if c.RuleVerdict.Dropped == "" {
		return nil
	}
	return &c.RuleVerdict.Dropped
}
