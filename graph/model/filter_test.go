package model_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/graph/model"
	"portico/store"
	"portico/store/release"
)

func ptr[T any](value T) *T { return &value }

func eq(value string) *model.TextFilter { return &model.TextFilter{Eq: &value} }

func TestFilterText(t *testing.T) {
	t.Parallel()
	noon := time.Date(2024, 5, 30, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		filter *model.ProductFilter
		want   string
	}{
		{"none", nil, ""},
		{"an empty one", &model.ProductFilter{}, ""},
		{"each attribute by its name", &model.ProductFilter{Name: eq("a"), Sku: eq("b"), Slug: eq("c"), ManufacturerPartNum: eq("d"), UpcEan: eq("e"), ProductTypes: eq("f"), Tags: eq("g")},
			`eq(name,["a"]):eq(sku,["b"]):eq(slug,["c"]):eq(upc_ean,["e"]):eq(manufacturer_part_num,["d"]):eq(product_types,["f"]):eq(tags,["g"])`},
		{"ids, global and own", &model.ProductFilter{Ids: []string{"a", store.GlobalID(store.TypeProduct, "b")}}, `in(id,["a" "b"])`},
		{"several values", &model.ProductFilter{Sku: &model.TextFilter{In: []string{"a", "b"}}}, `in(sku,["a" "b"])`},
		{"and", &model.ProductFilter{Tags: eq("a"), And: []*model.ProductFilter{{Tags: eq("b")}, {And: []*model.ProductFilter{{Tags: eq("c")}}}}}, `eq(tags,["a"]):eq(tags,["b"]):eq(tags,["c"])`},
		{"bounds", &model.ProductFilter{Bounds: &model.ListBounds{ID: &model.IDBounds{Gt: ptr("a"), Le: ptr("z")}, UpdatedAt: &model.DateTimeBounds{Ge: &noon, Lt: &noon}}},
			`gt(id,a):le(id,z):ge(updated_at,1717070400000000):lt(updated_at,1717070400000000)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			filter, err := c.filter.Filter()
			require.NoError(t, err)
			require.Equal(t, c.want, filterText(filter))
		})
	}
}

// filterText writes the terms and ranges of a filter.
func filterText(f release.ProductFilter) string {
	var parts []string
	for _, term := range f.Terms {
		parts = append(parts, fmt.Sprintf("%s(%s,%q)", term.Operator, term.Attribute, term.Values))
	}
	for _, r := range f.Ranges {
		parts = append(parts, fmt.Sprintf("%s(%s,%v)", r.Operator, r.Attribute, r.Value()))
	}
	return strings.Join(parts, ":")
}

func TestContradictoryFilters(t *testing.T) {
	t.Parallel()
	many := make([]string, store.MaxFilterValues+1)
	for name, test := range map[string]struct {
		filter *model.ProductFilter
		path   string
		member string
	}{
		"in too many":       {&model.ProductFilter{Sku: &model.TextFilter{In: many}}, "filter", "sku"},
		"somewhere further": {&model.ProductFilter{And: []*model.ProductFilter{{}, {And: []*model.ProductFilter{{Sku: &model.TextFilter{In: many}}}}}}, "filter.and.1.and.0", "sku"},
		"in too many there": {&model.ProductFilter{And: []*model.ProductFilter{{Tags: &model.TextFilter{In: many}}}}, "filter.and.0", "tags"},
		"no alternative":    {&model.ProductFilter{Or: []*model.ProductFilter{}}, "filter.or", "or"},
		"within or":         {&model.ProductFilter{And: []*model.ProductFilter{{Or: []*model.ProductFilter{{}, {Tags: &model.TextFilter{In: many}}}}}}, "filter.and.0.or.1", "tags"},
		"within not":        {&model.ProductFilter{Not: &model.ProductFilter{Not: &model.ProductFilter{Tags: &model.TextFilter{In: many}}}}, "filter.not.not", "tags"},
		"a search in or":    {&model.ProductFilter{Not: &model.ProductFilter{Or: []*model.ProductFilter{{And: []*model.ProductFilter{{Search: ptr("a")}}}}}}, "filter.not.or.0.search", "search"},
		"a search in not":   {&model.ProductFilter{Or: []*model.ProductFilter{{}, {Not: &model.ProductFilter{Search: ptr("a")}}}}, "filter.or.1.not.search", "search"},
		"words there":       {&model.ProductFilter{And: []*model.ProductFilter{{}, {Search: ptr(strings.Repeat("a ", 999))}}}, "filter.and.1.search", "search"},
	} {
		_, err := test.filter.Filter()
		require.True(t, store.HasCode(err, store.Invalid), name)
		require.Equal(t, test.path, strings.Join(store.AsErrors(err)[0].Path, "."), name)
		require.Contains(t, err.Error(), test.member, name)
	}
}

// Add and Ranges are inverse: REST adds what Ranges returns.
func TestBoundsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		bounds, added := &model.ListBounds{}, []store.Range{}
		for range rapid.IntRange(0, 12).Draw(t, "ranges") {
			r := store.Range{Attribute: rapid.SampledFrom([]store.SortBy{store.SortID, store.SortCreatedAt, store.SortUpdatedAt}).Draw(t, "attribute"),
				Operator: rapid.SampledFrom([]string{"gt", "ge", "lt", "le"}).Draw(t, "operator")}
			if r.Attribute == store.SortID {
				r.ID = rapid.StringMatching(`[a-z0-9-]{1,8}`).Draw(t, "id")
			} else {
				r.Time = time.UnixMilli(rapid.Int64Range(0, 1<<41).Draw(t, "time")).UTC()
			}
			fresh := true
			for _, before := range added {
				fresh = fresh && (before.Attribute != r.Attribute || before.Operator != r.Operator)
			}
			require.Equal(t, fresh, bounds.Add(r), "%v", r)
			if fresh {
				added = append(added, r)
			}
		}
		require.ElementsMatch(t, added, bounds.Ranges())
	})
	require.Empty(t, (*model.ListBounds)(nil).Ranges())
}

func TestOrders(t *testing.T) {
	t.Parallel()
	require.Equal(t, store.Sort{}, (*model.ListOrder)(nil).Sort())
	require.Equal(t, store.Sort{By: store.SortID}, (&model.ListOrder{Field: store.SortID, Direction: model.Ascending}).Sort())
	require.Equal(t, store.Sort{By: store.SortUpdatedAt, Descending: true}, (&model.ListOrder{Field: store.SortUpdatedAt, Direction: model.Descending}).Sort())
}
