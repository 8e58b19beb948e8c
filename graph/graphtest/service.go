// Package graphtest serves GraphQL over a test store and sends operations to it. Service is the server,
// Response what it returned; Client and Admin are principals. Only tests may import it.
package graphtest

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
	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph"
	"portico/graph/generated"
	"portico/graph/limits"
	"portico/graph/opctx"
	"portico/graph/transport"
	"portico/internal/auth"
	"portico/store"
	"portico/store/access"
	"portico/store/exchange"
	"portico/store/promotion/redeem"
	"portico/store/seal"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// Noon is the time in tests.
var Noon = time.Date(2024, 5, 30, 12, 0, 0, 0, time.UTC)

// Service is GraphQL over one store, and its log.
type Service struct {
	Store   *shop.Store
	Handler http.Handler
	Log     *testkit.LogBuffer
}

// Open imports and publishes a shop at Noon, and serves it.
func Open(t testing.TB, e storetest.Backend, lines string, options ...func(*shop.Config)) *Service {
	t.Helper()
	clock := storetest.WithClock(testkit.NewClock(Noon))
	s := e.Open(t, append([]func(*shop.Config){clock}, options...)...)
	Load(t, s, lines)
	return Serve(s, graph.WithTokens(NewTokens(t, s)))
}

// NewTokens returns a service that issues tokens at Noon.
func NewTokens(t testing.TB, s *shop.Store) *auth.Service {
	t.Helper()
	sealer, err := seal.New([]byte(strings.Repeat("k", seal.KeySize)))
	require.NoError(t, err)
	tokens, err := auth.New(t.Context(), s.Access, sealer, auth.Options{Clock: testkit.NewClock(Noon).Now})
	require.NoError(t, err)
	return tokens
}

// Shop returns the import lines of storetest's small shop.
func Shop() string { return strings.Join(storetest.ShopLines(), "\n") }

// Load imports a shop and publishes its catalogs.
func Load(t testing.TB, s *shop.Store, lines string) {
	t.Helper()
	_, err := s.Exchange.Import(t.Context(), "test", Reader(lines), exchange.ImportOptions{})
	require.NoError(t, err)
	ids, err := s.Releases.CatalogIDs(t.Context())
	require.NoError(t, err)
	for _, id := range ids {
		_, err := s.Publisher.Publish(t.Context(), "test", id, nil)
		require.NoError(t, err)
	}
}

// LoadCodes adds the promotion "spring" with the code HI, which order-0 redeemed once.
func LoadCodes(t testing.TB, s *Service) {
	t.Helper()
	Load(t, s.Store, `{"type":"promotion","id":"spring","name":"Spring","description":"","promotion_type":"fixed_discount","enabled":true,`+
		`"start":"2024-01-01","end":"2100-01-01","schema":{"currencies":[{"currency":"USD","amount":500}]}}`+"\n"+
		`{"type":"promotion_code","id":"spring-1","promotion_id":"spring","code":"HI","max_uses":3}`)
	_, err := s.Store.Redemptions.Redeem(t.Context(), "test", redeem.CodeUse{Code: "HI", Units: 1, Reference: "order-0"})
	require.NoError(t, err)
}

// Reader returns text as the source of an import.
func Reader(text string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

// Serve serves a store.
func Serve(s *shop.Store, options ...graph.Option) *Service {
	log := &testkit.LogBuffer{}
	handler := opctx.Middleware(transport.NewHandler(graph.NewResolver(s, options...), slog.New(slog.NewTextHandler(log, nil))))
	return &Service{Store: s, Handler: handler, Log: log}
}

// NewHandler returns a handler of a store's operations that logs nothing.
func NewHandler(s *shop.Store, options ...transport.Option) http.Handler {
	return opctx.Middleware(transport.NewHandler(graph.NewResolver(s), slog.New(slog.DiscardHandler), options...))
}

// ServeWithLimits serves the store of a service within other limits, with a log of its own.
func ServeWithLimits(s *Service, config limits.Config) *Service {
	log := &testkit.LogBuffer{}
	logger := slog.New(slog.NewTextHandler(log, nil))
	handler := transport.NewHandler(graph.NewResolver(s.Store), logger, transport.WithLimits(config))
	return &Service{Store: s.Store, Handler: opctx.Middleware(handler), Log: log}
}

// Schema returns the schema as it is served.
func Schema() *ast.Schema {
	return generated.NewExecutableSchema(generated.Config{}).Schema()
}

// Client returns a client with scopes.
func Client(scopes ...string) *auth.Principal {
	return &auth.Principal{ClientID: "tester", Grant: "client_credentials", Scopes: scopes}
}

// Admin returns a client with all scopes.
func Admin() *auth.Principal { return Client(access.Scopes()...) }

// PublicClient returns a client with an implicit token, which anyone can request.
func PublicClient() *auth.Principal {
	return &auth.Principal{ClientID: "shop front", Grant: "implicit", Scopes: []string{"catalog:read", "inventory:read"}}
}

// As sets the principal of a request. nil is anonymous.
func As(r *http.Request, p *auth.Principal) *http.Request {
	if p == nil {
		return r
	}
	return r.WithContext(auth.WithPrincipal(r.Context(), p))
}

// Variables are the variables of an operation.
type Variables map[string]any

// RequestBody returns the body of a request with an operation and its variables, a JSON object.
func RequestBody(query, variables string) string {
	text, _ := json.Marshal(query)
	return `{"query":` + string(text) + `,"variables":` + variables + `}`
}

// NewPost returns a POST request with an operation.
func NewPost(t testing.TB, query string, values Variables) *http.Request {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": values})
	require.NoError(t, err)
	r := NewRaw(t, string(body))
	if strings.HasPrefix(query, "subscription") {
		r.Header.Set("Accept", "text/event-stream")
	}
	return r
}

// NewRaw returns a POST request with a body that claims to be JSON.
func NewRaw(t testing.TB, body string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/graphql", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

// Post sends an operation as Admin. headers are pairs of name and value.
func (s *Service) Post(t testing.TB, query string, values Variables, headers ...string) *Response {
	t.Helper()
	r := NewPost(t, query, values)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return s.Send(t, As(r, Admin()))
}

// Response is a response with its decoded parts.
type Response struct {
	*httptest.ResponseRecorder
	Data   json.RawMessage
	Errors []Error
}

// Error is an error of a response.
type Error struct {
	Message    string
	Path       []any
	Extensions struct {
		Code     store.Code
		Argument []string
	}
}

// Send sends a request, and checks that each error of the response has a message and a known code. Of a
// stream it returns the first event.
func (s *Service) Send(t testing.TB, r *http.Request) *Response {
	t.Helper()
	resp := &Response{ResponseRecorder: httptest.NewRecorder()}
	if r.Header.Get("Accept") == "text/event-stream" {
		s.sendForEvent(resp, r)
	} else {
		s.Handler.ServeHTTP(resp, r)
	}
	require.NoError(t, json.Unmarshal(resp.Body.Bytes(), &resp), "%s", resp.Body)
	for _, e := range resp.Errors {
		require.Contains(t, store.Codes(), e.Extensions.Code, "extensions.code of %q", e.Message)
		require.NotEmpty(t, e.Message)
	}
	return resp
}

// sendForEvent writes the first event of a stream to resp.
func (s *Service) sendForEvent(resp *Response, r *http.Request) {
	ctx, end := context.WithCancel(r.Context())
	defer end()
	stream := &firstEvent{httptest.NewRecorder(), end}
	s.Handler.ServeHTTP(stream, r.WithContext(ctx))
	_, data, _ := strings.Cut(stream.Body.String(), "event: next\ndata: ")
	data, _, _ = strings.Cut(data, "\n")
	resp.Body.WriteString(data)
}

// firstEvent records a stream, and ends it after the first event.
type firstEvent struct {
	*httptest.ResponseRecorder
	end func()
}

// Flush implements http.Flusher.
func (e *firstEvent) Flush() {
	if bytes.Contains(e.Body.Bytes(), []byte("event: next")) {
		e.end()
	}
}

// Codes returns the codes of all errors.
func (r *Response) Codes() []store.Code {
	list := make([]store.Code, len(r.Errors))
	for i, e := range r.Errors {
		list[i] = e.Extensions.Code
	}
	return list
}

// Read decodes the data of a response without errors.
func (r *Response) Read(t testing.TB, into any) {
	t.Helper()
	require.Equal(t, http.StatusOK, r.Code, "%s", r.Body)
	require.Empty(t, r.Errors, "%s", r.Body)
	require.NoError(t, json.Unmarshal(r.Data, into), "%s", r.Data)
}
