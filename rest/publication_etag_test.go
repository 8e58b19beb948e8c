package rest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestETagsOutliveAPublication: a page that a publication does not change keeps its ETag on every
// server, and one that it changes does not.
func TestETagsOutliveAPublication(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		clock := testkit.NewClock(noon)
		writer := openShop(t, e, shopFile(), withClock(clock))
		other := serveStore(t, e.Open(t, withClock(clock)))
		same := []string{"/catalog/products/anvil?include=" + allIncludes, "/catalog/nodes", "/catalog/nodes/tools", "/catalog/hierarchies",
			productsOf("paints") + "?include=" + allIncludes, "/graphql?query=%7Bproduct(by:%7Bid:%22anvil%22%7D)%7Bname%20publishedAt%20mainImage%7BfileName%7D%20breadcrumbs%7BcatalogNode%7Bname%7D%7D%7D%7D"}
		changed := []string{"/catalog/products/brush", productsOf("tools"), "/catalog/products"}
		tags := map[string]string{}
		for _, path := range append(same, changed...) {
			response := writer.send(t, http.MethodGet, path, "")
			require.Equal(t, http.StatusOK, response.Code, "%s", response.Body)
			tags[path] = response.Header().Get("Etag")
			require.NotEmpty(t, tags[path], path)
		}
		for _, text := range []string{`"For oil."`, `"For paint and oil."`} {
			clock.Advance(time.Hour)
			storetest.Import(t, writer.store, storetest.ChangedShopLine("product", "brush", `"For paint."`, text)+"\n")
			_, err := writer.store.Publisher.Publish(t.Context(), storetest.Actor, "main", nil)
			require.NoError(t, err)
			for _, server := range []*testServer{writer, other} {
				testkit.Eventually(t, true, func() bool {
					return strings.Contains(server.send(t, http.MethodGet, "/catalog/products/brush", "").Body.String(), text)
				})
				for _, path := range same {
					require.Equal(t, http.StatusNotModified, server.send(t, http.MethodGet, path, "", "If-None-Match", tags[path]).Code, path)
				}
				for _, path := range changed {
					require.Equal(t, http.StatusOK, server.send(t, http.MethodGet, path, "", "If-None-Match", tags[path]).Code, path)
				}
			}
		}
	})
}
