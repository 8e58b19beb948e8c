package transport_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/stretchr/testify/require"

	"portico/graph/document"
	"portico/graph/graphtest"
	"portico/graph/opctx"
	"portico/graph/transport"
	"portico/store"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// canary is a value that an error must not repeat.
const canary = "hunter2-canary"

// shown is one HTTP request with what its response must be.
type shown struct {
	name    string
	method  string // POST unless set
	target  string // /graphql unless set
	kind    string // Content-Type; application/json for a body, unless set
	accept  string
	body    string
	status  int // 200 unless set
	data    string
	code    store.Code
	holds   []string
	headers map[string]string // of the answer
}

func (x shown) request(t *testing.T) *http.Request {
	method, target, kind := x.method, x.target, x.kind
	if method == "" {
		method = http.MethodPost
	}
	if target == "" {
		target = "/graphql"
	}
	if kind == "" && x.body != "" {
		kind = "application/json"
	}
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(x.body))
	if kind != "" && kind != "none" {
		r.Header.Set("Content-Type", kind)
	}
	if x.accept != "" {
		r.Header.Set("Accept", x.accept)
	}
	return graphtest.As(r, graphtest.Admin())
}

func runExchanges(t *testing.T, s *graphtest.Service, exchanges []shown) {
	for _, x := range exchanges {
		t.Run(x.name, func(t *testing.T) {
			a := s.Send(t, x.request(t))
			status := x.status
			if status == 0 {
				status = http.StatusOK
			}
			require.Equal(t, status, a.Code, "%s", a.Body)
			if x.code != "" {
				require.NotEmpty(t, a.Errors, "%s", a.Body)
				require.Equal(t, x.code, a.Errors[0].Extensions.Code, "%s", a.Body)
			} else {
				require.Empty(t, a.Errors, "%s", a.Body)
			}
			if x.data != "" {
				require.JSONEq(t, x.data, string(a.Data))
			}
			for _, text := range x.holds {
				require.Contains(t, a.Body.String(), text)
			}
			require.NotContains(t, a.Body.String(), canary, "the body is not echoed")
			if x.accept == "" {
				require.Equal(t, "application/json", a.Header().Get("Content-Type"))
			}
			for name, value := range x.headers {
				require.Equal(t, value, a.Header().Get(name), name)
			}
		})
	}
}

// get returns the URL of a query.
func get(parameters ...string) string {
	values := url.Values{}
	for i := 0; i+1 < len(parameters); i += 2 {
		values.Set(parameters[i], parameters[i+1])
	}
	return "/graphql?" + values.Encode()
}

const length = `{"settings":{"pageLength":25}}`

func TestOperationsOverHTTP(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		runExchanges(t, s, []shown{
			{name: "POST", body: `{"query":"{ settings { pageLength } }"}`, data: length},
			{name: "POST with a charset", body: `{"query":"{ settings { pageLength } }"}`, kind: "Application/JSON; charset=utf-8", data: length},
			{name: "POST with optional members", body: `{"query":"{ settings { pageLength } }","variables":null,"operationName":null,"extensions":{},"id":7}`, data: length},
			{name: "POST one of two operations", body: `{"query":"query a { settings { pageLength } } query b { settings { currency } }","operationName":"b"}`, data: `{"settings":{"currency":"USD"}}`},
			{name: "POST with variables", body: `{"query":"query($sku: String!) { product(by: {sku: $sku}) { uuid } }","variables":{"sku":"ANVIL"}}`, data: `{"product":{"uuid":"anvil"}}`},
			{name: "POST to a URL with a query", target: get("query", "{ settings { currency } }"), body: `{"query":"{ settings { pageLength } }"}`, data: length},
			{name: "GET", method: "GET", target: get("query", "{ settings { pageLength } }"), data: length},
			{name: "GET with variables", method: "GET", target: get("query", "query a($sku: String!) { product(by: {sku: $sku}) { uuid } }", "variables", `{"sku":"ANVIL"}`, "operationName", "a"), data: `{"product":{"uuid":"anvil"}}`},
			{name: "GET introspection", method: "GET", target: get("query", "{ __typename }"), data: `{"__typename":"Query"}`},
			{name: "graphql-response+json", body: `{"query":"{ settings { pageLength } }"}`, accept: "application/graphql-response+json, application/json;q=0.9", data: length,
				headers: map[string]string{"Content-Type": "application/graphql-response+json"}},
			{name: "graphql-response+json, with a field's error", body: `{"query":"{ stockTransactions(productId: \"none\") { totalCount } }"}`, accept: "application/graphql-response+json", code: store.NotFound, data: `{"stockTransactions":null}`,
				headers: map[string]string{"Content-Type": "application/graphql-response+json"}},
			{name: "graphql-response+json, without an operation", body: `{"query":"{ nothing }"}`, accept: "application/graphql-response+json", status: 400, code: store.Invalid},
			{name: "Vary headers", body: `{"query":"{ __typename }"}`, headers: map[string]string{"Vary": "Accept, Accept-Encoding, " + opctx.Vary}},
		})
	})
}

func TestInvalidRequests(t *testing.T) {
	t.Parallel()
	s := graphtest.Serve(nil) // none of these reaches the store
	object, after := []string{"one JSON object"}, []string{"expected the end, since the value is complete."}
	runExchanges(t, s, []shown{
		{name: "malformed", body: "{\n" + `"query":"` + canary, status: 400, code: store.Invalid, holds: []string{"The body is not JSON at line 2, column ", "expected more, since the text ends within a value."}},
		{name: "not JSON", body: canary, status: 400, code: store.Invalid, holds: []string{"The body is not JSON at line 1, column 1: expected a value."}},
		{name: "empty", body: "", kind: "application/json", status: 400, code: store.Invalid, holds: []string{"the text is empty"}},
		{name: "a list", body: `[{"query":"` + canary + `"}]`, status: 400, code: store.Invalid, holds: object},
		{name: "a text", body: `"` + canary + `"`, status: 400, code: store.Invalid, holds: object},
		{name: "two objects", body: `{"query":"{ __typename }"} {"query":"` + canary + `"}`, status: 400, code: store.Invalid, holds: after},
		{name: "text after the body", body: `{"query":"{ __typename }"}` + canary, status: 400, code: store.Invalid, holds: after},
		{name: "a bracket after the body", body: `{"query":"{ __typename }"}}`, status: 400, code: store.Invalid, holds: after},
		{name: "a query that is a number", body: `{"query":5,"note":"` + canary + `"}`, status: 400, code: store.Invalid, holds: object},
		{name: "variables that are a list", body: `{"query":"{ __typename }","variables":["` + canary + `"]}`, status: 400, code: store.Invalid, holds: object},
		{name: "no query", body: `{}`, status: 400, code: store.Invalid, holds: []string{"no operation provided"}},
		{name: "no query, but extensions", body: `{"extensions":{"other":1}}`, status: 400, code: store.Invalid, holds: []string{"no operation provided"}},
		{name: "nothing but space", body: `{"query":" # comment\n"}`, code: store.Invalid, holds: []string{"no operation provided"}},
		{name: "a null body", body: `null`, status: 400, code: store.Invalid},
		{name: "an empty query", body: `{"query":""}`, status: 400, code: store.Invalid},
		{name: "a document without operations", body: `{"query":"fragment a on Query { __typename }"}`, code: store.Invalid},
		{name: "an unknown operation", body: `{"query":"query a { __typename }","operationName":"b"}`, code: store.Invalid, holds: []string{"operation b not found"}},
		{name: "two operations without operationName", body: `{"query":"query a { __typename } query b { __typename }"}`, code: store.Invalid},
		{name: "a subscription", body: `{"query":"subscription { stocks { totalCount } }"}`, code: store.Invalid},
		{name: "GET without a query", method: "GET", target: "/graphql", status: 400, code: store.Invalid, holds: []string{"by GET as ?query="}},
		{name: "GET with a body", method: "GET", target: "/graphql", body: `{"query": "{ settings { currency } }"}`, status: 400, code: store.Invalid, holds: []string{"send it by POST", "by GET as ?query="}},
		{name: "GET with invalid variables", method: "GET", target: get("query", "{ __typename }", "variables", canary), status: 400, code: store.Invalid, holds: []string{"variables is not JSON at line 1, column 1"}},
		{name: "GET with invalid extensions", method: "GET", target: get("query", "{ __typename }", "extensions", canary), status: 400, code: store.Invalid, holds: []string{"extensions is not JSON at line 1, column 1"}},
		{name: "a form", body: "query=" + canary, kind: "application/x-www-form-urlencoded", status: 415, code: store.Invalid, holds: []string{"Content-Type: application/json"}},
		{name: "a multipart form", body: canary, kind: "multipart/form-data; boundary=x", status: 415, code: store.Invalid},
		{name: "plain text", body: `{"query":"{ __typename }"}`, kind: "text/plain", status: 415, code: store.Invalid},
		{name: "text with a JSON content type", body: `{"query":"{ __typename }"}`, kind: "text/plain; application/json", status: 415, code: store.Invalid},
		{name: "no type", body: `{"query":"{ __typename }"}`, kind: "none", status: 415, code: store.Invalid},
		{name: "PUT", method: "PUT", body: `{"query":"{ __typename }"}`, status: 405, code: store.Invalid, headers: map[string]string{"Allow": "GET, HEAD, POST, OPTIONS"}},
		{name: "DELETE", method: "DELETE", status: 405, code: store.Invalid, headers: map[string]string{"Allow": "GET, HEAD, POST, OPTIONS"}},
		{name: "PATCH", method: "PATCH", body: canary, status: 405, code: store.Invalid, headers: map[string]string{"Allow": "GET, HEAD, POST, OPTIONS"}},
		{name: "over 4 MiB", body: `{"query":"{ __typename }","note":"` + strings.Repeat("x", 4<<20) + `"}`, status: 413, code: store.Invalid, holds: []string{"4 MiB"}},
		{name: "over 4 MiB of space", body: strings.Repeat(" ", 4<<20) + `{"query":"{ __typename }"}`, status: 413, code: store.Invalid},
		{name: "4 MiB", body: `{"query":"{ __typename }"` + strings.Repeat(" ", 4<<20-26) + `}`, data: `{"__typename":"Query"}`},
	})
	require.Empty(t, s.Log.String())
}

func TestMutationsRequirePOST(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, "")
		mutation := `mutation { settingsUpdate(input: {pageLength: 3}) { settings { pageLength } } }`
		refused := map[string]string{"Allow": "POST"}
		runExchanges(t, s, []shown{
			{name: "GET", method: "GET", target: get("query", mutation), status: 405, code: store.Invalid, headers: refused},
			{name: "HEAD", method: "HEAD", target: get("query", mutation), status: 405, code: store.Invalid, headers: refused},
			{name: "GET one of two", method: "GET", target: get("query", "query a { __typename } "+strings.Replace(mutation, "mutation", "mutation b", 1), "operationName", "b"), status: 405, code: store.Invalid, headers: refused},
			{name: "GET the other of two", method: "GET", target: get("query", "query a { __typename } "+strings.Replace(mutation, "mutation", "mutation b", 1), "operationName", "a"), data: `{"__typename":"Query"}`},
			{name: "nothing was written", body: `{"query":"{ settings { pageLength } }"}`, data: length},
			{name: "POST", body: `{"query":"` + mutation + `"}`, data: `{"settingsUpdate":{"settings":{"pageLength":3}}}`},
		})
	})
}

func TestSchemaIsServed(t *testing.T) {
	t.Parallel()
	query, err := os.ReadFile("../testdata/introspection.graphql")
	require.NoError(t, err)
	s := graphtest.Serve(nil)
	a := s.Send(t, graphtest.As(graphtest.NewPost(t, string(query), nil), graphtest.Admin()))
	var data struct {
		Schema struct {
			Types []struct {
				Name, Description string
				SpecifiedByURL    *string
				Fields            []struct{ Name, Description string }
			}
		} `json:"__schema"`
	}
	a.Read(t, &data)
	found := map[string]bool{}
	for _, kind := range data.Schema.Types {
		found[kind.Name] = true
		if kind.Name == "DateTime" {
			require.NotNil(t, kind.SpecifiedByURL)
		}
		if kind.Name == "Product" {
			require.Equal(t, len(document.Schema().Types["Product"].Fields), len(kind.Fields))
		}
	}
	for name, definition := range document.Schema().Types {
		require.True(t, found[name] || definition.BuiltIn || strings.HasPrefix(name, "__"), name)
	}
}

func TestErrorsSuggestSimilarNames(t *testing.T) {
	t.Parallel()
	s := graphtest.Serve(nil)
	for query, suggestion := range map[string]string{
		`{ prodcts { totalCount } }`:                            `Did you mean \"products\"`,
		`{ settings { pageLenght } }`:                           `Did you mean \"pageLength\"`,
		`{ products(frist: 1) { totalCount } }`:                 `Did you mean \"first\"`,
		`{ products(filter: {tag: {eq: "a"}}) { totalCount } }`: `Did you mean`,
		`{ stocks(orderBy: {field: CREATED}) { totalCount } }`:  `Send one of these, without quotes: ID, CREATED_AT, UPDATED_AT.`,
		`{ settings }`:                                             `Did you mean \"settings { ... }\"?`,
		`{ products(first: 1) { name } }`:                          `on type \"ProductConnection\". Did you mean \"nodes { name }\"?`,
		`{ products { items { name } } }`:                          `on type \"ProductConnection\". Did you mean \"nodes\"?`,
		`{ products { edgs { cursor } } }`:                         `on type \"ProductConnection\". Did you mean \"edges\"?`,
		`{ products { edges { name } } }`:                          `on type \"ProductEdge\". Did you mean \"node { name }\"?`,
		`{ products { hasNextPage } }`:                             `on type \"ProductConnection\". Did you mean \"pageInfo { hasNextPage }\"?`,
		`{ products { count } }`:                                   `on type \"ProductConnection\"."`,
		`{ node(id: "a") { ... on Produkt { sku } } }`:             `Unknown type \"Produkt\"`,
		`mutation { setingsUpdate(input: {}) { __typename } }`:     `Did you mean \"settingsUpdate\"`,
		`query($f: ProductFiltr) { products { totalCount } }`:      `Unknown type \"ProductFiltr\"`,
		`query($n: Int!) { products(first: $n) { totalCount } }`:   `n`,
		`{ products(first: $n) { totalCount } }`:                   `Variable \"$n\" is not defined`,
		`{ products { totalCount { x } } }`:                        `totalCount`,
		`{ a: settings { pageLength } a: products { totalCount }}`: `conflict`,
	} {
		a := s.Send(t, graphtest.As(graphtest.NewPost(t, query, nil), graphtest.Admin()))
		require.NotEmpty(t, a.Errors, query)
		require.Equal(t, store.Invalid, a.Errors[0].Extensions.Code, query)
		require.Contains(t, a.Body.String(), suggestion, query)
	}
	require.Empty(t, s.Log.String(), "mistakes of callers are not logged as ours")
}

// A client that disconnects is not logged as a failure.
func TestClientThatDisconnects(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r := graphtest.As(graphtest.NewPost(t, `{ products { totalCount } }`, nil).WithContext(ctx), graphtest.Admin())
		w := httptest.NewRecorder()
		require.NotPanics(t, func() { s.Handler.ServeHTTP(w, r) })
		require.NotContains(t, w.Body.String(), store.Internal)
		require.NotContains(t, s.Log.String(), "panic")
		require.NotContains(t, s.Log.String(), "a resolver failed")
		if w.Body.Len() > 0 {
			require.True(t, json.Valid(w.Body.Bytes()), "%s", w.Body)
		}
	})
}

// Headers that no shopper sends are refused before anything runs, over HTTP and in connection_init.
func TestShopperHeadersAreLimited(t *testing.T) {
	t.Parallel()
	tooLong := strings.Repeat("en,", 400)
	l := newStreams(t, func(*transport.StreamConfig) {})
	for header, test := range map[string]struct{ value, message string }{
		"Accept-Language":   {tooLong, "The header Accept-Language must be at most 1024 bytes, got 1200."},
		"X-Moltin-Language": {tooLong, "The header X-Moltin-Language must be at most 1024 bytes, got 1200."},
		"X-Moltin-Currency": {"XX", `The header X-Moltin-Currency must be a code of three letters such as EUR, got "XX".`},
	} {
		r := graphtest.NewPost(t, `{ settings { currency } }`, nil)
		r.Header.Set(header, test.value)
		w := httptest.NewRecorder()
		graphtest.NewHandler(l.store).ServeHTTP(w, graphtest.As(r, graphtest.PublicClient()))
		require.Equal(t, http.StatusUnprocessableEntity, w.Code, "%s", w.Body)
		var response struct{ Errors []graphtest.Error }
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &response))
		require.Contains(t, response.Errors[0].Message, test.message)
		require.Equal(t, store.Unprocessable, response.Errors[0].Extensions.Code)

		reason := l.refusedInit(t, map[string]any{strings.ToLower(header): test.value})
		require.Contains(t, reason, test.message)
	}
	require.Contains(t, l.refusedInit(t, map[string]any{"x": strings.Repeat("x", 16<<10)}), "connection_init must have at most 16384 bytes")
}

// refusedInit sends connection_init on a WebSocket and returns the reason with which it closes.
func (l *streams) refusedInit(t *testing.T, payload map[string]any) string {
	t.Helper()
	conn := l.dial(t)
	require.NoError(t, wsjson.Write(t.Context(), conn, map[string]any{"type": "connection_init", "payload": payload}))
	var closed websocket.CloseError
	for {
		if _, _, err := conn.Read(t.Context()); err != nil {
			require.ErrorAs(t, err, &closed)
			require.EqualValues(t, 4400, closed.Code)
			return closed.Reason
		}
	}
}

// A WebSocket keeps what it reads of connection_init, and not the rest. The test counts memory, so it does not run in
// parallel with others.
func TestInitPayloadIsNotKept(t *testing.T) {
	l := newStreams(t, func(*transport.StreamConfig) {})
	const sockets = 64
	grown := func(payload map[string]any) int64 {
		var before, after runtime.MemStats
		goroutines := runtime.NumGoroutine()
		runtime.GC()
		runtime.ReadMemStats(&before)
		var open []*websocket.Conn
		for range sockets {
			conn := l.dial(t)
			require.NoError(t, wsjson.Write(t.Context(), conn, map[string]any{"type": "connection_init", "payload": payload}))
			require.Equal(t, "connection_ack", heard(t, conn).Type)
			open = append(open, conn)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		for _, conn := range open {
			require.NoError(t, conn.CloseNow())
		}
		testkit.Eventually(t, true, func() bool { return runtime.NumGoroutine() <= goroutines }) // nothing of them counts in the next round
		return int64(after.HeapAlloc) - int64(before.HeapAlloc)
	}
	large := map[string]any{"x": strings.Repeat("x", 15<<10)}
	grown(large) // what is allocated once
	few, many := grown(nil), grown(large)
	require.Less(t, many-few, int64(sockets*8<<10), "%d bytes with a large payload, %d without", many, few)
}
