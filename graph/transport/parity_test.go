package transport_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket/wsjson"
	"github.com/stretchr/testify/require"

	"portico/graph/document"
	"portico/graph/executor"
	"portico/graph/graphtest"
	"portico/graph/limits"
	transportx "portico/graph/transport"
	"portico/store"
	"portico/store/storetest/testkit"
)

// transports lists the transports of operations.
var transports = []string{"POST", "GET", "events by POST", "events by GET", "WebSocket"}

// response is what every transport can return.
type response struct {
	Data       json.RawMessage   `json:"data"`
	Errors     []graphtest.Error `json:"errors"`
	Extensions json.RawMessage   `json:"extensions"`
}

func (r *response) codes() (codes []store.Code) {
	for _, fault := range r.Errors {
		codes = append(codes, fault.Extensions.Code)
	}
	return codes
}

// over sends a request over a transport, and returns its one response.
func (l *streams) over(t *testing.T, transport string, sent map[string]any) (got response) {
	t.Helper()
	if transport == "WebSocket" {
		conn := l.socket(t)
		require.NoError(t, wsjson.Write(t.Context(), conn, map[string]any{"type": "subscribe", "id": "1", "payload": sent}))
		m := heard(t, conn)
		if m.Type == "error" {
			require.NoError(t, json.Unmarshal(m.Payload, &got.Errors))
			return got
		}
		require.Equal(t, "next", m.Type)
		require.NoError(t, json.Unmarshal(m.Payload, &got))
		require.Equal(t, "complete", heard(t, conn).Type)
		require.NoError(t, conn.CloseNow())
		return got
	}
	method, target, body := http.MethodPost, pipeURL, []byte(nil)
	if strings.Contains(transport, "GET") {
		method = http.MethodGet
		values := url.Values{}
		for name, value := range sent {
			text, ok := value.(string)
			if !ok {
				text = string(store.Encode(value))
			}
			values.Set(name, text)
		}
		target += "?" + values.Encode()
	} else {
		body = store.Encode(sent)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, target, bytes.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", l.token)
	events := strings.HasPrefix(transport, "events")
	if events {
		r.Header.Set("Accept", "text/event-stream")
	}
	answered, err := l.client.Do(r)
	require.NoError(t, err)
	text, err := io.ReadAll(answered.Body)
	require.NoError(t, err)
	require.NoError(t, answered.Body.Close())
	if events {
		next, rest, ok := bytes.Cut(bytes.TrimPrefix(text, []byte(":\n\nevent: next\ndata: ")), []byte("\n\n"))
		require.True(t, ok, "%s", text)
		require.Equal(t, "event: complete\n\n", string(rest))
		text = next
	}
	require.NoError(t, json.Unmarshal(text, &got), "%s", text)
	return got
}

// Each way to name a persisted document works over every transport.
func TestPersistedDocumentsOverEveryTransport(t *testing.T) {
	t.Parallel()
	const trusted, sent, other = `{ settings { pageLength } }`, `{ settings { currency } }`, `{ settings { locale } }`
	manifest, err := document.ReadManifest([]byte(manifests["Relay"]), document.TrustOff, limits.Defaults())
	require.NoError(t, err)
	extension := func(id string) map[string]any {
		return map[string]any{"persistedQuery": map[string]any{"version": 1, "sha256Hash": id}}
	}
	const lengths, currencies = `{"settings":{"pageLength":25}}`, `{"settings":{"currency":"USD"}}`
	steps := []struct {
		name, outcome string
		request       map[string]any
		data          string
		code          store.Code
	}{
		{"the text", "", map[string]any{"query": sent}, currencies, ""},
		{"a hash that is not known, as documentId", "missing", map[string]any{"documentId": document.Hash(sent)}, "", store.NotFound},
		{"a hash that is not known, as the extension", "missing", map[string]any{"extensions": extension(document.Hash(sent))}, "", store.NotFound},
		{"the text with another's hash, as documentId", "mismatched", map[string]any{"query": other, "documentId": document.Hash(sent)}, "", store.Invalid},
		{"the text with another's hash, as the extension", "mismatched", map[string]any{"query": other, "extensions": extension(document.Hash(sent))}, "", store.Invalid},
		{"the text with its hash, as documentId", "sent", map[string]any{"query": sent, "documentId": "sha256:" + document.Hash(sent)}, currencies, ""},
		{"the text with its hash, as the extension", "sent", map[string]any{"query": sent, "extensions": extension(document.Hash(sent))}, currencies, ""},
		{"a hash, as documentId", "found", map[string]any{"documentId": document.Hash(sent)}, currencies, ""},
		{"a hash with its prefix", "found", map[string]any{"documentId": "sha256:" + document.Hash(sent)}, currencies, ""},
		{"a hash, as the extension", "found", map[string]any{"extensions": extension(document.Hash(sent))}, currencies, ""},
		{"a hash beside another extension", "found", map[string]any{"documentId": document.Hash(sent), "extensions": map[string]any{"other": 1}}, currencies, ""},
		{"a trusted id, as documentId", "trusted", map[string]any{"documentId": "by-id"}, lengths, ""},
		{"a trusted id, as the extension", "trusted", map[string]any{"extensions": extension("by-id")}, lengths, ""},
		{"the text with its trusted id", "trusted", map[string]any{"query": trusted, "documentId": "by-id"}, lengths, ""},
		{"the text with another's trusted id", "mismatched", map[string]any{"query": other, "documentId": "by-id"}, "", store.Invalid},
	}
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			counted, want := &outcomes{counts: map[string]int{}}, map[string]int{}
			l := newStreams(t, func(*transportx.StreamConfig) {}, transportx.WithManifest(manifest), transportx.CountDocuments(counted.count))
			for _, step := range steps {
				got := l.over(t, transport, step.request)
				if step.code != "" {
					require.Equal(t, []store.Code{step.code}, got.codes(), "%s: %+v", step.name, got)
				} else {
					require.Empty(t, got.Errors, step.name)
					require.JSONEq(t, step.data, string(got.Data), step.name)
				}
				if step.outcome != "" {
					want[step.outcome]++
				}
				counted.mu.Lock()
				require.Equal(t, want, counted.counts, step.name)
				counted.mu.Unlock()
			}
		})
	}
}

// runs counts the executors that ran queries.
type runs struct {
	mu     sync.Mutex
	counts map[string]int
}

func (r *runs) count(executor string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[executor]++
}

func (r *runs) taken() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.counts
	r.counts = map[string]int{}
	return taken
}

// Plans run every query over every transport, but for queries of the schema alone, which gqlgen
// runs.
func TestPlansRunEveryQuery(t *testing.T) {
	t.Parallel()
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			counted := &runs{counts: map[string]int{}}
			l := newStreams(t, func(*transportx.StreamConfig) {}, transportx.CountExecutors(counted.count))
			for booleans := range 21 {
				query, values := `{ settings { currency } }`, map[string]any{}
				if booleans > 0 {
					query, values = graphtest.ConditionalQuery(booleans, func(i int) bool { return i%3 == 0 })
				}
				for range 2 { // the second time it is known
					got := l.over(t, transport, map[string]any{"query": query, "variables": values})
					require.Empty(t, got.Errors)
					if booleans > 2 {
						require.Regexp(t, `^{"settings":{"f0":"USD","g1":25,"g2":25`, string(got.Data))
					}
					require.Equal(t, map[string]int{"plan": 1}, counted.taken(), "%d Booleans", booleans)
				}
			}
			for query, executor := range map[string]string{
				`{ __typename }`:                                   "plan",
				`{ __schema { queryType { name } } }`:              "gqlgen",
				`{ __typename a: __type(name: "Query") { name } }`: "gqlgen",
				`{ __schema { queryType { name } } settings { currency } __type(name: "Query") { kind } }`:        "plan",
				`query { ...F } fragment F on Query { a: __type(name: "Settings") { name } settings { locale } }`: "plan",
			} {
				for range 2 {
					got := l.over(t, transport, map[string]any{"query": query})
					require.Empty(t, got.Errors)
					require.Equal(t, map[string]int{executor: 1}, counted.taken(), query)
				}
			}
		})
	}
}

// A query over a stream has the data, errors, limits, cost and statistics of POST.
func TestTransportsReturnTheSameResponse(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var ran []executor.OperationStats
	var fields []string
	told := transportx.CountOperations(func(_ context.Context, one executor.OperationStats) {
		mu.Lock()
		defer mu.Unlock()
		one.Took = min(one.Took, 1)
		ran = append(ran, one)
	}, nil)
	counted := transportx.CountFields(func(_ context.Context, field string) {
		mu.Lock()
		defer mu.Unlock()
		fields = append(fields, field)
	})
	counts := &runs{counts: map[string]int{}}
	l := newStreams(t, func(*transportx.StreamConfig) {}, told, counted, transportx.CountExecutors(counts.count))
	for name, request := range map[string]map[string]any{
		"data":                    {"query": `query Data { products(first: 3) { nodes { id sku stock { available } } } }`},
		"an operation of several": {"query": `query A { __typename } query B { settings { currency } }`, "operationName": "B"},
		"variables":               {"query": `query V($n: Int!) { products(first: $n) { totalCount } }`, "variables": map[string]any{"n": 2}},
		"a wrong variable":        {"query": `query V($n: Int!) { products(first: $n) { totalCount } }`, "variables": map[string]any{"n": "two"}},
		"an error beside data":    {"query": `query E { settings { currency } products(first: 1, after: "nowhere") { totalCount } }`},
		"an error that hides":     {"query": `query E { gateways { nodes { name } } products(first: 1, after: "my secret") { totalCount } }`},
		"a cost that is asked":    {"query": `query C { settings { currency } }`, "extensions": map[string]any{"cost": true}},
		"a cost that is too high": {"query": `query C { catalogNodes(first: 100) { nodes { children(first: 100) { nodes { products(first: 100) { nodes { id } } } } } } }`},
		"an unknown field":        {"query": `query U { nothing }`},
		"no JSON path":            {"query": `query {`},
		"an unknown operation":    {"query": `query A { __typename } query B { __typename }`, "operationName": "C"},
		"the schema":              {"query": `{ __type(name: "Settings") { name } }`},
		"the schema and data":     {"query": `{ __type(name: "Settings") { name } settings { currency } }`},
		"a null condition":        {"query": `query N($c: Boolean = true) { settings { currency @include(if: $c) } }`, "variables": map[string]any{"c": nil}},
	} {
		var want response
		var wantRan []executor.OperationStats
		var wantFields []string
		var wantRuns map[string]int
		for i, transport := range transports {
			got := l.over(t, transport, request)
			testkit.Eventually(t, 1, func() int { // of a stream it is told as it ends
				mu.Lock()
				defer mu.Unlock()
				return len(ran)
			})
			mu.Lock()
			gotRan, gotFields := ran, fields
			ran, fields = nil, nil
			mu.Unlock()
			gotRuns := counts.taken()
			slices.Sort(gotFields)
			if string(got.Data) == "null" && len(gotFields) == 0 { // the library's events have it where nothing ran
				got.Data = nil
			}
			if i == 0 {
				want, wantRan, wantFields, wantRuns = got, gotRan, gotFields, gotRuns
				continue
			}
			if transport == "WebSocket" && want.Data == nil {
				want.Extensions = nil // an error of graphql-transport-ws has no place for them
			}
			require.Equal(t, want, got, "%s: %s", name, transport)
			require.Equal(t, wantFields, gotFields, "%s: %s", name, transport)
			require.Equal(t, wantRuns, gotRuns, "%s: %s", name, transport)
			gotRan[0].Took = wantRan[0].Took // 0 over a stream for what did not begin
			require.Equal(t, wantRan, gotRan, "%s: %s", name, transport)
		}
	}
}
