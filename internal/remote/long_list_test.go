package remote

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestProductsBeyondTheLargestOffset reads a shop whose list of products ends at the largest offset, and cannot be sorted: the
// others are found in their node, with their children.
func TestProductsBeyondTheLargestOffset(t *testing.T) {
	t.Parallel()
	const listed = maxOffset + pageLength
	product := func(i int) map[string]any {
		return map[string]any{"id": fmt.Sprintf("p%06d", i), "attributes": map[string]any{"name": "P", "sku": fmt.Sprint("S", i), "base_product": i == listed}}
	}
	page := func(w http.ResponseWriter, query url.Values, from, to int) {
		offset, _ := offsetOf(query.Encode())
		data := []any{}
		for i := from + offset; i < min(to, from+offset+pageLength); i++ {
			data = append(data, product(i))
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data, "meta": map[string]any{"results": map[string]any{"total": to - from}}})
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query, _ := url.ParseQuery(r.URL.RawQuery)
		switch path := r.URL.Path; {
		case path == "/oauth/access_token":
			fmt.Fprint(w, `{"access_token":"x"}`)
		case path == "/catalog":
			fmt.Fprint(w, `{"data":{"id":"1","attributes":{"catalog_id":"c","name":"C"}}}`)
		case path == "/catalog/hierarchies":
			fmt.Fprint(w, `{"data":[{"id":"h","attributes":{"name":"H"}}]}`)
		case path == "/catalog/hierarchies/h/nodes":
			fmt.Fprint(w, `{"data":[{"id":"n","attributes":{"name":"N"}}]}`)
		case path == "/catalog/products" && query.Has("sort"):
			refuse(w, http.StatusBadRequest, "sort is unknown")
		case path == "/catalog/products":
			page(w, query, 0, listed+160)
		case path == "/catalog/nodes/n/relationships/products":
			page(w, query, listed-50, listed+110)
		case path == fmt.Sprintf("/catalog/products/p%06d/relationships/children", listed):
			page(w, query, listed+110, listed+140)
		default:
			refuse(w, http.StatusForbidden, "not here")
		}
	}))
	t.Cleanup(s.Close)
	folder, err := Fetch(t.Context(), Config{URL: s.URL, Credentials: Credentials{ID: testID}, Rate: 1e6, Folder: t.TempDir(), firstWait: time.Millisecond})
	require.NoError(t, err)
	require.Equal(t, listed+140, strings.Count(lines(t, folder), `"type":"product","id":"p`)-160, "160 of them are attached")
	require.Contains(t, folder.Gaps(), Gap{"products that the server does not list, since its lists end after 10,000 rows", new(20)})
}
