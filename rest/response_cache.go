package rest

import (
	"net/http"

	"portico/graph/opctx"
	"portico/internal/responsecache"
	"portico/store/release"
)

// WithResponseCache caches responses of cacheable routes.
func WithResponseCache(room *responsecache.Cache) Option { return func(a *API) { a.responses = room } }

// maxCachedTarget is the longest path and query of a cached response, in bytes. Longer
// ones, such as filters with a thousand ids, rarely repeat.
const maxCachedTarget = 1 << 10

// varyCacheable is the header Vary of cacheable responses.
var varyCacheable = []string{opctx.Vary + ", Accept-Encoding"}

// serveCached writes a response of a cacheable route from the cache, or runs the handler
// and caches its response. The cache key has the catalog that the rules choose, and
// nothing in the response depends on the account. The scope was checked before.
func (a *API) serveCached(w http.ResponseWriter, r *http.Request, found route) error {
	if wantsGraphQLHint(r) { // the hint depends on the request
		return found.handle(a, w, r)
	}
	view, err := a.resolver.View(r.Context())
	if err != nil {
		return err
	}
	write := func() (*responsecache.Response, error) { return a.buildResponse(r, found, view) }
	var answer *responsecache.Response
	if key := cacheKey(view, r); key == "" {
		answer, err = write()
	} else {
		answer, err = a.responses.Do(r.Context(), key, opctx.Moment(view), write)
	}
	if err != nil {
		return err
	}
	w.Header()["Cache-Control"] = opctx.CacheControl(r)
	answer.ServeHTTP(w, r)
	return nil
}

// cacheKey is the view and the requested path and query, unchanged because links repeat
// them. It returns "" if they are too long to cache.
func cacheKey(view *release.View, r *http.Request) string {
	path := r.URL.EscapedPath()
	if len(path)+len(r.URL.RawQuery) > maxCachedTarget {
		return ""
	}
	var room [512]byte
	key := view.AppendKey(room[:0])
	return string(append(append(append(key, path...), '?'), r.URL.RawQuery...))
}

// buildResponse runs the route's handler for the response cache.
func (a *API) buildResponse(r *http.Request, found route, view *release.View) (*responsecache.Response, error) {
	d := &bufferedResponse{header: make(http.Header, 4)}
	if err := found.handle(a, d, r); err != nil {
		return nil, err
	}
	d.header.Del("Content-Length") // depends on compression
	answer := responsecache.NewResponse(d.body, d.header)
	return opctx.SetValidity(answer, view), nil
}
