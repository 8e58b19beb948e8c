package routing_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/catalog"
	"portico/store/release/routing"
	"portico/store/release/segment"
)

// TestRoutes requires that a table has the number of the one before as long as nothing changes but the releases, and
// another number after any other change.
func TestRoutes(t *testing.T) {
	t.Parallel()
	ruleLines := []string{"default", "mobile channels=[\"mobile\"] schedules=[{\"valid_from\":\"2024-01-01T00:00:00Z\",\"valid_to\":\"2024-02-01T00:00:00Z\"}]"}
	served := func(change func(*segment.Release)) *segment.Release {
		r := &segment.Release{ID: 7, CatalogID: "main", Locale: "en", Locales: []string{"de", "fr"}}
		if change != nil {
			change(r)
		}
		return r
	}
	first := routing.NumberedTable(nil, rules(t, ruleLines...), served(nil), nil)
	after := func(release *segment.Release, lines ...string) *routing.Table {
		return routing.NumberedTable(first, rules(t, lines...), release, nil)
	}
	require.NotEqual(t, first.Routes(), routing.NumberedTable(nil, rules(t, ruleLines...), served(nil), nil).Routes())
	for name, table := range map[string]*routing.Table{
		"nothing":           after(served(nil), ruleLines...),
		"the release":       after(served(func(r *segment.Release) { r.ID, r.BaseID, r.Products = 8, 7, 100 }), ruleLines...),
		"when it was made":  after(served(func(r *segment.Release) { r.ID, r.PublishedAt = 9, noonOfMay }), ruleLines...),
		"the preview state": after(served(func(r *segment.Release) { r.Preview = true }), ruleLines...),
	} {
		require.Equal(t, first.Routes(), table.Routes(), name)
		require.Equal(t, first.Routes(), routing.NumberedTable(table, rules(t, ruleLines...), served(nil), nil).Routes(), name)
	}
	for name, table := range map[string]*routing.Table{
		"a rule less":        after(served(nil), ruleLines[0]),
		"a rule more":        after(served(nil), ruleLines[0], ruleLines[1], "more tags=[\"a\"]"),
		"the order of rules": after(served(nil), ruleLines[1], ruleLines[0]),
		"a schedule": after(served(nil), ruleLines[0],
			"mobile channels=[\"mobile\"] schedules=[{\"valid_from\":\"2024-01-01T00:00:00Z\",\"valid_to\":\"2024-02-02T00:00:00Z\"}]"),
		"a channel": after(served(nil), ruleLines[0],
			"mobile channels=[\"web\"] schedules=[{\"valid_from\":\"2024-01-01T00:00:00Z\",\"valid_to\":\"2024-02-01T00:00:00Z\"}]"),
		"nothing is published":     after(nil, ruleLines...),
		"the currency":             routing.NumberedTable(first, rules(t, ruleLines...), served(nil), func(c *catalog.Source) { c.Attributes.Currency = "EUR" }),
		"the catalog":              routing.NumberedTable(first, rules(t, ruleLines...), served(nil), func(c *catalog.Source) { c.ID = "other" }),
		"the language":             after(served(func(r *segment.Release) { r.Locale = "de" }), ruleLines...),
		"a language less":          after(served(func(r *segment.Release) { r.Locales = []string{"de"} }), ruleLines...),
		"the order of languages":   after(served(func(r *segment.Release) { r.Locales = []string{"fr", "de"} }), ruleLines...),
		"no table was read so far": routing.NumberedTable(nil, rules(t, ruleLines...), served(nil), nil),
	} {
		require.NotEqual(t, first.Routes(), table.Routes(), name)
	}
}
