package graph_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/graph"
	"portico/graph/opctx"
	"portico/graph/transport"
	"portico/internal/auth"
	"portico/store"
	"portico/store/access"
	"portico/store/exchange"
	"portico/store/seal"
	"portico/store/shop"
	"portico/store/storetest"
)

func TestMain(m *testing.M) { storetest.SQLiteMain(m) }

// noon is when these tests take place.
var noon = time.Date(2024, 5, 30, 12, 0, 0, 0, time.UTC)

// service is GraphQL over one store, and what it wrote to its log.
type service struct {
	store   *shop.Store
	handler http.Handler
	log     *storetest.LogBuffer
}

// open imports and publishes a shop at noon, and serves it.
func open(t testing.TB, e storetest.Backend, lines string, options ...func(*shop.Config)) *service {
	t.Helper()
	noonClock := storetest.WithClock(storetest.NewClock(noon))
	s := e.Open(t, append([]func(*shop.Config){noonClock}, options...)...)
	load(t, s, lines)
	return serve(s, graph.WithTokens(minting(t, s)))
}

// minting issues tokens, at noon.
func minting(t testing.TB, s *shop.Store) *auth.Service {
	t.Helper()
	sealer, err := seal.New([]byte(strings.Repeat("k", seal.KeySize)))
	require.NoError(t, err)
	tokens, err := auth.New(t.Context(), s, sealer, auth.Options{Clock: storetest.NewClock(noon).Now})
	require.NoError(t, err)
	return tokens
}

// handmade is storetest's small shop.
func handmade() string { return strings.Join(storetest.ShopLines(), "\n") }

// load imports a shop and publishes its catalogs.
func load(t testing.TB, s *shop.Store, lines string) {
	t.Helper()
	_, err := s.Import(t.Context(), "test", reading(lines), exchange.ImportOptions{})
	require.NoError(t, err)
	ids, err := s.CatalogIDs(t.Context())
	require.NoError(t, err)
	for _, id := range ids {
		_, err := s.Publish(t.Context(), "test", id, nil)
		require.NoError(t, err)
	}
}

// reading makes an import read text.
func reading(text string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

func serve(s *shop.Store, options ...graph.Option) *service {
	log := &storetest.LogBuffer{}
	handler := opctx.Middleware(transport.NewHandler(graph.NewResolver(s, options...), slog.New(slog.NewTextHandler(log, nil))))
	return &service{s, handler, log}
}

// with is a client that has these scopes.
func with(scopes ...string) *auth.Principal {
	return &auth.Principal{ClientID: "tester", Grant: "client_credentials", Scopes: scopes}
}

// admin is a client that may do everything.
func admin() *auth.Principal { return with(access.Scopes()...) }

// by has a principal ask; nil is nobody.
func by(r *http.Request, p *auth.Principal) *http.Request {
	if p == nil {
		return r
	}
	return r.WithContext(auth.WithPrincipal(r.Context(), p))
}

// variables are those of an operation.
type variables map[string]any

// newPost is an operation as a client posts it.
func newPost(t testing.TB, query string, values variables) *http.Request {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": values})
	require.NoError(t, err)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/graphql", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if strings.HasPrefix(query, "subscription") {
		r.Header.Set("Accept", "text/event-stream")
	}
	return r
}

// post has an admin ask; headers come in pairs.
func (s *service) post(t testing.TB, query string, values variables, headers ...string) *answer {
	t.Helper()
	r := newPost(t, query, values)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return s.send(t, by(r, admin()))
}

// answer is what came back, in its parts.
type answer struct {
	*httptest.ResponseRecorder
	Data   json.RawMessage
	Errors []fault
}

// fault is an error as clients read it.
type fault struct {
	Message    string
	Path       []any
	Extensions struct {
		Code     store.Code
		Argument []string
	}
}

// send sends any request, and holds what is promised of every answer.
func (s *service) send(t testing.TB, r *http.Request) *answer {
	t.Helper()
	a := &answer{ResponseRecorder: httptest.NewRecorder()}
	if r.Header.Get("Accept") == "text/event-stream" {
		s.first(a, r)
	} else {
		s.handler.ServeHTTP(a, r)
	}
	require.NoError(t, json.Unmarshal(a.Body.Bytes(), &a), "%s", a.Body)
	for _, e := range a.Errors {
		require.Contains(t, store.Codes(), e.Extensions.Code, "extensions.code of %q", e.Message)
		require.NotEmpty(t, e.Message)
	}
	return a
}

// first is a stream's first event, as an answer.
func (s *service) first(a *answer, r *http.Request) {
	ctx, end := context.WithCancel(r.Context())
	defer end()
	stream := &oneEvent{httptest.NewRecorder(), end}
	s.handler.ServeHTTP(stream, r.WithContext(ctx))
	_, data, _ := strings.Cut(stream.Body.String(), "event: next\ndata: ")
	data, _, _ = strings.Cut(data, "\n")
	a.Body.WriteString(data)
}

// oneEvent records a stream, and goes away once it has an event.
type oneEvent struct {
	*httptest.ResponseRecorder
	end func()
}

func (e *oneEvent) Flush() {
	if strings.Contains(e.Body.String(), "event: next") {
		e.end()
	}
}

// codes are the errors in a word each.
func (a *answer) codes() []store.Code {
	list := make([]store.Code, len(a.Errors))
	for i, e := range a.Errors {
		list[i] = e.Extensions.Code
	}
	return list
}

// read reads the data of an answer without errors.
func (a *answer) read(t testing.TB, into any) {
	t.Helper()
	require.Equal(t, http.StatusOK, a.Code, "%s", a.Body)
	require.Empty(t, a.Errors, "%s", a.Body)
	require.NoError(t, json.Unmarshal(a.Data, into), "%s", a.Data)
}

// newRaw is a body as it stands, said to be JSON.
func newRaw(t testing.TB, body string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/graphql", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}
