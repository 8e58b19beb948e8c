package frontcache_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/internal/cachekey"
	"portico/internal/reqctx"
	"portico/internal/responsecache"
	"portico/internal/web"
	"portico/internal/web/frontcache"
	"portico/internal/web/middleware"
)

// fronted is a handler behind a front cache.
type fronted struct {
	http.Handler
	status  int
	renew   func(*responsecache.Response) *responsecache.Candidate
	body    string
	current bool

	handled, answered, wanted int
	requests                  int    // that were counted
	sent                      string // body that the handler read last
	sentErr                   error
	principals                map[string]*auth.Principal // by the header Authorization
	callerErr                 any
	counted                   []string // clients of the requests that were answered in front
}

func newFronted() *fronted {
	f := &fronted{status: http.StatusOK, body: "body", current: true}
	front := frontcache.New(frontcache.Config{Responses: responsecache.NewCache(8 << 20), OnRequest: func(context.Context) { f.requests++ },
		CallerOf: func(r *http.Request) any {
			if p := f.principals[r.Header.Get("Authorization")]; p != nil {
				return p
			}
			return f.callerErr
		},
		OnAnswer: func(req *reqctx.Request, _ *http.Request, rec *web.Recorder) {
			f.answered++
			f.counted = append(f.counted, auth.ClientID(req))
		}})
	f.Handler = front.Middleware(middleware.OnRequest(func(context.Context) { f.requests++ })(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.handled++
		sent, err := io.ReadAll(r.Body)
		f.sent, f.sentErr = string(sent), err
		req := reqctx.From(r.Context())
		if req != nil && req.WantsCandidate {
			f.wanted++
			req.Candidate = &responsecache.Candidate{Response: responsecache.NewResponse([]byte(f.body), nil), Current: func() bool { return f.current }, Renew: f.renew}
		}
		w.Header().Set("Own", "of the response")
		w.WriteHeader(f.status)
		_, _ = io.WriteString(w, f.body)
	})))
	return f
}

func (f *fronted) send(t *testing.T, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	require.Equal(t, f.status, w.Code)
	require.Equal(t, f.body, w.Body.String())
	require.Equal(t, "of the response", w.Header().Get("Own"))
	return w
}

func get(target string, headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

// TestFrontCacheAnswersRepeats requires that the first request leaves no response, the second one does, and later ones are answered
// as long as the candidate holds.
func TestFrontCacheAnswersRepeats(t *testing.T) {
	t.Parallel()
	f := newFronted()
	for i, want := range []struct{ handled, wanted, answered int }{{1, 0, 0}, {2, 1, 0}, {2, 1, 1}, {2, 1, 2}} {
		w := f.send(t, get("/a"))
		require.Equal(t, want.handled, f.handled, i)
		require.Equal(t, want.wanted, f.wanted, i)
		require.Equal(t, want.answered, f.answered, i)
		if want.answered > 0 {
			require.NotEmpty(t, w.Header().Get("X-Request-Id"))
		}
	}
	f.current, f.body = false, "changed"
	f.send(t, get("/a"))
	require.Equal(t, 3, f.handled)
	f.current = true
	f.send(t, get("/a"))
	require.Equal(t, 3, f.handled, "the changed response is kept")
}

// TestFrontCachePassesOthers lists requests that are never answered in front.
func TestFrontCachePassesOthers(t *testing.T) {
	t.Parallel()
	post := func(target, body string) *http.Request {
		return httptest.NewRequest(http.MethodPost, target, strings.NewReader(body))
	}
	chunked := post("/graphql", "{}")
	chunked.ContentLength, chunked.TransferEncoding = -1, []string{"chunked"}
	for name, request := range map[string]func() *http.Request{
		"a preference":                  func() *http.Request { return get("/a", "Prefer", "b") },
		"a range":                       func() *http.Request { return get("/a", "Range", "bytes=0-1") },
		"an idempotency key":            func() *http.Request { return get("/a", "Idempotency-Key", "x") },
		"a preview":                     func() *http.Request { return get("/a", "Store-Catalog-Release", "9") },
		"a consistency token":           func() *http.Request { return get("/a", "Consistency-Token", "x") },
		"a compressed body":             func() *http.Request { return get("/a", "Content-Encoding", "gzip") },
		"an upgrade":                    func() *http.Request { return get("/graphql", "Upgrade", "websocket") },
		"HEAD":                          func() *http.Request { return httptest.NewRequest(http.MethodHead, "/a", nil) },
		"a write by REST":               func() *http.Request { return post("/v2/inventories", "{}") },
		"a body of unknown length":      func() *http.Request { return chunked },
		"a body that is long":           func() *http.Request { return post("/graphql", strings.Repeat(" ", 17<<10)) },
		"a long URI":                    func() *http.Request { return get("/a?" + strings.Repeat("a", 17<<10)) },
		"a health check":                func() *http.Request { return get(web.HealthPath) },
		"a request with a query's body": func() *http.Request { return httptest.NewRequest(http.MethodGet, "/a", strings.NewReader("x")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFronted()
			for range 4 {
				f.send(t, request())
			}
			require.Equal(t, 4, f.handled)
			require.Zero(t, f.wanted)
		})
	}
	for name, set := range map[string]func(*fronted){
		"an error":                        func(f *fronted) { f.status = http.StatusNotFound },
		"a response that is long":         func(f *fronted) { f.body = strings.Repeat("x", 257<<10) },
		"a token that cannot be verified": func(f *fronted) { f.callerErr = errors.New("no database") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFronted()
			set(f)
			for range 4 {
				f.send(t, get("/a"))
			}
			require.Equal(t, 4, f.handled)
			require.Zero(t, f.answered)
		})
	}
}

// TestFrontCacheKeys requires that requests that differ in what decides responses share none, and that those that differ in
// nothing else share one.
func TestFrontCacheKeys(t *testing.T) {
	t.Parallel()
	post := func(body string) *http.Request {
		return httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(body))
	}
	different := []func() *http.Request{
		func() *http.Request { return get("/a") }, func() *http.Request { return get("/b") }, func() *http.Request { return get("/a?b") },
		func() *http.Request { return get("/a", "Accept", "b") }, func() *http.Request { return get("/a", "Accept-Language", "b") },
		func() *http.Request { return get("/a", "Accept", "a", "Accept", "b") }, func() *http.Request { return get("/a", "Accept", "a, b") },
		func() *http.Request { return get("/a", "Store-Channel", "b") }, func() *http.Request { return get("/a", "EP-Channel", "b") },
		func() *http.Request { return get("/a", "Origin", "b") },
		func() *http.Request { return post("a") }, func() *http.Request { return post("b") },
		func() *http.Request { return get("/a", "Authorization", "more") }, func() *http.Request { return get("/a", "Authorization", "account") },
		func() *http.Request { return get("/a", "Authorization", "tag") }, func() *http.Request { return get("/a", "Authorization", "customer") },
		func() *http.Request { return get("/a", "Authorization", "one") },
	}
	for _, header := range []string{"Content-Type", "X-Moltin-Currency", "X-Moltin-Language", "Store-Context-Tag", "EP-Context-Tag", "EP-Inventories-Multi-Location"} {
		different = append(different, func() *http.Request { return get("/a", header, "b") })
	}
	f := newFronted()
	scopes := []string{"catalog:read"}
	f.principals = map[string]*auth.Principal{"one": {ClientID: "one", Scopes: scopes}, "two": {ClientID: "two", Scopes: scopes}, "more": {Scopes: append(scopes, "inventory:read")},
		"account": {Scopes: scopes, AccountID: "a"}, "tag": {Scopes: scopes, AccountTags: []string{"a"}}, "customer": {Scopes: scopes, CustomerID: "a"}}
	for range 3 {
		for i, request := range different {
			f.body = string(rune('a' + i))
			f.send(t, request())
		}
	}
	require.Equal(t, 2*len(different), f.handled)
	require.Equal(t, len(different), f.answered)
	f.body = string(rune('a' + slices.IndexFunc(different, func(request func() *http.Request) bool { return request().Header.Get("Authorization") == "one" })))
	f.send(t, get("/a", "Authorization", "two", "User-Agent", "other", "Cookie", "x", "Sec-Fetch-Mode", "cors", "Cf-Ray", "8a", "X-Amzn-Trace-Id", "Root=1", "X-Scheme", "https"))
	require.Equal(t, 2*len(different), f.handled, "another client with the same rights shares the response")
	require.Equal(t, "two", f.counted[len(f.counted)-1], "and is counted as itself")
}

// TestFrontCacheKeepsBodies requires that handlers read the bodies that were sent, and the errors at their ends.
func TestFrontCacheKeepsBodies(t *testing.T) {
	t.Parallel()
	f := newFronted()
	for range 4 {
		f.send(t, httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(`{"query":"{ a }"}`)))
		require.Equal(t, `{"query":"{ a }"}`, f.sent)
		require.NoError(t, f.sentErr)
	}
	require.Equal(t, 2, f.handled)
	broken := httptest.NewRequest(http.MethodPost, "/graphql", io.MultiReader(strings.NewReader(`{"query"`), iotest.ErrReader(io.ErrUnexpectedEOF)))
	broken.ContentLength = 17
	f.send(t, broken)
	require.Equal(t, `{"query"`, f.sent)
	require.ErrorIs(t, f.sentErr, io.ErrUnexpectedEOF)
	require.Equal(t, 3, f.handled)
}

// TestFrontCacheAllocations limits the allocations of an answer.
func TestFrontCacheAllocations(t *testing.T) {
	f := newFronted()
	r, w := get("/a", "Authorization", "one"), &discard{http.Header{}}
	for range 3 {
		f.ServeHTTP(w, r)
	}
	f.counted = make([]string, 0, 1000)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { f.ServeHTTP(w, r) }), 4.0)
	require.Equal(t, 2, f.handled)
}

// discard is a response writer that keeps nothing but the header.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}

// TestFrontCacheRefersToSharedResponses makes a candidate of a response that the cache has under a key of its own. The entry must not
// count its bytes again, and must end when the response is evicted or replaced.
func TestFrontCacheRefersToSharedResponses(t *testing.T) {
	t.Parallel()
	responses := responsecache.NewCache(8 << 20)
	body := []byte(strings.Repeat("x", 100<<10))
	resp, err := responses.Do(t.Context(), cachekey.New("key"), responsecache.Moment{}, func() (*responsecache.Response, error) { return responsecache.NewResponse(body, nil), nil })
	require.NoError(t, err)
	handled := 0
	front := frontcache.New(frontcache.Config{Responses: responses, OnRequest: func(context.Context) {}, CallerOf: func(*http.Request) any { return nil },
		OnAnswer: func(*reqctx.Request, *http.Request, *web.Recorder) {}})
	handler := front.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handled++
		reqctx.From(r.Context()).Candidate = &responsecache.Candidate{Response: resp, Tagged: true, Current: func() bool { return true }}
		resp.ServeHTTP(w, r)
	}))
	before := responses.Stats().Bytes
	for range 4 {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, get("/a"))
		require.Equal(t, body, w.Body.Bytes())
	}
	require.Equal(t, 1, handled)
	require.Less(t, responses.Stats().Bytes-before, uint64(1<<10))
	responses.Set(cachekey.New("key"), responsecache.NewResponse(append(body, 'x'), nil)) // another one
	handler.ServeHTTP(httptest.NewRecorder(), get("/a"))
	require.Equal(t, 2, handled)
}

// TestCandidatesAreRenewed requires that a renewed response takes the place of the old one.
func TestCandidatesAreRenewed(t *testing.T) {
	t.Parallel()
	f := newFronted()
	renewals := 0
	f.renew = func(*responsecache.Response) *responsecache.Candidate {
		renewals++
		f.body = "body anew"
		return &responsecache.Candidate{Response: responsecache.NewResponse([]byte(f.body), nil), Current: func() bool { return true }}
	}
	for range 3 {
		f.send(t, get("/x"))
	}
	require.Equal(t, 2, f.handled)
	f.current = false
	for range 3 {
		f.send(t, get("/x"))
	}
	require.Equal(t, 2, f.handled)
	require.Equal(t, 1, renewals)

	f = newFronted()
	f.renew = func(*responsecache.Response) *responsecache.Candidate { return nil }
	for range 3 {
		f.send(t, get("/x"))
	}
	f.current = false
	f.send(t, get("/x"))
	require.Equal(t, 3, f.handled)
	require.Equal(t, 4, f.requests, "each is counted once, by the front or behind it")
}
