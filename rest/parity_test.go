package rest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/rest"
	"portico/store"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// parityTest is an operation of both APIs. draw creates a REST request and the equal GraphQL
// document.
type parityTest struct {
	coordinate string // of the route
	weight     int    // relative frequency
	draw       func(*dice) *parityCase
}

// parityTests has an entry for every route.
func parityTests() []parityTest {
	list := []parityTest{
		{"GET /catalog", 3, drawCatalog},
		{"GET /catalog/products/:id", 10, drawProduct},
		{"POST /catalog/products/:id/configure", 12, drawConfigured},
		{"GET /v2/files", 12, drawFiles},
		{"GET /v2/files/:id", 4, drawFile},
		{"GET /v2/currencies", 3, drawCurrencies},
		{"GET /v2/currencies/:id", 3, drawCurrency},
		{"GET /v2/inventories/locations", 2, drawLocations},
		{"GET /catalog/nodes/:id", 6, drawNode},
		{"GET /catalog/hierarchies/:id", 6, drawHierarchy},
		{"GET /v2/inventories", 30, drawStocks},
		{"GET /v2/inventories/:id", 6, drawStock},
		{"POST /v2/inventories/multiple", 6, drawStocksByID},
		{"POST /v2/inventories", 4, drawStockCreate("POST /v2/inventories")},
		{"DELETE /v2/inventories/:id", 3, drawStockDelete},
		{"POST /v2/inventories/:id", 6, drawStockCreate("POST /v2/inventories/:id")},
		{"POST /v2/inventories/:id/transactions", 20, drawTransact},
		{"GET /v2/inventories/:id/transactions", 12, drawTransactions},
		{"GET /v2/inventories/:id/transactions/:transaction", 5, drawTransaction},
		{"GET /v2/promotions", 10, drawPromotions},
		{"POST /v2/promotions", 5, drawPromotionCreate},
		{"GET /v2/promotions/:id", 4, drawPromotion},
		{"PUT /v2/promotions/:id", 6, drawPromotionUpdate},
		{"DELETE /v2/promotions/:id", 2, drawPromotionDelete},
		{"GET /v2/promotions/:id/codes", 8, drawCodes},
		{"POST /v2/promotions/:id/codes", 8, drawCodesCreate},
		{"DELETE /v2/promotions/:id/codes", 2, drawCodesDelete},
		{"DELETE /v2/promotions/:id/codes/:code", 2, drawCodeDelete},
		{"GET /v2/promotions/:id/usages", 6, drawUsages("GET /v2/promotions/:id/usages")},
		{"GET /v2/promotions/:id/codes/:code/usages", 6, drawUsages("GET /v2/promotions/:id/codes/:code/usages")},
		{"GET /v2/settings", 3, drawSettings},
		{"GET /v2/gateways", 2, drawGateways},
		{"GET /v2/gateways/:slug", 2, drawGateway},
		{"PUT /v2/gateways/:slug", 6, drawGatewayUpdate},
		{"PUT /v2/settings", 12, drawSettingsUpdate},
		{"POST /v2/shopper-tokens", 5, drawShopperToken},
	}
	for i, of := range productSources() {
		list = append(list, parityTest{of.coordinate, []int{45, 12, 25, 15, 12}[i], drawProducts(of)})
	}
	for _, of := range nodeSources() {
		list = append(list, parityTest{of.coordinate, 12, drawNodes(of)})
	}
	return list
}

// parityCase is one request for both APIs.
type parityCase struct {
	method, target, body string   // for REST
	headers              []string // for both, alternating names and values
	document             string   // to GraphQL
	variables            map[string]any
	raw                  string // for GraphQL, in place of document and variables
	client               parityClient

	recordHint func(operation string) // records the operation of REST's header Graphql-Request

	// same compares two responses without errors: REST's body and GraphQL's data, decoded with
	// json.Number.
	same func(t require.TestingT, body, data map[string]any)

	// absent reports that GraphQL's list lacks the object that REST answers 404 for. Nil for fields that are null then.
	absent func(data map[string]any) bool
}

// parityClient is the client: an admin, none, one with an invalid token, or one without the scopes.
type parityClient int

const (
	asAdmin parityClient = iota
	withoutToken
	withBadToken
	withoutScopes
)

// statusOf returns the HTTP status of a code, independently of the server's own table.
func statusOf(code store.Code) int {
	return map[store.Code]int{
		store.Invalid: 400, store.Unauthenticated: 401, store.Forbidden: 403, store.NotFound: 404, store.Conflict: 409,
		store.CursorMismatch: 400, store.CursorExpired: 410, store.Unprocessable: 422, store.RateLimited: 429,
		store.Unavailable: 503, store.Internal: 500,
		store.Code(store.DuplicateCode): 422, store.Code(store.CodesNotAllowed): 422, store.Code(store.AlreadyExists): 422, // reasons in userErrors
	}[code]
}

// parityRounds is how often every operation runs before operations are drawn by weight, so that
// rare operations run too.
const parityRounds = 6

func TestParityOfRESTAndGraphQL(t *testing.T) {
	t.Parallel()
	seed := testkit.Seed(t)
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		for _, run := range []struct {
			name, shop string
			requests   int
		}{{"handmade", offers(), testkit.QuickOrFull(1_000, 2_000)}, {"generated", generateShop(t, 220), testkit.QuickOrFull(300, 900)}} {
			if testkit.RaceDetector || run.name == "generated" && e.Name != "sqlite" {
				run.requests /= 2
			}
			t.Run(run.name, func(t *testing.T) {
				s := openShop(t, e, run.shop, withClock(testkit.NewClock(noon)))
				redeemCode(t, s)
				d := newDice(t, seed, run.shop)
				d.known.live = liveProducts(t, s, d.known)
				statuses := map[int]int{}
				for n := range run.requests {
					drawn := d.operation()
					if run.name == "handmade" && n < parityRounds*len(parityTests()) {
						drawn = parityTests()[n%len(parityTests())]
					}
					q := drawn.draw(d)
					q.recordHint = func(operation string) { d.hints[operation]++ }
					statuses[requireSame(t, s, q, fmt.Sprintf("request %d of PORTICO_TEST_SEED=%d", n, seed))]++
				}
				t.Logf("responses by status: %v", statuses)
				if run.name == "handmade" && !testkit.RaceDetector { // enough requests for the rarest operation
					require.ElementsMatch(t, slices.Collect(maps.Keys(rest.Operations())), slices.Collect(maps.Keys(d.hints)),
						"the header Graphql-Request occurred with every operation")
					for _, status := range []int{200, 400, 401, 403, 404, 422} {
						require.NotZero(t, statuses[status], "no request drawn returned %d", status)
					}
				}
				require.Greater(t, statuses[200], run.requests/3, "many requests are valid")
			})
		}
	})
}

func TestEveryRouteHasAParityTest(t *testing.T) {
	t.Parallel()
	var compared []string
	for _, p := range parityTests() {
		compared = append(compared, p.coordinate)
	}
	require.ElementsMatch(t, rest.Routes, compared)
}

// requireSame sends a request to both APIs, compares the responses and returns the status.
func requireSame(t *testing.T, s *testServer, q *parityCase, name string) int {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), q.method, q.target, strings.NewReader(q.body))
	r.Header.Set("Prefer", "graphql")
	if q.writes() {
		r.Header.Set("Idempotency-Key", newKey())
	}
	w := q.ask(s, r)
	if operation := requireGraphQLHint(t, s, q, r, w, name); operation != "" {
		q.recordHint(operation)
	}
	body := q.raw
	if body == "" {
		text, err := json.Marshal(map[string]any{"query": rest.WithFragments(q.document), "variables": q.variables})
		require.NoError(t, err)
		body = string(text)
	}
	v := q.ask(s, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/graphql", strings.NewReader(body)))
	both := fmt.Sprintf("%s\n%s %s %s %q\nanswers %d %.3000s\n\n%s\nanswers %.3000s", name, q.method, q.target, q.body, q.headers,
		w.Code, w.Body, body, v.Body)

	var graphql struct {
		Data   map[string]any
		Errors []struct {
			Extensions struct{ Code store.Code }
		}
	}
	decode(t, v.Body.Bytes(), &graphql, both)
	var answer map[string]any
	if w.Code != http.StatusNoContent {
		decode(t, w.Body.Bytes(), &answer, both)
	}

	var codes []store.Code
	for _, e := range graphql.Errors {
		codes = append(codes, e.Extensions.Code)
	}
	if len(codes) == 0 {
		codes = q.errorCodesIn(graphql.Data)
	}
	if len(codes) == 0 {
		require.Contains(t, []int{http.StatusOK, http.StatusCreated, http.StatusNoContent}, w.Code, "%s", both)
		require.NotPanics(t, func() { q.same(failureReporter{t, both}, answer, graphql.Data) }, "%s", both)
		return w.Code
	}
	if exceedsCost(t, q, w.Code, v.Body.String(), both) {
		return w.Code
	}
	require.Equal(t, statusOf(codes[0]), w.Code, "GraphQL returns %s\n%s", codes[0], both)
	if errs := answer["errors"].([]any); len(graphql.Errors) == 0 {
		require.Len(t, errs, len(codes), "as many faults on both\n%s", both)
	}
	require.NotEqual(t, http.StatusInternalServerError, w.Code, "%s", both)
	return w.Code
}

// exceedsCost reports whether GraphQL rejects a query for its cost that REST answers: a long
// page of products with all related objects. REST cannot nest further and limits the rows it
// reads.
func exceedsCost(t *testing.T, q *parityCase, status int, graphql, both string) bool {
	t.Helper()
	if status != http.StatusOK || !strings.Contains(graphql, "the operation may cost") {
		return false
	}
	target, err := url.Parse(q.target)
	require.NoError(t, err)
	require.Contains(t, target.Query().Get("include"), "component_products", "%s", both)
	length, err := strconv.Atoi(target.Query().Get("page[limit]"))
	require.NoError(t, err)
	require.Greater(t, length, 50, "%s", both)
	return true
}

// failureReporter adds both responses to each failure.
type failureReporter struct {
	t    *testing.T
	both string
}

func (r failureReporter) Errorf(format string, args ...any) {
	r.t.Helper()
	r.t.Errorf(format+"\n%s", append(args, r.both)...)
}

func (r failureReporter) FailNow() { r.t.FailNow() }

// ask sends a request as a client.
func (q *parityCase) ask(s *testServer, r *http.Request) *httptest.ResponseRecorder {
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(q.headers); i += 2 {
		r.Header.Set(q.headers[i], q.headers[i+1])
	}
	handler := s.as(nil)
	switch q.client {
	case asAdmin:
		handler = s.as(admin())
	case withBadToken:
		r = r.WithContext(auth.WithTokenError(r.Context(), &store.Error{Code: store.Unauthenticated, Detail: "The token has expired."}))
	case withoutScopes:
		handler = s.as(&auth.Principal{ClientID: "poor", Scopes: []string{"checkout:write"}})
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

// decode parses JSON and keeps numbers as written.
func decode(t *testing.T, text []byte, into any, both string) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(into), "%s", both)
}

// errorCodesIn returns the error codes in GraphQL's data: the userErrors of a payload, and
// NOT_FOUND for null where REST has no object.
func (q *parityCase) errorCodesIn(data map[string]any) (codes []store.Code) {
	if q.absent != nil && len(data) > 0 && q.absent(data) {
		return []store.Code{store.NotFound}
	}
	for name, field := range data {
		if field == nil {
			return []store.Code{store.NotFound}
		}
		payload, _ := field.(map[string]any)
		faults, _ := payload["userErrors"].([]any)
		for _, fault := range faults {
			code := store.Code(fault.(map[string]any)["code"].(string))
			if name == "stockCreate" && code == store.Code(store.AlreadyExists) {
				code = store.Conflict // REST's status for a second stock record, by the contract
			}
			codes = append(codes, code)
		}
	}
	return codes
}

// dice draws requests.
type dice struct {
	*rand.Rand
	known   shopFacts
	cursors map[string][]pageChoice // cursors of earlier responses, by coordinate

	promotions    []string    // created by the APIs in turn
	codes         [][3]string // created: the promotion, REST's code and GraphQL's
	stocks        [][2]string // created: REST's product and GraphQL's
	ledgerEntries [][2]string // ledger entries: the product and the transaction

	hints map[string]int // occurrences of each operation in Graphql-Request
}

func newDice(t *testing.T, seed uint64, shop string) *dice {
	return &dice{Rand: rand.New(rand.NewPCG(seed, 0)), known: newShopFacts(t, shop), cursors: map[string][]pageChoice{},
		hints: map[string]int{}}
}

// operation draws an operation.
func (d *dice) operation() parityTest {
	total := 0
	for _, p := range parityTests() {
		total += p.weight
	}
	n := d.IntN(total)
	for _, p := range parityTests() {
		if n -= p.weight; n < 0 {
			return p
		}
	}
	panic("weights add up")
}

// chance is true with a probability in percent.
func (d *dice) chance(percent int) bool { return d.IntN(100) < percent }

// pick draws one of several values.
func pick[T any](d *dice, of ...T) T { return of[d.IntN(len(of))] }
