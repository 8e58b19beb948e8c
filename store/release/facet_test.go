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

func TestFacets(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		v := storetest.View(t, storetest.OpenPublished(t, backend), release.ShopperContext{})
		for _, c := range []struct {
			attribute, node string
			filter          string // a term as filterCompares writes it
			first           int
			selected, want  string
		}{
			{"tags", "", "", 20, "", "paint:3 heavy:1 iron:1 light:2 wood:1"},
			{"tags", "", "", 2, "", "paint:3 light:2"},
			{"tags", "", "", 2, "wood light", "paint:3 light:2 wood:1"},
			{"tags", "", "", 1, "nothing", "paint:3 nothing:0"},
			{"tags", "tools", "", 20, "", "paint:2 heavy:1 iron:1 light:1"},
			{"tags", "workshop", "", 20, "", "paint:3 heavy:1 iron:1 light:2 wood:1"},
			{"tags", "empty", "", 20, "", ""},
			{"tags", "", "product_types eq standard", 20, "", "paint:2 heavy:1 iron:1 light:1"},
			{"tags", "", "sku in ANVIL|FRAME", 20, "", "heavy:1 iron:1"},
			{"tags", "", "tags eq paint", 20, "", "paint:3 light:1 wood:1"},
			{"product_types", "", "", 20, "", "standard:3 bundle:1 consumable:1 parent:1"},
			{"product_types", "tools", "tags in paint|light", 20, "bundle", "standard:2 consumable:1 bundle:0"},
		} {
			t.Run(fmt.Sprint(c.attribute, " of ", c.node, " ", c.filter, " ", c.first, " ", c.selected), func(t *testing.T) {
				query := release.FacetQuery{Attribute: c.attribute, First: c.first, Selected: strings.Fields(c.selected), List: release.ProductQuery{NodeID: c.node}}
				if c.filter != "" {
					parts := strings.SplitN(c.filter, " ", 3)
					term, err := release.NewTerm(parts[0], parts[1], strings.Split(parts[2], "|"))
					require.NoError(t, err)
					query.List.Filter.Terms = []store.Term{term}
				}
				values, err := v.Facet(t.Context(), query)
				require.NoError(t, err)
				var got []string
				for _, value := range values {
					got = append(got, fmt.Sprintf("%s:%d", value.Value, value.Count))
				}
				want := strings.Fields(c.want)
				require.ElementsMatch(t, want, got)
				for i := range values[min(1, len(values)):] {
					require.GreaterOrEqual(t, values[i].Count, values[i+1].Count)
					if values[i].Count == values[i+1].Count {
						require.Less(t, values[i].Value, values[i+1].Value)
					}
				}
			})
		}
		t.Run("unknown node", func(t *testing.T) {
			_, err := v.Facet(t.Context(), release.FacetQuery{Attribute: "tags", First: 1, List: release.ProductQuery{NodeID: "nowhere"}})
			storetest.RequireError(t, err, store.NotFound, "", "nowhere")
		})
		for _, first := range []int{0, 101} {
			t.Run(fmt.Sprint("first ", first), func(t *testing.T) {
				_, err := v.Facet(t.Context(), release.FacetQuery{Attribute: "tags", First: first})
				storetest.RequireError(t, err, store.Unprocessable, "first", "between 1 and 100")
			})
		}
	})
}
