package graph_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/generated"
	"portico/graph/graphtest"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// filterSamples has a value for every member of every list filter. Each keeps at least one row of
// the test shop.
var filterSamples = map[string]string{
	"ProductFilter.search": `"anvil"`, "ProductFilter.ids": `["anvil", "glue"]`,
	"ProductFilter.name": `{eq: "Anvil"}`, "ProductFilter.sku": `{in: ["ANVIL"]}`, "ProductFilter.slug": `{eq: "anvil"}`,
	"ProductFilter.manufacturerPartNum": `{eq: "MPN-1"}`, "ProductFilter.upcEan": `{eq: "4006381333931"}`,
	"ProductFilter.productTypes": `{eq: "standard"}`, "ProductFilter.tags": `{in: ["iron", "heavy"]}`,
	"ProductFilter.price": `{ge: "500"}`, "ProductFilter.option": `[{name: "Wood", in: ["Oak"]}]`,
	"ProductFilter.attribute": `[{key: "brand", in: ["Acme"]}, {key: "weight", ge: "0.5", le: "1"}]`, "ProductFilter.catalogNodeIds": `["workshop"]`,
	"ProductFilter.inStock": "true", "ProductFilter.onSale": "false", "ProductFilter.or": `[{sku: {eq: "ANVIL"}}, {onSale: true}]`, "ProductFilter.not": `{sku: {eq: "ANVIL"}}`,
	"ProductFilter.bounds": `{updatedAt: {gt: "2020-01-01"}}`, "ProductFilter.and": `[{sku: {eq: "ANVIL"}}, {slug: {eq: "anvil"}}]`,
	"CatalogNodeFilter.ids": `["tools", "sale"]`, "CatalogNodeFilter.parentId": `"workshop"`, "CatalogNodeFilter.name": `{eq: "Tools"}`,
	"CatalogNodeFilter.slug": `{eq: "tools"}`, "hierarchies CatalogNodeFilter.ids": `["workshop", "seasons"]`,
	"hierarchies CatalogNodeFilter.name": `{eq: "Workshop"}`, "hierarchies CatalogNodeFilter.slug": `{eq: "workshop"}`, "CatalogNodeFilter.bounds": `{id: {gt: "a"}}`,
	"PromotionFilter.ids": `["ten-off"]`, "PromotionFilter.name": `{eq: "Ten off"}`, "PromotionFilter.nameLike": `"Ten*"`,
	"PromotionFilter.promotionType": `[FIXED_DISCOUNT]`, "PromotionFilter.state": `[SCHEDULED, ACTIVE, EXPIRED, DISABLED]`,
	"PromotionFilter.enabled": `true`, "PromotionFilter.automatic": `false`, "PromotionFilter.search": `"off"`, "PromotionFilter.bounds": `{id: {gt: "a"}}`,
	"PromotionCodeFilter.code":       `{in: ["TEN-OFF", "ten-off"]}`,
	"PromotionCodeFilter.startsWith": `"t"`, "PromotionCodeFilter.state": `[AVAILABLE]`, "PromotionCodeFilter.createdAt": `{ge: "2020-01-01"}`,
	"AuditEventFilter.actor": `"test"`, "AuditEventFilter.kind": `PRODUCT`, "AuditEventFilter.resourceId": `"anvil"`, "AuditEventFilter.action": `CREATED`,
	"AuditEventFilter.createdAt": `{ge: "2020-01-01T00:00:00.000Z", lt: "2120-01-01T00:00:00.000Z"}`,
	"AuthoredProductFilter.ids":  `["anvil", "brush"]`, "AuthoredProductFilter.sku": `{eq: "ANVIL"}`, "AuthoredProductFilter.parentId": `"easel"`, "AuthoredProductFilter.status": `LIVE`, "AuthoredProductFilter.search": `"b sh"`, "AuthoredProductFilter.updatedAt": `{gt: "2000-01-01T00:00:00.000Z"}`,
	"AuthoredCatalogNodeFilter.hierarchyId": `"workshop"`, "AuthoredCatalogNodeFilter.parentId": `"workshop"`, "AuthoredCatalogNodeFilter.slug": `{in: ["tools", "paints"]}`,
	"AuthoredCatalogNodeFilter.search": `"OO"`, "AuthoredCatalogNodeFilter.updatedAt": `{gt: "2000-01-01T00:00:00.000Z"}`,
	"AuthoredRedirectFilter.from": `{in: ["/help/shipping/", "old-tools"]}`, "AuthoredRedirectFilter.to": `{eq: "https://help.example/shipping?lang=en"}`,
	"AuthoredPriceFilter.pricebookId": `"standard"`, "AuthoredPriceFilter.skus": `["ANVIL", "BRUSH"]`,
	"ListBounds.id": `{gt: "0"}`, "ListBounds.createdAt": `{gt: "2020-01-01"}`, "ListBounds.updatedAt": `{gt: "2020-01-01"}`,
}

// A cursor is valid for later requests of the same list, at any time.
func TestEveryListPagesWithEveryFilter(t *testing.T) {
	t.Parallel()
	arguments := map[string]string{"promotionCodeUsages": `promotionId: "ten-off",`, "stockTransactions": `productId: "anvil",`}
	without := map[string]bool{"promotionCodeUsages ListBounds.updatedAt": true, "stockTransactions ListBounds.updatedAt": true, "hierarchies CatalogNodeFilter.parentId": true} // which those have none of
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		clock := testkit.NewClock(graphtest.Noon)
		s := graphtest.Open(t, e, graphtest.Shop(), storetest.WithClock(clock))
		schema, used := generated.NewExecutableSchema(generated.Config{}).Schema(), map[string]bool{}
		for _, field := range append(slices.Clone(schema.Query.Fields), schema.Types["Promotion"].Fields.ForName("codes")) {
			filter := field.Arguments.ForName("filter")
			if filter == nil || !strings.HasSuffix(field.Type.Name(), "Connection") {
				continue
			}
			for _, member := range schema.Types[filter.Type.Name()].Fields {
				name := filter.Type.Name() + "." + member.Name
				used[name] = true
				if without[field.Name+" "+name] {
					continue
				}
				if own := field.Name + " " + name; filterSamples[own] != "" {
					name, used[own] = own, true
				}
				t.Run(field.Name+" "+name, func(t *testing.T) {
					require.Contains(t, filterSamples, name, "give it a value that keeps a row")
					pageFiltered(t, s, clock, field, arguments[field.Name]+fmt.Sprintf(` filter: {%s: %s}`, member.Name, filterSamples[name]))
				})
			}
		}
		require.ElementsMatch(t, slices.Collect(maps.Keys(filterSamples)), slices.Collect(maps.Keys(used)))
	})
}

// pageFiltered reads a list row by row, forwards and backwards, while the clock advances.
func pageFiltered(t *testing.T, s *graphtest.Service, clock *testkit.Clock, field *ast.FieldDefinition, arguments string) {
	t.Helper()
	type list struct {
		TotalCount int
		Edges      []struct{ Cursor string }
	}
	type page struct {
		List      list
		Promotion struct{ List list }
	}
	read := func(bounds string) (p page) {
		clock.Advance(time.Millisecond)
		text := fmt.Sprintf(`list: %s(%s, %s) { totalCount edges { cursor } }`, field.Name, arguments, bounds)
		if field.Name != "codes" {
			s.Post(t, `{ `+text+` }`, nil).Read(t, &p)
			return p
		}
		s.Post(t, `{ promotion(id: "ten-off") { `+text+` } }`, nil).Read(t, &p)
		return page{List: p.Promotion.List}
	}
	first := read(`first: 1`)
	require.Len(t, first.List.Edges, 1, "the filter keeps no row")
	last := first.List.Edges[0].Cursor
	for rows := 1; ; rows++ {
		next := read(fmt.Sprintf(`first: 1, after: %q`, last))
		if len(next.List.Edges) == 0 {
			require.Equal(t, first.List.TotalCount, rows)
			break
		}
		last = next.List.Edges[0].Cursor
	}
	for rows := 1; ; rows++ {
		previous := read(fmt.Sprintf(`last: 1, before: %q`, last))
		if len(previous.List.Edges) == 0 {
			require.Equal(t, first.List.TotalCount, rows)
			return
		}
		last = previous.List.Edges[0].Cursor
	}
}
