package rest_test

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
	"portico/store/storetest/testkit"
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
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		ofTools, ofStock := "page[after]="+firstCursor(t, s, productsOf("tools"), "id"), "page[after]="+firstCursor(t, s, "/v2/inventories", "id")
		mismatch := func(name, path string) scenario {
			return scenario{name: name, path: path, status: 400, holds: []string{"page[after] belongs to another list, sort or filter"}}
		}
		runScenarios(t, s, []scenario{
			mismatch("of the same list, sorted otherwise", productsOf("tools")+"?"+ofTools+"&sort=-id"),
			mismatch("of another node", productsOf("workshop")+"?"+ofTools+"&sort=id"),
			mismatch("of stock, for products", productsOf("tools")+"?"+ofStock+"&sort=id"),
			{name: "with another offset, which is only shown", path: "/v2/inventories?" + ofStock + "&sort=id&page[offset]=7", ids: stockedProducts[1:],
				holds: []string{`"offset":7,`}},
			{name: "with an offset that is no number", path: "/v2/inventories?" + ofStock + "&sort=id&page[offset]=x", status: 400,
				holds: []string{"page[offset] must be a whole number"}},
			{name: "with another limit", path: "/v2/inventories?" + ofStock + "&sort=id&page[limit]=2", ids: []string{"brush", "chalk"}},
		})
	})
}

// TestForgedCursors requires 400 for each change of a cursor.
func TestForgedCursors(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		for _, forged := range []struct{ name, path, sort, real string }{
			{"of products", productsOf("tools"), "id", firstCursor(t, s, productsOf("tools"), "id")},
			{"of products in their own order", productsOf("tools"), "", firstCursor(t, s, productsOf("tools"), "")},
			{"of stock", "/v2/inventories", "id", firstCursor(t, s, "/v2/inventories", "id")},
			{"of stock by time", "/v2/inventories", "updated_at", firstCursor(t, s, "/v2/inventories", "updated_at")},
		} {
			t.Run(forged.name, func(t *testing.T) {
				w := pageWalk{s: s, path: forged.path, query: modelQuery{sort: forged.sort}, limit: 1}
				require.Len(t, w.get(t, w.at("page[after]="+forged.real)).Data, 1, "the real cursor")
				for _, text := range forgeries(t, forged.real) {
					for _, parameter := range []string{"page[after]=", "page[before]="} {
						address := w.at(parameter + text)
						resp := sendRequest(s.as(admin()), http.MethodGet, address)
						require.Equal(t, http.StatusBadRequest, resp.Code, "%s returns %.300s", address, resp.Body)
						requireJSON(t, address, resp)
					}
				}
			})
		}
	})
}

// forgeries returns a real cursor that was changed: in each byte, cut, extended, and replaced by unsigned ones.
func forgeries(t *testing.T, real string) (cursors []string) {
	raw, err := base64.RawURLEncoding.DecodeString(real)
	require.NoError(t, err)
	for i := range raw {
		forged := bytes.Clone(raw)
		forged[i] ^= 1 << (i % 8)
		cursors = append(cursors, base64.RawURLEncoding.EncodeToString(forged))
	}
	for _, text := range []string{`{"l":"x","r":1}`, `{"l":`, "null"} {
		cursors = append(cursors, base64.RawURLEncoding.EncodeToString([]byte(text)))
	}
	return append(cursors, real[:len(real)-1], real[4:], real+"A", real+"AAAA", real+".1", real+".9223372036854775807", "%00", "%ff", "=")
}
