package rest

import (
	"net/http"

	"portico/graph/opctx"
	"portico/internal/responsecache"
	"portico/store/release"
)

// WithResponseCache has answers be kept in a room; without it each is made anew, and all
// else is the same.
func WithResponseCache(room *responsecache.Cache) Option { return func(a *API) { a.responses = room } }

// maxCachedTarget bounds the path and query of what is kept, in bytes: nobody
// asks twice for a filter with a thousand ids.
const maxCachedTarget = 1 << 10

// varyCacheable is what released answers depend on, made once.
var varyCacheable = []string{opctx.Vary + ", Accept-Encoding"}

// serveCached answers with what a release says, and with nothing that is live or
// of one account: kept if it was asked for before, else as the route's handler
// makes it. The scope was required, and the rules choose the release, before
// anything is looked up.
func (a *API) serveCached(w http.ResponseWriter, r *http.Request, found route) error {
	if wantsGraphQLHint(r) { // in GraphQL's words too, which nobody asks for twice
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
		answer, err = a.responses.Do(r.Context(), key, view.Now(), write)
	}
	if err != nil {
		return err
	}
	w.Header()["Cache-Control"] = opctx.CacheControl(r)
	answer.ServeHTTP(w, r)
	return nil
}

// cacheKey names an answer: what the view shows, and what is asked of it, as it
// is written, since links repeat it. It is empty for what is too long to keep.
func cacheKey(view *release.View, r *http.Request) string {
	path := r.URL.EscapedPath()
	if len(path)+len(r.URL.RawQuery) > maxCachedTarget {
		return ""
	}
	var room [512]byte
	key := view.AppendKey(room[:0])
	return string(append(append(append(key, path...), '?'), r.URL.RawQuery...))
}

// buildResponse makes a released answer by the route's handler.
func (a *API) buildResponse(r *http.Request, found route, view *release.View) (*responsecache.Response, error) {
	d := &bufferedResponse{header: make(http.Header, 4)}
	if err := found.handle(a, d, r); err != nil {
		return nil, err
	}
	d.header.Del("Content-Length") // which depends on the form that is sent
	answer := responsecache.NewResponse(d.body, d.header)
	return opctx.SetValidity(answer, view), nil
}

// bufferedResponse takes what a handler writes.
type bufferedResponse struct {
	header http.Header
	body   []byte
}

// Header implements http.ResponseWriter.
func (d *bufferedResponse) Header() http.Header { return d.header }

// WriteHeader implements http.ResponseWriter; handlers of what is released
// write 200, or return an error.
func (*bufferedResponse) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (d *bufferedResponse) Write(body []byte) (int, error) {
	d.body = append(d.body, body...)
	return len(body), nil
}
