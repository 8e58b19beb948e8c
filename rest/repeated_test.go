package rest_test

import (
	"encoding/json"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestRepeatedParameters requires that all values of a repeated parameter count, and that every
// link has them.
func TestRepeatedParameters(t *testing.T) {
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		filters := []string{`in(tags,"heavy","light","paint")`, `in(sku,"ANVIL","BRUSH","CHALK")`}
		includes := []string{"main_image", "", "files,component_products"}
		query := url.Values{"filter": filters, "include": includes, "page[limit]": {"1"}, "page[offset]": {"1"}}
		for range 2 { // the second time by a link
			w := s.send(t, "GET", productsOf("tools")+"?"+query.Encode(), "")
			require.Equal(t, 200, w.Code, "%s", w.Body)
			var body struct {
				Meta     struct{ Results struct{ Total int } }
				Links    map[string]*string
				Included map[string][]any
			}
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body))
			require.Equal(t, 3, body.Meta.Results.Total, "all filters apply")
			require.Len(t, body.Included, 3)
			for name, link := range body.Links {
				require.NotNil(t, link, name)
				at, err := url.Parse(*link)
				require.NoError(t, err)
				require.Equal(t, filters, at.Query()["filter"], "%s is %s", name, *link)
				require.Equal(t, []string{"main_image", "files,component_products"}, at.Query()["include"], "%s is %s", name, *link)
			}
			at, err := url.Parse(*body.Links["self"])
			require.NoError(t, err)
			query = at.Query()
		}
		runScenarios(t, s, []scenario{
			{name: "one include of several is unknown", path: productsOf("tools") + "?include=files&include=prices", status: 400,
				holds: []string{"include"}},
			{name: "one filter of several is for another list", path: productsOf("tools") + "?filter=eq(sku,A)&filter=like(sku,B)", status: 400},
			{name: "an invalid dry_run", method: "PUT", path: "/v2/promotions/ten-off?dry_run=1", body: `{"data":{}}`, status: 400,
				holds: []string{"dry_run must be true or false"}},
			{name: "a repeated dry_run", method: "PUT", path: "/v2/promotions/ten-off?dry_run=true&dry_run=false", body: `{"data":{}}`, status: 400,
				holds: []string{"dry_run occurs 2 times"}},
		})
	})
}
