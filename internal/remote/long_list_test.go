package remote

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
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

// TestStockBeyondTheLargestOffset reads the stock of a server that has only what the interface has: it neither sorts nor
// filters the list, which ends at the largest offset. The records of the catalog's products are found by id.
func TestStockBeyondTheLargestOffset(t *testing.T) {
	t.Parallel()
	const rows, listed, products = 10450, maxOffset + pageLength, 10400
	for _, test := range []struct {
		name       string
		skipped    int  // rows that the list skips, as one does whose rows move between two pages
		byID       int  // status of requests by id
		total      bool // whether the list says how many rows there are
		want, left int
		refused    string
	}{
		{"by id", 0, 200, true, products, rows - products, ""},
		{"rows that the list skips", 10, 200, true, products, rows - products, ""},
		{"without a total", 0, 200, false, products, 0, ""},
		{"no route", 0, 404, true, listed, rows - listed, "404 Not Found"},
		{"another body", 0, 422, true, listed, rows - listed, "422 Unprocessable Entity"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			record := func(i int) map[string]any {
				return map[string]any{"id": fmt.Sprintf("p%06d", i), "type": "stock", "available": i}
			}
			var asked atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				query, _ := url.ParseQuery(r.URL.RawQuery)
				body, data := map[string]any{}, []any{}
				switch offset, _ := offsetOf(r.URL.RawQuery); {
				case r.URL.Path == "/oauth/access_token":
					fmt.Fprint(w, `{"access_token":"x"}`)
					return
				case r.URL.Path == "/v2/inventories/multiple" && test.byID != 200:
					refuse(w, test.byID, "not here")
					return
				case r.URL.Path == "/v2/inventories/multiple":
					var wanted struct{ Data []struct{ ID string } }
					if json.NewDecoder(r.Body).Decode(&wanted) != nil || len(wanted.Data) > pageLength {
						refuse(w, http.StatusBadRequest, "at most a page")
						return
					}
					asked.Add(1)
					for _, key := range wanted.Data {
						var i int
						if _, err := fmt.Sscanf(key.ID, "p%06d", &i); err == nil && i < rows {
							data = append(data, record(i))
						}
					}
				case query.Has("sort"), query.Has("filter"), offset > maxOffset:
					refuse(w, http.StatusBadRequest, "unknown parameter")
					return
				default:
					for i := max(offset, test.skipped); i < min(rows, offset+pageLength); i++ {
						data = append(data, record(i))
					}
					if test.total {
						body["meta"] = map[string]any{"results": map[string]any{"total": rows}}
					}
					body["links"] = map[string]any{"next": fmt.Sprintf("?page[limit]=100&page[offset]=%d", offset+pageLength)}
				}
				body["data"] = data
				_ = json.NewEncoder(w).Encode(body)
			}))
			t.Cleanup(s.Close)
			c := Config{URL: s.URL, Credentials: Credentials{ID: testID}, Rate: 1e6, Folder: t.TempDir(), firstWait: time.Millisecond}
			sender, err := newClient(c)
			require.NoError(t, err)
			folder, err := openFolder(c.Folder, c)
			require.NoError(t, err)
			f := &fetcher{apiClient: sender, folder: folder, say: func(string) {}, products: map[string]bool{}, files: map[string]bool{}}
			for i := range products {
				f.products[fmt.Sprintf("p%06d", i)] = true
			}
			f.products["p999999"] = true // has no stock
			require.NoError(t, f.fetchStock(t.Context()))
			found, err := folder.ids("stock")
			require.NoError(t, err)
			require.Equal(t, []any{test.want, test.left, test.refused}, []any{len(found), folder.state.Counts[unreadStock], folder.state.Refused["stock by id"]})

			before := asked.Load()
			require.NoError(t, f.fetchStock(t.Context()), "a run that was interrupted after this step")
			require.Equal(t, before, asked.Load())
			folder.Close()
		})
	}
}
