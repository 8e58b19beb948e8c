package transport_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph"
	"portico/graph/document"
	"portico/graph/graphtest"
	"portico/graph/limits"
	"portico/graph/opctx"
	"portico/graph/transport"
	"portico/internal/responsecache"
	"portico/store"
	"portico/store/storetest"
)

// hashed returns the extension that names a document by its hash.
func hashed(query string) string {
	sum := sha256.Sum256([]byte(query))
	return named(hex.EncodeToString(sum[:]))
}

// named returns the extension that names a document by any id.
func named(id string) string {
	return fmt.Sprintf(`{"persistedQuery":{"version":1,"sha256Hash":%q}}`, id)
}

// outcomes counts the outcomes of documents.
type outcomes struct {
	mu     sync.Mutex
	counts map[string]int
}

func (o *outcomes) count(outcome string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.counts[outcome]++
}

// naming serves a store and counts the outcomes of documents.
func naming(s *graphtest.Service, options ...transport.Option) (*graphtest.Service, *outcomes) {
	counted := &outcomes{counts: map[string]int{}}
	options = append(options, transport.CountDocuments(counted.count))
	handler := transport.NewHandler(graph.NewResolver(s.Store), slog.New(slog.NewTextHandler(s.Log, nil)), options...)
	return &graphtest.Service{Store: s.Store, Handler: opctx.Middleware(handler), Log: s.Log}, counted
}

// As Apollo's clients do it: the hash, then the document with it, then the hash alone, by POST or
// GET.
func TestPersistedQueries(t *testing.T) {
	t.Parallel()
	const query, other = `{ settings { pageLength } }`, `query b($sku: String!) { product(by: {sku: $sku}) { uuid } }`
	const missing = `"message":"PersistedQueryNotFound"`
	modern := "application/graphql-response+json, application/json;q=0.9"
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s, counted := naming(graphtest.Open(t, e, graphtest.Shop()), transport.WithResponseCache(responsecache.NewCache(1<<20)))
		runExchanges(t, s, []shown{
			{name: "unknown", body: `{"extensions":` + hashed(query) + `}`, code: store.NotFound, holds: []string{missing}},
			{name: "unknown, by GET", method: "GET", target: get("extensions", hashed(query)), code: store.NotFound, holds: []string{missing}, headers: map[string]string{"Cache-Control": "no-store"}},
			{name: "unknown, graphql-response+json", body: `{"extensions":` + hashed(query) + `}`, accept: modern, code: store.NotFound, holds: []string{missing}},
			{name: "another's hash", body: fmt.Sprintf(`{"query":%q,"extensions":%s}`, query, hashed(other)), code: store.Invalid, holds: []string{"does not match its hash or id"}},
			{name: "no hash", body: fmt.Sprintf(`{"query":%q,"extensions":{"persistedQuery":{"version":2,"sha256Hash":"x"}}}`, query), code: store.Invalid, holds: []string{`{\"version\": 1`}},
			{name: "nothing was cached", body: `{"extensions":` + hashed(query) + `}`, code: store.NotFound, holds: []string{missing}},
			{name: "an invalid document is not cached", body: fmt.Sprintf(`{"query":"{ nothing }","extensions":%s}`, hashed("{ nothing }")), code: store.Invalid},
			{name: "nor found", body: `{"extensions":` + hashed("{ nothing }") + `}`, code: store.NotFound, holds: []string{missing}},
			{name: "sent with its hash", body: fmt.Sprintf(`{"query":%q,"extensions":%s}`, query, hashed(query)), data: length},
			{name: "known", body: `{"extensions":` + hashed(query) + `}`, data: length},
			{name: "cached, with the same bytes", body: `{"extensions":` + hashed(query) + `}`, data: length},
			{name: "known, by GET", method: "GET", target: get("extensions", hashed(query)), data: length},
			{name: "known, as the specification has it", method: "GET", target: get("documentId", "sha256:"+strings.Split(hashed(query), `"`)[7]), data: length},
			{name: "the other, by GET", method: "GET", target: get("query", other, "variables", `{"sku":"ANVIL"}`, "extensions", hashed(other)), data: `{"product":{"uuid":"anvil"}}`},
			{name: "with variables", method: "GET", target: get("variables", `{"sku":"ANVIL"}`, "extensions", hashed(other)), data: `{"product":{"uuid":"anvil"}}`, headers: map[string]string{"Cache-Control": "public, no-cache"}},
			{name: "with others", method: "GET", target: get("variables", `{"sku":"NONE"}`, "extensions", hashed(other)), data: `{"product":null}`},
		})
		require.Equal(t, map[string]int{"missing": 5, "mismatched": 1, "sent": 3, "found": 6}, counted.counts)

		r := shown{method: "GET", target: get("variables", `{"sku":"ANVIL"}`, "extensions", hashed(other))}.request(t)
		first := s.Send(t, r)
		tag := first.Header().Get("Etag")
		require.NotEmpty(t, tag)
		r.Header.Set("If-None-Match", tag)
		again := httptest.NewRecorder()
		s.Handler.ServeHTTP(again, r)
		require.Equal(t, http.StatusNotModified, again.Code)
	})
}

func TestPersistedMutationsRequirePOST(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s, _ := naming(graphtest.Open(t, e, ""))
		const mutation = `mutation { settingsUpdate(input: {pageLength: 3}) { settings { pageLength } } }`
		runExchanges(t, s, []shown{
			{name: "sent", body: fmt.Sprintf(`{"query":%q,"extensions":%s}`, mutation, hashed(mutation)), data: `{"settingsUpdate":{"settings":{"pageLength":3}}}`},
			{name: "GET", method: "GET", target: get("extensions", hashed(mutation)), status: 405, code: store.Invalid},
			{name: "POST", body: `{"extensions":` + hashed(mutation) + `}`, data: `{"settingsUpdate":{"settings":{"pageLength":3}}}`},
		})
	})
}

// manifests has the formats of build tools.
var manifests = map[string]string{
	"Relay":  `{"by-id": "{ settings { pageLength } }", "another": "mutation { settingsUpdate(input: {pageLength: 3}) { settings { pageLength } } }"}`,
	"Apollo": `{"format": "apollo-persisted-query-manifest", "version": 1, "operations": [{"id": "by-id", "name": "a", "type": "query", "body": "{ settings { pageLength } }"}]}`,
}

func TestTrustedDocuments(t *testing.T) {
	t.Parallel()
	const query, other = `{ settings { pageLength } }`, `query other { settings { currency } }`
	trusting := func(t *testing.T, s *graphtest.Service, format string, mode document.TrustMode) (*graphtest.Service, *outcomes) {
		manifest, err := document.ReadManifest([]byte(manifests[format]), mode, limits.Defaults())
		require.NoError(t, err)
		return naming(s, transport.WithManifest(manifest))
	}
	always := []shown{
		{name: "by id", body: `{"extensions":` + named("by-id") + `}`, data: length},
		{name: "by id, again", body: `{"extensions":` + named("by-id") + `}`, data: length},
		{name: "by id, by GET", method: "GET", target: get("extensions", named("by-id")), data: length},
		{name: "by id, as the specification has it", body: `{"documentId":"by-id"}`, data: length},
		{name: "as it is written", body: fmt.Sprintf(`{"query":%q}`, query), data: length},
		{name: "both", body: fmt.Sprintf(`{"query":%q,"extensions":%s}`, query, named("by-id")), data: length},
		{name: "another's id", body: fmt.Sprintf(`{"query":%q,"extensions":%s}`, other, named("by-id")), code: store.Invalid},
	}
	ran := `{"settings":{"currency":"USD"}}`
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		base := graphtest.Open(t, e, "")
		for format := range manifests {
			s, counted := trusting(t, base, format, document.TrustEnforce)
			runExchanges(t, s, append(always, []shown{
				{name: "another", body: fmt.Sprintf(`{"query":%q}`, other), status: 403, code: store.Forbidden, holds: []string{"manifest"}},
				{name: "another with its hash", body: fmt.Sprintf(`{"query":%q,"extensions":%s}`, other, hashed(other)), status: 403, code: store.Forbidden},
				{name: "another's hash alone", body: `{"extensions":` + hashed(other) + `}`, status: 403, code: store.Forbidden},
				{name: "introspection", body: `{"query":"{ __schema { description } }"}`, status: 403, code: store.Forbidden},
				{name: "a document that does not parse", body: `{"query":"{ } }"}`, status: 403, code: store.Forbidden},
			}...))
			require.Equal(t, map[string]int{"trusted": 6, "mismatched": 1, "refused": 5}, counted.counts)

			s, counted = trusting(t, base, format, document.TrustOff)
			runExchanges(t, s, append(always, shown{name: "another", body: fmt.Sprintf(`{"query":%q}`, other), data: ran}))
			require.Equal(t, map[string]int{"trusted": 6, "mismatched": 1}, counted.counts)
			require.NotContains(t, base.Log.String(), "manifest")
		}
		s, counted := trusting(t, base, "Relay", document.TrustLog)
		runExchanges(t, s, append(always,
			shown{name: "another", body: fmt.Sprintf(`{"query":%q}`, other), data: ran},
			shown{name: "another with its hash", body: fmt.Sprintf(`{"query":%q,"extensions":%s}`, other, hashed(other)), data: ran},
			shown{name: "another's hash alone", body: `{"extensions":` + hashed(other) + `}`, data: ran}))
		require.Equal(t, map[string]int{"trusted": 6, "mismatched": 1, "untrusted": 3}, counted.counts)
		require.Equal(t, 1, strings.Count(base.Log.String(), "is not in the manifest"), "told once")
		require.Contains(t, base.Log.String(), "operation=other")
	})
}

func TestManifestErrors(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		``:                     "must be",
		`[]`:                   "must be",
		`{}`:                   "must be",
		`{"a": 1}`:             "must be",
		`{"a": "{ nothing }"}`: `the document "a" cannot run`,
		`{"a": "{ settings "}`: `the document "a" cannot run`,
		`{"format": "apollo-persisted-query-manifest", "version": 2}`:                                                  "version 2",
		`{"format": "apollo-persisted-query-manifest", "version": 1, "operations": [{"body": "{ __typename }"}]}`:      "no id",
		`{"format": "apollo-persisted-query-manifest", "version": 1, "operations": [{"id": "b", "body": "{ nope }"}]}`: `the document "b" cannot run`,
	} {
		_, err := document.ReadManifest([]byte(text), document.TrustEnforce, limits.Defaults())
		require.ErrorContains(t, err, says, text)
	}
}
