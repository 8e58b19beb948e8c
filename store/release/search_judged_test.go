package release_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/index"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// The shops of testdata/search are judged by hand: each query has the SKUs of the products that answer
// it, which were written before the search. A file has sections. "products en" begins products as lines
// of SKU | name | description; the first section has the base texts, the others are translations.
// "queries en" begins queries of shoppers with that language, as lines of kind | text | SKUs.
//
//	go test ./store/release -run TestJudgedSearches -v

// judgedShop is one file of testdata/search.
type judgedShop struct {
	name     string
	products []*judgedProduct
	queries  []judgedQuery
}

type judgedProduct struct {
	SKU     string
	texts   map[string][2]string // name and description by language
	locales []string             // the base language first
}

type judgedQuery struct {
	kind, language, text string
	answers              []string
}

func readJudgedShops(t testing.TB) (shops []*judgedShop) {
	files, err := filepath.Glob("testdata/search/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		body, err := os.ReadFile(file)
		require.NoError(t, err)
		shops = append(shops, parseJudgedShop(t, strings.TrimSuffix(filepath.Base(file), ".txt"), string(body)))
	}
	return shops
}

func parseJudgedShop(t testing.TB, name, body string) *judgedShop {
	s := &judgedShop{name: name}
	bySKU := map[string]*judgedProduct{}
	section, language := "", ""
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		fields := strings.Split(line, " | ")
		switch {
		case line == "" || line[0] == '#':
		case len(fields) == 1:
			section, language, _ = strings.Cut(line, " ")
		case section == "products":
			p := bySKU[fields[0]]
			if p == nil {
				p = &judgedProduct{SKU: fields[0], texts: map[string][2]string{}}
				s.products, bySKU[fields[0]] = append(s.products, p), p
			}
			p.texts[language], p.locales = [2]string{fields[1], fields[2]}, append(p.locales, language)
		default:
			query := judgedQuery{fields[0], language, fields[1], strings.Fields(fields[2])}
			for _, sku := range query.answers {
				require.Contains(t, bySKU, sku, "answers of %q", query.text)
			}
			s.queries = append(s.queries, query)
		}
	}
	return s
}

// resources returns the shop for an import, with one catalog main.
func (s *judgedShop) resources(t testing.TB) string {
	line := func(value any) string {
		text, err := json.Marshal(value)
		require.NoError(t, err)
		return string(text)
	}
	var lines []string
	var refs []map[string]string
	for _, p := range s.products {
		base := p.texts[p.locales[0]]
		locales := map[string]any{}
		for _, language := range p.locales[1:] {
			locales[language] = map[string]string{"name": p.texts[language][0], "description": p.texts[language][1]}
		}
		lines = append(lines, line(map[string]any{"type": "product", "id": strings.ToLower(p.SKU), "relationships": map[string]any{}, "attributes": map[string]any{
			"name": base[0], "description": base[1], "sku": p.SKU, "slug": strings.ToLower(p.SKU), "status": "live", "locales": locales, "created_at": "2024-01-01T00:00:00Z"}}))
		refs = append(refs, map[string]string{"type": "product", "id": strings.ToLower(p.SKU)})
	}
	return storetest.JoinLines(append(lines, `{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`,
		line(map[string]any{"type": "catalog", "id": "main", "attributes": map[string]any{"name": "Main", "hierarchies": []string{"h"}, "locale": s.products[0].locales[0]}}),
		line(map[string]any{"type": "node", "id": "all", "attributes": map[string]string{"name": "All"},
			"relationships": map[string]any{"hierarchy": map[string]any{"data": map[string]string{"type": "hierarchy", "id": "h"}}, "products": map[string]any{"data": refs}}}))...)
}

// searchFigures are sums over queries.
type searchFigures struct {
	queries, unanswered int
	reciprocal, recall  float64
}

// add adds the answer of a query. The reciprocal rank is that of the first right product among the
// first 25; recall is the share of right products that are among the first ten.
func (f *searchFigures) add(answers, found []string) {
	f.queries++
	if len(found) == 0 {
		f.unanswered++
		return
	}
	if at := slices.IndexFunc(found, func(sku string) bool { return slices.Contains(answers, sku) }); at >= 0 {
		f.reciprocal += 1 / float64(at+1)
	}
	right := 0
	for _, sku := range found[:min(10, len(found))] {
		if slices.Contains(answers, sku) {
			right++
		}
	}
	f.recall += float64(right) / float64(min(10, len(answers)))
}

func (f *searchFigures) MRR() float64             { return f.reciprocal / float64(f.queries) }
func (f *searchFigures) RecallAtTen() float64     { return f.recall / float64(f.queries) }
func (f *searchFigures) ShareUnanswered() float64 { return float64(f.unanswered) / float64(f.queries) }

func (f *searchFigures) String() string {
	return fmt.Sprintf("%3d queries: mean reciprocal rank %.3f, recall at ten %.3f, without an answer %.1f %%", f.queries, f.MRR(), f.RecallAtTen(), 100*f.ShareUnanswered())
}

// TestJudgedSearches imports, publishes and searches the judged shops, and fails if the figures are
// below the bounds.
func TestJudgedSearches(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		backend.FullTestsOnlyOnPostgres(t)
		var all searchFigures
		kinds := map[string]*searchFigures{}
		for _, judged := range readJudgedShops(t) {
			s, db := backend.Open(t), backend.SQL(t)
			storetest.DeleteAllRows(t, db)
			storetest.Import(t, s, judged.resources(t))
			storetest.Publish(t, s, "main")
			var of searchFigures
			for _, query := range judged.queries {
				found := judgedSearch(t, s, query)
				if kinds[query.kind] == nil {
					kinds[query.kind] = &searchFigures{}
				}
				for _, f := range []*searchFigures{&all, &of, kinds[query.kind]} {
					f.add(query.answers, found)
				}
				var one searchFigures
				if one.add(query.answers, found); one.reciprocal < 1 || one.recall < 1 {
					t.Logf("%s %s %q: found %v, not %v", query.language, query.kind, query.text, found[:min(10, len(found))], query.answers)
				}
			}
			t.Logf("%-10s %s", judged.name, &of)
		}
		for kind, f := range kinds {
			t.Logf("%-10s %s", kind, f)
		}
		t.Logf("%-10s %s", "all", &all)
		require.GreaterOrEqual(t, all.queries, 150)
		require.GreaterOrEqual(t, all.MRR(), leastMRR)
		require.GreaterOrEqual(t, all.RecallAtTen(), leastRecallAtTen)
		require.LessOrEqual(t, all.ShareUnanswered(), mostUnanswered)
	})
}

// The bounds of the figures over all judged queries.
const (
	leastMRR         = 0.98
	leastRecallAtTen = 0.98
	mostUnanswered   = 0.01
)

// judgedSearch returns the SKUs that a query finds, the best first.
func judgedSearch(t *testing.T, s *shop.Store, query judgedQuery) (skus []string) {
	v := storetest.View(t, s, release.ShopperContext{Languages: testkit.Languages(query.language)})
	search, err := index.NewSearch(query.text)
	require.NoError(t, err)
	slice, err := v.Products(t.Context(), release.ProductQuery{Filter: release.ProductFilter{Searches: []index.Search{search}}, Sort: store.Sort{By: store.SortRelevance}})
	require.NoError(t, err)
	for _, p := range slice.Items {
		skus = append(skus, strings.ToUpper(p.ID()))
	}
	return skus
}
