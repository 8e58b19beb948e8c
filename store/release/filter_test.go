package release_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
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
		{"in 1001", "sku", "in", many, []string{"1001 values", "1 to 1000"}},
		{"in 1001 ids", "id", "in", many, nil},
		{"in no ids", "id", "in", nil, []string{"at least one"}},
		{"in none", "sku", "in", nil, []string{"0 values"}},
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
