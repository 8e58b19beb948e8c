package executor_test

import (
	"encoding/json"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph"
	"portico/graph/graphtest"
	"portico/graph/opctx"
	"portico/graph/transport"
	"portico/internal/auth"
	"portico/internal/responsecache"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// executors serve one store: by plans, by plans with a response cache, by plans with a fragment
// cache, and by gqlgen's executor.
type executors struct {
	planned, withResponses, gqlgen *graphtest.Service
	runs                           map[string]int // by executor
}

func newExecutors(t testing.TB, s *graphtest.Service, all ...transport.Option) *executors {
	t.Helper()
	x := &executors{runs: map[string]int{}}
	handler := func(options ...transport.Option) *graphtest.Service {
		resolver := graph.NewResolver(s.Store, graph.WithTokens(graphtest.NewTokens(t, s.Store)))
		return &graphtest.Service{Store: s.Store, Handler: opctx.Middleware(transport.NewHandler(resolver, slog.New(slog.NewTextHandler(s.Log, nil)), append(options, all...)...)), Log: s.Log}
	}
	var mu sync.Mutex
	x.planned = handler(transport.CountExecutors(func(executor string) {
		mu.Lock()
		defer mu.Unlock()
		x.runs[executor]++
	}))
	x.withResponses = handler(transport.WithResponseCache(responsecache.NewCache(8 << 20)))
	x.gqlgen = handler(transport.WithoutPlans())
	return x
}

// same sends a request to all executors and compares the responses: data byte by byte, errors as
// sets, because gqlgen's order varies. It returns the number of errors.
func (x *executors) same(t testing.TB, query string, values graphtest.Variables, by func(*http.Request) *http.Request) (errors int) {
	t.Helper()
	ask := func(s *graphtest.Service) (status int, data string, faults []string) {
		w := httptest.NewRecorder()
		s.Handler.ServeHTTP(w, by(graphtest.NewPost(t, query, values)))
		var answer struct {
			Data   json.RawMessage
			Errors []json.RawMessage
		}
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer), "%s", w.Body)
		for _, fault := range answer.Errors {
			faults = append(faults, string(fault))
		}
		slices.Sort(faults)
		return w.Code, string(answer.Data), faults
	}
	told := func(by string) string {
		sent, _ := json.Marshal(values)
		return by + ": " + query + "\n" + string(sent)
	}
	status, data, faults := ask(x.gqlgen)
	for i, other := range []*graphtest.Service{x.planned, x.withResponses, x.withResponses} { // the second time from the cache
		by := []string{"a plan", "a plan that fills the cache", "a cached response"}[i]
		otherStatus, otherData, otherFaults := ask(other)
		if refused(faults) && refused(otherFaults) {
			continue // each executor gives what is left to its root fields in its own order
		}
		if status != otherStatus || data != otherData {
			require.Equal(t, status, otherStatus, "%s", told(by))
			require.Equal(t, data, otherData, "%s", told(by))
		}
		if len(faults) < 20 { // of more, each reports those that it met first
			require.Equal(t, faults, otherFaults, "%s", told(by))
		}
		require.Equal(t, len(faults), len(otherFaults), "%s", told(by))
	}
	return len(faults)
}

// refused reports whether an operation met so many errors that not all are reported, because it costs more than it may.
func refused(faults []string) bool {
	return len(faults) >= 20 && slices.ContainsFunc(faults, func(fault string) bool { return strings.Contains(fault, "the operation may cost") })
}

// Plans return what gqlgen's executor returns.
func TestPlansMatchGqlgen(t *testing.T) {
	t.Parallel()
	seed := testkit.Seed(t)
	shops := map[string]string{"handmade": graphtest.Shop(), "generated": graphtest.GeneratedShop(t, 300)}
	if file, err := os.ReadFile("../../shared/data/adventureworks.ndjson"); err == nil && testkit.FullTests() { // it lies beside the repository, or not
		shops["AdventureWorks"] = string(file)
	}
	for name, shop := range shops {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.EachBackendSerial(t, func(t *testing.T, e storetest.Backend) {
				s := graphtest.Open(t, e, shop)
				graphtest.LoadCodes(t, s)
				x := newExecutors(t, s)
				d := newDrawing(t, s, seed)
				readers := []*auth.Principal{graphtest.Admin(), graphtest.Admin(), graphtest.Client("catalog:read"), graphtest.Client("catalog:read", "inventory:read"), nil}
				failed := 0
				rounds := testkit.QuickOrFull(150, 2600) // of two shops on two engines
				for range rounds {
					query, values := d.query()
					reader := readers[d.IntN(len(readers))]
					locale := []string{"", "de", "zh-TW, fr"}[d.IntN(3)]
					if x.same(t, query, values, func(r *http.Request) *http.Request {
						r.Header.Set("Accept-Language", locale)
						return graphtest.As(r, reader)
					}) > 0 {
						failed++
					}
				}
				t.Logf("%d operations, %d with errors, by %v", rounds, failed, x.runs)
				require.Greater(t, failed, rounds/20, "errors are drawn")
				require.Less(t, failed, rounds*19/20, "and answers without")
				require.Greater(t, x.runs["plan"], rounds*2/3, "few are refused before they run")
				require.Zero(t, x.runs["gqlgen"], "plans know the whole schema")
			})
		})
	}
}

// newDrawing returns a drawing with the ids and texts of a shop.
func newDrawing(t testing.TB, s *graphtest.Service, seed uint64) *drawing {
	t.Helper()
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, 1)), schema: graphtest.Schema(), ids: map[string][]string{"": {"unknown", "not an id!", ""}},
		texts: []string{"", "a", "oak", "EUR", "USD", "card_processor", "no such text"}}
	var found map[string]struct{ Nodes []map[string]any }
	s.Post(t, `{ Product: products(first: 40) { nodes { id uuid sku name slug } } CatalogNode: catalogNodes(first: 40) { nodes { id uuid slug } } Hierarchy: hierarchies { nodes { id uuid } }
		Stock: stocks(first: 10) { nodes { id uuid } } Promotion: promotions { nodes { id uuid } } Catalog: catalogs { nodes { id uuid } } File: files(first: 10) { nodes { id uuid } }
		CatalogRule: catalogRules { nodes { id uuid } } AuthoredHierarchy: authoredHierarchies { nodes { id uuid } } Synonym: synonyms { nodes { id uuid } } }`, nil).Read(t, &found)
	for _, kind := range slices.Sorted(maps.Keys(found)) {
		for _, node := range found[kind].Nodes {
			for _, member := range []string{"id", "uuid"} {
				d.ids[kind] = append(d.ids[kind], node[member].(string))
			}
			d.ids["ids"] = append(d.ids["ids"], node["id"].(string))
			d.ids["Node"] = append(d.ids["Node"], node["id"].(string))
			for _, member := range []string{"sku", "name", "slug"} {
				if text, ok := node[member].(string); ok {
					d.texts = append(d.texts, text)
				}
			}
		}
	}
	for _, cursor := range regexp.MustCompile(`"endCursor":"([^"\\]*)"`).FindAllStringSubmatch(string(s.Post(t, `{ products(first: 3) { pageInfo { endCursor } } hierarchies { pageInfo { endCursor } } }`, nil).Data), -1) {
		d.texts = append(d.texts, cursor[1])
	}
	return d
}
