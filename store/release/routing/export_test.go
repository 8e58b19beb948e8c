package routing

import (
	"encoding/json"
	"time"

	"portico/store"
	"portico/store/authoring"
	"portico/store/catalog"
)

// RuleOf is the rule of a file's line, as it is after so many others.
func RuleOf(line string, sequence int64) (*catalog.CatalogRule, error) {
	source := &catalog.RuleSource{}
	if err := json.Unmarshal([]byte(line), source); err != nil {
		return nil, err
	}
	f := &authoring.Validator{}
	source.Check(f)
	if len(f.Errors) > 0 {
		return nil, f.Errors
	}
	return catalog.NewCatalogRule(source, store.StoredTime(source.Attributes.CreatedAt), sequence), nil
}

// BestRule is the rule that wins; empty when none can be chosen.
func BestRule(rules []*catalog.CatalogRule, shopper ShopperContext, at time.Time, published func(string) bool) string {
	if best, ok := bestRule(rules, shopper, at, published); ok {
		return best.Rule.ID
	}
	return ""
}

// Verdicts are all rules as CatalogResolution lists them, the next edge of a
// schedule, and what decided a tie.
func Verdicts(rules []*catalog.CatalogRule, shopper ShopperContext, at time.Time, published func(string) bool) ([]*RuleVerdict, time.Time, TieBreak) {
	list, until := verdicts(rules, shopper, at, published)
	return list, until, tieBreak(list)
}

// Better tells whether a verdict comes before another one.
func Better(v, w *RuleVerdict) bool {
	order, _ := v.better(w)
	return order < 0
}
