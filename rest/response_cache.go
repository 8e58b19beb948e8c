package rest

import (
	"maps"
	"net/http"

	"portico/graph"
	"portico/graph/opctx"
	"portico/internal/cachekey"
	"portico/internal/reqctx"
	"portico/internal/responsecache"
	"portico/store/release"
)

// WithResponseCache caches responses of cacheable routes.
func WithResponseCache(cache *responsecache.Cache) Option {
	return func(a *API) { a.responses.Cache = cache }
}

// WithCachePolicy sets the headers by which HTTP caches store responses.
func WithCachePolicy(policy opctx.CachePolicy) Option {
	return func(a *API) { a.responses.Policy = policy }
}

// maxCachedTarget is the longest path and query of a cached response, in bytes. Longer
// ones, such as filters with a thousand ids, rarely repeat.
const maxCachedTarget = 1 << 10

// varyErrors is the header Vary of errors of cacheable routes, and varyCacheable that of
// their responses.
var (
	varyErrors    = []string{opctx.Vary + ", Accept-Encoding"}
	varyCacheable = opctx.NewVaryVariant("Accept-Encoding, Prefer")
)

// serveCached writes a response of a cacheable route from the cache, or runs the handler
// and caches its response. The cache key has the catalog that the rules choose, and
// nothing in the response depends on the account. The scope was checked before. The response is left to the front cache.
func (a *API) serveCached(w http.ResponseWriter, r *http.Request, found route) error {
	if wantsGraphQLHint(r) { // the hint depends on the request
		return found.handle(a, w, r)
	}
	view, err := a.resolver.View(r.Context())
	if err != nil {
		return err
	}
	buffered := &bufferedResponse{}
	if !a.responses.Enabled() {
		buffered.pooled = bufferPool.Get().(*[]byte)
		defer freeBuffer(buffered.pooled)
	}
	var key cachekey.Key // zero: do not cache
	if path := r.URL.EscapedPath(); len(path)+len(r.URL.RawQuery) <= maxCachedTarget {
		key = cacheKey(view, path, r.URL.RawQuery)
	}
	resp, err := a.responses.Do(r.Context(), view, key, func() (*responsecache.Response, error) { return a.buildResponse(buffered, r, found) })
	if err != nil {
		return err
	}
	_, candidate := a.resolver.BeginCandidate(r.Context(), reqctx.From(r.Context()))
	a.responses.Serve(w, r, graph.Delivery{Response: resp, Vary: varyCacheable, Candidate: candidate})
	return nil
}

// serveCandidate runs the handler of a route whose response depends on settings and stock alone, and
// makes it a candidate for requests that repeat this one.
func (a *API) serveCandidate(w http.ResponseWriter, r *http.Request, found route) error {
	ctx, candidate := a.resolver.BeginCandidate(r.Context(), reqctx.From(r.Context()))
	if candidate == nil || wantsGraphQLHint(r) {
		return found.handle(a, w, r)
	}
	buffered := &bufferedResponse{header: make(http.Header, 4)}
	if err := found.handle(a, buffered, r.WithContext(ctx)); err != nil {
		return err
	}
	buffered.header.Del("Content-Length") // depends on compression
	maps.Copy(w.Header(), buffered.header)
	a.responses.Serve(w, r, graph.Delivery{Response: responsecache.NewResponse(buffered.body, nil), Candidate: candidate, StockTime: buffered.stockTime})
	return nil
}

// cacheKey is the view and the requested path and query, unchanged because links repeat
// them.
func cacheKey(view *release.View, path, query string) cachekey.Key {
	var room [512]byte
	key := view.AppendKey(cachekey.AppendPart(room[:0], "rest"))
	return cachekey.Of(cachekey.AppendPart(cachekey.AppendPart(key, path), query))
}

// buildResponse runs the route's handler for the response cache. buffered takes what it writes.
func (a *API) buildResponse(buffered *bufferedResponse, r *http.Request, found route) (*responsecache.Response, error) {
	*buffered = bufferedResponse{header: make(http.Header, 4), pooled: buffered.pooled}
	if err := found.handle(a, buffered, r); err != nil {
		return nil, err
	}
	buffered.header.Del("Content-Length") // depends on compression
	return responsecache.NewResponse(buffered.body, buffered.header), nil
}
