package release_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store"
	"portico/store/index"
	"portico/store/release"
	"portico/store/storetest"
)

func TestFilters(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("terms", filterTerms)
		s := storetest.OpenPublished(t, backend)
		v := storetest.View(t, s, release.ShopperContext{})
		t.Run("comparisons", filterCompares(v))
		t.Run("the limit of ten conditions", filterLimit(v))
		t.Run("limits of filters within a filter", filterDepth(v))
	})
}

func filterTerms(t *testing.T) {
	many := make([]string, store.MaxFilterValues+1)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for _, c := range []struct {
		name, attribute, operator string
		values                    []string
		words                     []string // of the error; nil if the term is valid
	}{
		{"eq", "sku", "eq", []string{"a"}, nil},
		{"eq an empty text", "sku", "eq", []string{""}, nil},
		{"in", "tags", "in", []string{"a", "b", "a"}, nil},
		{"in one", "product_types", "in", []string{"a"}, nil},
		{"in ids", "id", "in", []string{"a"}, nil},
		{"in an id that cannot be", "id", "in", []string{"a b"}, nil},
		{"in 1000", "sku", "in", many[1:], nil},
		{"in 1001", "sku", "in", many, []string{"1001 values", "at most 1000"}},
		{"in 1001 ids", "id", "in", many, nil},
		{"in no ids", "id", "in", nil, nil},
		{"in none", "sku", "in", nil, nil},
		{"eq none", "sku", "eq", nil, []string{"0 values"}},
		{"eq two", "tags", "eq", []string{"a", "b"}, []string{"2 values", "in(tags,…)"}},
		{"eq id", "id", "eq", []string{"a"}, []string{"in(id,…)"}},
		{"unknown attribute", "colour", "eq", []string{"a"}, []string{`"colour"`, "manufacturer_part_num"}},
		{"attribute in upper case", "SKU", "eq", []string{"a"}, []string{`"SKU"`}},
		{"description", "description", "eq", []string{"a"}, []string{`"description"`}},
		{"unknown operator", "sku", "like", []string{"a"}, []string{"like"}},
		{"operator of ranges", "sku", "gt", []string{"a"}, []string{"gt"}},
		{"no operator", "sku", "", []string{"a"}, []string{"operator"}},
		{"NUL", "name", "eq", []string{"a\x00"}, []string{"name"}},
		{"a stray byte", "name", "in", []string{"a", "\xff"}, []string{"name"}},
		{"an id with NUL", "id", "in", []string{"a\x00"}, []string{"id"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := release.NewTerm(c.attribute, c.operator, c.values)
			if c.words == nil {
				require.NoError(t, err)
				return
			}
			storetest.RequireError(t, err, store.Invalid, "filter", c.words...)
		})
	}
	t.Run("the caller's values do not change", func(t *testing.T) {
		values := []string{strings.ToUpper(storetest.LampID)}
		_, err := release.NewTerm("id", "in", values)
		require.NoError(t, err)
		require.Equal(t, strings.ToUpper(storetest.LampID), values[0])
	})
}

func filterCompares(v *release.View) func(*testing.T) {
	return func(t *testing.T) {
		for _, c := range []struct {
			filter string // attribute operator values, with spaces
			node   string
			want   string
		}{
			{"sku eq ANVIL", "", "anvil"},
			{"sku eq anvil", "", ""},
			{"sku in ANVIL|GLUE|FRAME", "", "glue anvil"}, // the frame is not listed
			{"name eq Anvil", "", "anvil"},
			{"name eq Anvi", "", ""},
			{"slug in kit|easel|easel-oak", "", "kit easel"},
			{"manufacturer_part_num eq MPN-1", "", "anvil"},
			{"upc_ean eq 4006381333931", "", "anvil " + storetest.LampID},
			{"upc_ean eq ", "", ""},
			{"tags eq paint", "", "brush chalk easel"},
			{"tags in paint|heavy", "", "anvil brush chalk easel"},
			{"tags eq wood", "", "easel"},
			{"tags eq paint", "tools", "chalk brush"}, // curated first
			{"product_types eq consumable", "", "chalk"},
			{"product_types in consumable|bundle|child", "", "kit chalk"},
			{"sku eq SECRET-DRILL", "", ""},
			{"tags eq heavy", "tools", "anvil"},
			{"id in jar|chalk|kit|drill-draft|frame|nothing|jar", "", "kit chalk jar"},
			{"id in jar|chalk|kit|anvil", "tools", "kit anvil chalk jar"}, // last updated first, not curated
			{"id in " + strings.ToUpper(storetest.LampID), "", storetest.LampID},
			{"id in anvil", "paints", ""},
		} {
			t.Run(c.filter+" in "+c.node, func(t *testing.T) {
				parts := strings.SplitN(c.filter, " ", 3)
				term, err := release.NewTerm(parts[0], parts[1], strings.Split(parts[2], "|"))
				require.NoError(t, err)
				require.Equal(t, strings.Fields(c.want), storetest.ProductIDs(t, v, release.ProductQuery{NodeID: c.node, Filter: release.ProductFilter{Terms: []store.Term{term}}}))
			})
		}
	}
}

func filterLimit(v *release.View) func(*testing.T) {
	return func(t *testing.T) {
		term, err := release.NewTerm("tags", "in", []string{"paint", "heavy"})
		require.NoError(t, err)
		recent, err := store.NewRange("updated_at", "gt", "2001-01-01")
		require.NoError(t, err)
		for terms := range store.MaxFilterTerms + 2 {
			for _, ranges := range []int{0, 1, store.MaxFilterTerms - terms, store.MaxFilterTerms - terms + 1} {
				if ranges < 0 || terms+ranges == 0 {
					continue
				}
				query := release.ProductQuery{}
				for range terms {
					query.Filter.Terms = append(query.Filter.Terms, term)
				}
				for range ranges {
					query.Filter.Ranges = append(query.Filter.Ranges, recent)
				}
				slice, err := v.Products(t.Context(), query)
				if terms+ranges > store.MaxFilterTerms {
					storetest.RequireError(t, err, store.Invalid, "filter", "at most 10", fmt.Sprint(terms+ranges))
					continue
				}
				require.NoError(t, err)
				want := 4
				if terms == 0 {
					want = 8
				}
				require.Len(t, slice.Items, want)
			}
		}
	}
}

// filterDepth tests the bounds of filters within a filter.
func filterDepth(v *release.View) func(*testing.T) {
	return func(t *testing.T) {
		within := func(n int, filters ...release.ProductFilter) release.ProductFilter {
			for range n {
				not, err := release.NewNot(release.ProductFilter{AnyOf: []release.AnyOf{{Filters: filters}}})
				require.NoError(t, err)
				filters = []release.ProductFilter{{AnyOf: []release.AnyOf{not}}}
			}
			return filters[0]
		}
		none, ids := release.ProductFilter{}, func(filter release.ProductFilter) error {
			_, err := v.Products(t.Context(), release.ProductQuery{Filter: filter})
			return err
		}
		require.NoError(t, ids(release.ProductFilter{AnyOf: within(1, none).AnyOf}))
		require.NoError(t, ids(release.ProductFilter{AnyOf: []release.AnyOf{{Filters: []release.ProductFilter{within(1, none)}}}}), "three levels")
		storetest.RequireError(t, ids(within(2, none)), store.Invalid, "filter", "at most 3", "got 4")
		storetest.RequireError(t, ids(within(200, none)), store.Invalid, "filter", "at most 3", "got 400")
		storetest.RequireError(t, ids(within(1, slices.Repeat([]release.ProductFilter{none}, 11)...)), store.Invalid, "filter", "at most 10", "got 11")
		ten, err := release.NewAnyOf(slices.Repeat([]release.ProductFilter{{Terms: []store.Term{release.NewSaleTerm(true)}}}, 10))
		require.NoError(t, err)
		require.NoError(t, ids(release.ProductFilter{AnyOf: []release.AnyOf{ten}}))
		storetest.RequireError(t, ids(release.ProductFilter{AnyOf: []release.AnyOf{ten}, Terms: []store.Term{release.NewSaleTerm(true)}}), store.Invalid, "filter", "at most 10", "got 11")
		for _, n := range []int{0, 11} {
			_, err := release.NewAnyOf(make([]release.ProductFilter, n))
			storetest.RequireError(t, err, store.Invalid, "filter.or", fmt.Sprint(n, " filters"), "1 to 10")
		}
		search, err := release.NewSearch("oak")
		require.NoError(t, err)
		searching := release.ProductFilter{Searches: []index.Search{search}}
		_, err = release.NewAnyOf([]release.ProductFilter{none, searching})
		storetest.RequireError(t, err, store.Invalid, "filter.or.1.search", "beside")
		_, err = release.NewNot(searching)
		storetest.RequireError(t, err, store.Invalid, "filter.not.search", "beside")
		storetest.RequireError(t, ids(release.ProductFilter{AnyOf: []release.AnyOf{{Filters: []release.ProductFilter{{Ranges: []store.Range{{Attribute: store.SortID, Operator: "gt", ID: "\x00"}}}}}}}), store.Invalid, "filter", "NUL")
		unknown, err := release.NewAttributeCondition("colour", []string{"red"}, nil, nil)
		require.NoError(t, err)
		storetest.RequireError(t, ids(release.ProductFilter{AnyOf: []release.AnyOf{{Filters: []release.ProductFilter{{Attributes: []release.AttributeCondition{unknown}}}}}}), store.Invalid, "filter.attribute", "colour")
	}
}

// TestFilterKeysNameOneFilter requires that two filters have one key only if they are the same.
func TestFilterKeysNameOneFilter(t *testing.T) {
	t.Parallel()
	var draw func(t *rapid.T, depth int) release.ProductFilter
	draw = func(t *rapid.T, depth int) (f release.ProductFilter) {
		for range rapid.IntRange(0, 2).Draw(t, "terms") {
			f.Terms = append(f.Terms, store.Term{Attribute: rapid.SampledFrom([]string{"tags", "on_sale", "node", "true", ""}).Draw(t, "attribute"), Operator: "in",
				Values: rapid.SliceOfN(rapid.SampledFrom([]string{"", "true", "false", "a", "a\x00b", "\x02", "in"}), 1, 2).Draw(t, "values")})
		}
		f.InStock = rapid.SampledFrom([]*bool{nil, new(true), new(false)}).Draw(t, "in stock")
		for range rapid.IntRange(0, min(depth, 2)).Draw(t, "any of") {
			a := release.AnyOf{Negated: rapid.Bool().Draw(t, "negated")}
			for range rapid.IntRange(1, 2).Draw(t, "filters") {
				a.Filters = append(a.Filters, draw(t, depth-1))
			}
			f.AnyOf = append(f.AnyOf, a)
		}
		return f
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, 2), draw(t, 2)
		require.Equal(t, assert.ObjectsAreEqual(a, b), release.FilterKey(a) == release.FilterKey(b), "%+v and %+v", a, b)
	})
}
