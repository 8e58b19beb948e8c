package rest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
)

const roadBikes = "f30b5117-6c34-55fc-ba2c-c590f9afe399"

// adventureWorks is the sample shop, which lies beside the repository; a test
// that wants it is skipped where it is not.
func adventureWorks(t *testing.T) string {
	t.Helper()
	const path = "../../shared/data/adventureworks.ndjson"
	file, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("skipped for want of %s", path)
	}
	require.NoError(t, err)
	return string(file)
}

// bikes is a page of Road Bikes.
func bikes(query string) string { return productsOf(roadBikes) + "?page[limit]=100&" + query }

func TestAdventureWorks(t *testing.T) {
	t.Parallel()
	file := adventureWorks(t)
	m := newModel(t, file)
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		s := openShop(t, e, file)
		t.Run("Road Bikes lists its live products, curated first", func(t *testing.T) {
			w := pageWalk{s: s, path: productsOf(roadBikes), limit: 10}
			want := w.query.of(m.listed[roadBikes])
			require.Len(t, want, 25)
			pages, got := w.forwards(t, want)
			require.Equal(t, want, got)
			require.Equal(t, []string{"04726d71-68be-5641-b09e-fe662bf16728", "089407b1-b07a-5b43-81f3-10a2765876e4"}, got[:2],
				"the third curated one is a draft")
			for i, product := range pages[0].Data {
				require.Equal(t, i < 2, product.Attributes.Curated != nil, "curated_product of %s", product.ID)
			}
		})
		t.Run("every node and hierarchy lists its products", func(t *testing.T) {
			for list, rows := range m.listed {
				w := pageWalk{s: s, path: productsOf(list), limit: 100}
				want := w.query.of(rows)
				_, got := w.forwards(t, want)
				require.Equal(t, want, got, "%s", list)
			}
		})
		t.Run("stock", func(t *testing.T) {
			w := pageWalk{s: s, path: "/v2/inventories", limit: 100}
			want := w.query.of(m.stock)
			require.Len(t, want, 504)
			_, got := w.forwards(t, want)
			require.Equal(t, want, got)
		})
		t.Run("filters", func(t *testing.T) { runScenarios(t, s, roadBikeScenarios(m)) })
		t.Run("the mobile channel with the tag clearance sees only the offers", func(t *testing.T) { requireOffers(t, s) })
		t.Run("no draft is ever shown", func(t *testing.T) { requireNoDrafts(t, s, file, m) })
	})
}

func roadBikeScenarios(m *model) []scenario {
	of := func(filters ...modelFilter) []string { return modelQuery{filters: filters}.of(m.listed[roadBikes]) }
	return []scenario{
		{name: "in of skus, one of them a draft's", path: bikes("filter=in(sku,BK-R19B-44,M-25,BK-R93R-62)"),
			ids: of(oneOf("in", "sku", "BK-R19B-44", "M-25"))},
		{name: "in of skus, encoded", path: bikes("filter=in%28sku%2CBK-R19B-44%2CM-25%29"),
			ids: []string{"04726d71-68be-5641-b09e-fe662bf16728", "fbe525d0-c8fe-5e9d-a85d-9e146d5d8056"}},
		{name: "eq of a tag", path: bikes("filter=eq(tags,yellow)"), ids: of(oneOf("eq", "tags", "yellow"))},
		{name: "two tags", path: bikes("filter=eq(tags,black):eq(tags,l)"), ids: of(oneOf("eq", "tags", "black"), oneOf("eq", "tags", "l"))},
		{name: "a name with a space and a comma", path: bikes(`filter=eq(name,%22Road-250+Black,+44%22)`),
			ids: []string{"f6044e94-5cea-50fd-8fe1-591adf95c911"}},
		{name: "in French", path: bikes("filter=eq(sku,BK-R89R-58)"), headers: []string{"Accept-Language", "fr"},
			holds: []string{`"language":"fr"`, "Cadre en alliage d'aluminium"}},
		{name: "in English otherwise", path: bikes("filter=eq(sku,BK-R89R-58)"), headers: []string{"Accept-Language", "*"},
			holds: []string{`"language":"en"`}, lacks: []string{"Cadre"}},
		{name: "a node's id in upper case", path: productsOf(strings.ToUpper(roadBikes)) + "?page[limit]=1",
			ids: []string{"04726d71-68be-5641-b09e-fe662bf16728"}},
		{name: "ids in upper case", path: bikes("filter=in(id,04726D71-68BE-5641-B09E-FE662BF16728)"),
			ids: []string{"04726d71-68be-5641-b09e-fe662bf16728"}},
		{name: "included resources", path: bikes("include=" + allIncludes), holds: []string{`"included":{"main_images":[{"type":"file"`}},
	}
}

// The catalogs and rules of the sample shop.
const (
	wholeCatalog  = "ecbdc847-dbd5-5c3c-892c-1d59ac045d2d"
	offersCatalog = "e77b6e1a-8020-5658-841d-072a7e286f5a"
	offersTree    = "b6a78244-c0cd-59f9-99ba-fafab1f70453"
)

func requireOffers(t *testing.T, s *testServer) {
	for _, c := range []struct {
		headers            []string
		catalog, rule      string
		matched            []string
		offers, everything int // the status of the offers' hierarchy, and of Road Bikes
	}{
		{[]string{"EP-Channel", "mobile", "EP-Context-Tag", "clearance"}, offersCatalog, "0e04a498-aee9-50a7-9ecb-8d3762bbcef7",
			[]string{"channel", "tag"}, 200, 404},
		{[]string{"Store-Channel", "mobile"}, offersCatalog, "0e04a498-aee9-50a7-9ecb-8d3762bbcef7", []string{"channel"}, 200, 404},
		{[]string{"Store-Channel", "web", "Store-Context-Tag", "new"}, wholeCatalog, "a5530f57-4e63-5bf2-9271-e3c3d148e645", nil, 200, 200},
		{nil, wholeCatalog, "a5530f57-4e63-5bf2-9271-e3c3d148e645", nil, 200, 200},
	} {
		for path, status := range map[string]int{productsOf(offersTree): c.offers, productsOf(roadBikes): c.everything} {
			w := s.send(t, http.MethodGet, path, "", append(c.headers, "Prefer", "explain")...)
			require.Equal(t, status, w.Code, "%s %s: %.300s", path, c.headers, w.Body)
			x := explained(t, w)
			require.Equal(t, []string{c.catalog, c.rule}, []string{x.Catalog, x.Rule})
			require.Equal(t, c.matched, x.Candidates[0].Matched)
		}
	}
}

// requireNoDrafts reads every node of every catalog with all that can be
// included, and looks for the drafts' ids, skus and slugs.
func requireNoDrafts(t *testing.T, s *testServer, file string, m *model) {
	const mark = "<<a draft's>> "
	var marked []string // words and their replacements, which finds them all in one pass
	for text := range strings.Lines(file) {
		var product struct {
			Type, ID   string
			Attributes struct{ SKU, Slug, Status string }
		}
		require.NoError(t, json.Unmarshal([]byte(text), &product))
		if a := product.Attributes; product.Type == "product" && a.Status != "live" {
			for _, word := range []string{product.ID, fmt.Sprintf("%q", a.SKU), fmt.Sprintf("%q", a.Slug)} {
				marked = append(marked, word, mark+word)
			}
		}
	}
	require.Len(t, marked, 2*3*98)
	drafts, rows := strings.NewReplacer(marked...), 0
	for _, shopper := range [][]string{nil, {"EP-Channel", "mobile", "EP-Context-Tag", "clearance"}} {
		for node := range m.listed {
			for address := productsOf(node) + "?page[limit]=100&include=" + allIncludes; address != ""; {
				w := s.send(t, http.MethodGet, address, "", shopper...)
				if w.Code == http.StatusNotFound {
					break // of another catalog
				}
				_, shown, found := strings.Cut(drafts.Replace(w.Body.String()), mark)
				require.False(t, found, "%s shows the draft %.100s", address, shown)
				page := readListBody(t, w)
				rows += len(page.Data)
				address = page.link("next")
			}
		}
	}
	require.Greater(t, rows, 541, "the responses have too few products")
}
