package rest_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
)

// firstCursor returns the page[after] that leads to the second row of a sorted list.
func firstCursor(t *testing.T, s *testServer, path, sort string) string {
	t.Helper()
	w := pageWalk{s: s, path: path, query: modelQuery{sort: sort}, limit: 1}
	_, after, _ := strings.Cut(w.get(t, w.at("page[offset]=0")).link("next"), "page[after]=")
	after, _, _ = strings.Cut(after, "&")
	require.NotEmpty(t, after)
	return after
}

func TestCursorsOfOtherLists(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(storetest.NewClock(noon)))
		ofTools, ofStock := "page[after]="+firstCursor(t, s, productsOf("tools"), "id"), "page[after]="+firstCursor(t, s, "/v2/inventories", "id")
		mismatch := func(name, path string) scenario {
			return scenario{name: name, path: path, status: 400, holds: []string{"page[after] belongs to another list, sort or filter"}}
		}
		runScenarios(t, s, []scenario{
			mismatch("of the same list, sorted otherwise", productsOf("tools")+"?"+ofTools+"&sort=-id"),
			mismatch("of the same list, not sorted", productsOf("tools")+"?"+ofTools),
			mismatch("of the same list, not filtered", productsOf("tools")+"?"+ofTools+"&sort=id&filter=eq(tags,paint)"),
			mismatch("of another node", productsOf("workshop")+"?"+ofTools+"&sort=id"),
			mismatch("of stock, for products", productsOf("tools")+"?"+ofStock+"&sort=id"),
			mismatch("of products, for stock", "/v2/inventories?"+ofTools+"&sort=id"),
			mismatch("of stock, sorted otherwise", "/v2/inventories?"+ofStock+"&sort=updated_at"),
			mismatch("of stock, bounded otherwise", "/v2/inventories?"+ofStock+"&sort=id&filter=gt(id,a)"),
			{name: "with an offset too", path: "/v2/inventories?" + ofStock + "&sort=id&page[offset]=1", status: 400,
				holds: []string{"page[offset] cannot be combined with a cursor"}},
			{name: "with another limit", path: "/v2/inventories?" + ofStock + "&sort=id&page[limit]=2", ids: []string{"brush", "chalk"}},
			{name: "without its position, which only page numbers use",
				path: "/v2/inventories?" + strings.TrimSuffix(ofStock, ".1") + "&sort=id", ids: stockedProducts[1:]},
		})
	})
}

// TestForgedCursors requires 400 or a page, never a server error.
func TestForgedCursors(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(storetest.NewClock(noon)))
		for _, forged := range []struct{ name, path, sort, real string }{
			{"of products", productsOf("tools"), "id", firstCursor(t, s, productsOf("tools"), "id")},
			{"of products in their own order", productsOf("tools"), "", defaultOrderCursor(t, s)},
			{"of stock", "/v2/inventories", "id", firstCursor(t, s, "/v2/inventories", "id")},
			{"of stock by time", "/v2/inventories", "updated_at", firstCursor(t, s, "/v2/inventories", "updated_at")},
		} {
			t.Run(forged.name, func(t *testing.T) {
				w := pageWalk{s: s, path: forged.path, query: modelQuery{sort: forged.sort}, limit: 1}
				require.Len(t, w.get(t, w.at("page[after]="+forged.real)).Data, 1, "the real cursor")
				for _, text := range forgeries(t, forged.real) {
					for _, parameter := range []string{"page[after]=", "page[before]="} {
						address := w.at(parameter + text)
						require.NotPanics(t, func() {
							resp := sendRequest(s.as(admin()), http.MethodGet, address)
							require.Less(t, resp.Code, http.StatusInternalServerError, "%s returns %.300s", address, resp.Body)
							requireJSON(t, address, resp)
						}, "%s", address)
					}
				}
			})
		}
	})
}

// defaultOrderCursor returns a cursor in a list's own order. REST links to it only above offset
// 10,000.
func defaultOrderCursor(t *testing.T, s *testServer) string {
	t.Helper()
	var resp struct {
		Data struct {
			CatalogNode struct {
				Products struct {
					PageInfo struct {
						EndCursor string `json:"endCursor"`
					} `json:"pageInfo"`
				} `json:"products"`
			} `json:"catalogNode"`
		} `json:"data"`
	}
	w := s.send(t, http.MethodPost, "/graphql", fmt.Sprintf(`{"query":%q}`,
		`{ catalogNode(id: "tools") { products(first: 1) { pageInfo { endCursor } } } }`))
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &resp), "%s", w.Body)
	return resp.Data.CatalogNode.Products.PageInfo.EndCursor
}

// forgeries returns a real cursor with changed members: l is the list, r the release, p the
// position and k the key.
func forgeries(t *testing.T, real string) (cursors []string) {
	real, _, _ = strings.Cut(real, ".")
	raw, err := base64.RawURLEncoding.DecodeString(real)
	require.NoError(t, err)
	var members map[string]any
	require.NoError(t, json.Unmarshal(raw, &members))
	for _, change := range []map[string]any{
		{},
		{"p": json.Number("9223372036854775807")}, {"p": -1}, {"p": 1 << 40}, {"p": 1.5}, {"p": "1"}, {"p": nil},
		{"r": json.Number("9223372036854775807")}, {"r": -1}, {"r": 0}, {"r": "1"},
		{"k": []any{}}, {"k": []any{1}}, {"k": []any{"a", "b"}}, {"k": []any{nil}}, {"k": []any{"\x00"}}, {"k": []any{1e300, "a"}}, {"k": "a"},
		{"k": []any{json.Number("9223372036854775807"), "a"}}, {"k": []any{map[string]any{}}},
		{"l": ""}, {"l": "x"}, {"l": 1},
		{"more": true},
	} {
		forged := maps.Clone(members)
		maps.Copy(forged, change)
		text, err := json.Marshal(forged)
		require.NoError(t, err)
		cursors = append(cursors, base64.RawURLEncoding.EncodeToString(text))
	}
	for _, position := range []string{".-1", ".9223372036854775807", ".99999999999999999999", ".x", "."} {
		cursors = append(cursors, real+position)
	}
	return append(cursors, base64.RawURLEncoding.EncodeToString([]byte(`{"l":`)), base64.RawURLEncoding.EncodeToString([]byte("null")),
		real+"A", "%00", "%ff", "=")
}
