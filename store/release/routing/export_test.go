package routing

import (
	"encoding/json"
	"time"

	"portico/store"
	"portico/store/authoring"
	"portico/store/catalog"
	"portico/store/release/segment"
)

// NumberedTable is a table of one catalog, "main", that was read after another one; nil for none. Without a
// release the catalog is not published.
func NumberedTable(before *Table, rules []*catalog.Rule, release *segment.Release, change func(*catalog.Source)) *Table {
	source := &catalog.Source{ID: "main"}
	if change != nil {
		change(source)
	}
	releases := map[string]*segment.Release{}
	if release != nil {
		releases[source.ID] = release
	}
	table := newTable([]catalogEntry{{source: source, release: release}}, rules, releases)
	table.numberRoutes(before)
	return table
}

// RuleOf is the rule of a file's line, as it is after so many others.
func RuleOf(line string, sequence int64) (*catalog.Rule, error) {
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
func BestRule(rules []*catalog.Rule, shopper ShopperContext, at time.Time, published func(string) bool) string {
	if best, ok := bestRule(rules, shopper, at, published); ok {
		return best.Rule.ID
	}
	return ""
}

// Verdicts are all rules as CatalogResolution lists them, the next edge of a
// schedule, and what decided a tie.
func Verdicts(rules []*catalog.Rule, shopper ShopperContext, at time.Time, published func(string) bool) ([]*RuleVerdict, time.Time, TieBreak) {
	list, until := verdicts(rules, shopper, at, published)
	return list, until, tieBreak(list)
}

// Better tells whether a verdict comes before another one.
func Better(v, w *RuleVerdict) bool {
	order, _ := v.better(w)
	return order < 0
}
