// Package frontcache answers requests that repeat an earlier one exactly, before the middleware runs.
//
// A handler whose response will be the same as long as certain data does not change leaves a Candidate on the request. The
// Cache keeps it under all that the response depends on: the method, the URI, the headers that some handler reads, the body, and
// the rights of the caller, but not who the caller is, so that all shoppers share it. Headers that no handler reads are ignored,
// and a request with one that is not part of the key is left to the handler. Each time, the token is verified, the request is logged and counted, and the candidate
// says whether it still holds. It must not import the GraphQL and REST packages.
package frontcache

import (
	"context"
	"net/http"
	"sync"
	"time"

	"portico/internal/auth"
	"portico/internal/cachekey"
	"portico/internal/reqctx"
	"portico/internal/responsecache"
	"portico/internal/web"
	"portico/internal/web/middleware"
	"portico/internal/web/server"
)

// Config is what a Cache needs of the layers behind it.
type Config struct {
	Responses *responsecache.Cache                                // has the entries, within its budget
	BodyTime  time.Duration                                       // for which a body may be awaited; 0 for ever
	OnRequest func(context.Context)                               // is called before a request is answered from the cache
	CallerOf  func(*http.Request) any                             // auth.Service.CallerOf
	OnAnswer  func(*reqctx.Request, *http.Request, *web.Recorder) // logs and counts a request that was answered from the cache
}

// Cache answers repeated requests. Its methods are safe for concurrent use.
type Cache struct {
	Config
	lookups sync.Pool
}

// New returns a cache.
func New(config Config) *Cache {
	return &Cache{Config: config, lookups: sync.Pool{New: func() any { return &lookup{} }}}
}

// entry is what is known of a request. Without a candidate it says that the request was seen. Config.Responses has the response.
type entry struct {
	key       string                   // lookup.key; its name in Config.Responses is a hash of that
	candidate *responsecache.Candidate // nil for a request that was only seen
	response  cachekey.Key             // the key of the response
	tag       string                   // of the response: another one may take its place
	header    []headerField            // of the response, but for what Response and SetCaching set
	route     string
	name      string // of the GraphQL operation
}

// headerField is a header field of a response.
type headerField struct {
	name   string
	values []string
}

const (
	// maxBodyBytes limits the bodies of responses: writing longer ones needs deadlines of their own.
	maxBodyBytes = 256 << 10

	// joinedBytes is the size of bodies from which their write is joined with that of the header.
	joinedBytes = 6 << 10

	entryBytes = 352 // memory of an entry with its place in the cache
	fieldBytes = 64  // of a header field
)

// Size implements responsecache.Entry.
func (e *entry) Size() int {
	if e.candidate == nil {
		return entryBytes
	}
	return entryBytes + len(e.key) + len(e.header)*fieldBytes + e.candidate.Bytes
}

// responseOf returns the response of an entry; nil if it was evicted or replaced. It counts as a use of the response, so that a
// response that is only asked for through entries is not evicted.
func (c *Cache) responseOf(e *entry) *responsecache.Response {
	if kept, ok := c.Responses.Lookup(e.response).(*responsecache.Response); ok && kept.ETag == e.tag {
		return kept
	}
	return nil
}

// Middleware answers what it can, and passes the rest to next. It must be the outermost layer of a server that
// limits the time of writes.
func (c *Cache) Middleware(next http.Handler) http.Handler {
	if !c.Responses.Enabled() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l := c.lookups.Get().(*lookup)
		if !c.serve(l, w, r, next) {
			next.ServeHTTP(w, r)
		}
		l.reset()
		c.lookups.Put(l)
	})
}

// serve answers a request that may repeat another, from the cache or by next. It returns false, with nothing read or written, for
// any other, which the caller passes to next.
func (c *Cache) serve(l *lookup, w http.ResponseWriter, r *http.Request, next http.Handler) bool {
	if !l.begin(r) || w.Header()["Connection"] != nil || server.IsDraining(r.Context()) {
		return false
	}
	start := time.Now()
	if r.Method == http.MethodPost && !l.readBody(w, r, c.BodyTime) {
		next.ServeHTTP(w, l.again(r))
		return true
	}
	caller := c.CallerOf(r)
	principal, valid := caller.(*auth.Principal)
	if !valid && caller != nil { // the handler knows whether the error of the token matters
		next.ServeHTTP(w, l.again(r))
		return true
	}
	name := l.endKey(principal)
	found, _ := c.Responses.Lookup(name).(*entry)
	if found != nil && found.candidate != nil && found.key == string(l.key) {
		c.OnRequest(r.Context())
		l.counted = true
		if now, resp := c.current(name, found); resp != nil {
			c.answer(l, w, r, now, resp, start, caller, principal)
			return true
		}
	}
	c.pass(l, w, l.again(r), next, name, found != nil, start, caller)
	return true
}

// current returns the entry with its response if it holds, or a renewed one, which takes its place. The response is nil if neither
// is known to hold, or if it was evicted.
func (c *Cache) current(name cachekey.Key, e *entry) (*entry, *responsecache.Response) {
	resp := c.responseOf(e)
	if resp == nil || e.candidate.Current() {
		return e, resp
	}
	if e.candidate.Renew == nil {
		return nil, nil
	}
	candidate := e.candidate.Renew(resp)
	if candidate == nil {
		return nil, nil
	}
	renewed := *e
	return &renewed, c.set(name, &renewed, candidate)
}

// set keeps an entry with a candidate, and returns the candidate's response, which has a key of its own.
func (c *Cache) set(name cachekey.Key, e *entry, candidate *responsecache.Candidate) *responsecache.Response {
	resp := candidate.Response
	e.candidate, e.response, e.tag = candidate, c.Responses.Add(cachekey.Join(responseKey, name), resp), resp.ETag
	candidate.Response = nil // the cache has it, and may evict it
	c.Responses.Set(name, e)
	return resp
}

// responseKey begins the keys of responses that their handlers have not cached.
var responseKey = cachekey.New("front response")

// answer writes the response of an entry, and logs and counts the request.
func (c *Cache) answer(l *lookup, w http.ResponseWriter, r *http.Request, e *entry, resp *responsecache.Response, start time.Time, caller any, principal *auth.Principal) {
	c.Responses.CountHit()
	l.req = reqctx.Request{Context: r.Context(), Start: start, Caller: caller, Route: e.route, OperationName: e.name, ID: middleware.RequestIDOf(r, start)}
	l.rec = web.Recorder{ResponseWriter: w}
	header := w.Header()
	for _, f := range e.header {
		header[f.name] = f.values
	}
	header[middleware.RequestIDHeader] = []string{l.req.ID} // it may be read after l is used again
	if e.candidate.SetCaching != nil {
		var expires time.Time
		if principal != nil {
			expires = principal.Expires
		}
		e.candidate.SetCaching(header, expires)
	}
	if len(resp.Body) >= joinedBytes {
		joined := server.JoinWrites(r)
		defer joined.End()
	}
	if e.candidate.Tagged {
		resp.ServeHTTP(&l.rec, r)
	} else {
		resp.ServeWithoutETag(&l.rec, r)
	}
	l.req.Status = l.rec.Status
	if e.candidate.Count != nil {
		e.candidate.Count(&l.req)
	}
	c.OnAnswer(&l.req, r, &l.rec)
}

// pass runs the handler, and keeps its candidate. Of a request that was not seen before it keeps that it was seen, so that what is
// asked once costs little.
func (c *Cache) pass(l *lookup, w http.ResponseWriter, r *http.Request, next http.Handler, name cachekey.Key, seen bool, start time.Time, caller any) {
	r, req := reqctx.Begin(r)
	req.Start, req.Caller, req.WantsCandidate, req.Counted = start, caller, seen, l.counted
	l.rec = web.Recorder{ResponseWriter: w}
	next.ServeHTTP(&l.rec, r)
	if l.rec.Status != http.StatusOK {
		return
	}
	candidate, ok := req.Candidate.(*responsecache.Candidate)
	switch {
	case ok && len(candidate.Response.Body) <= maxBodyBytes:
		e := &entry{key: string(l.key), route: req.Route, name: req.OperationName}
		for field, values := range w.Header() {
			if !ownHeader(field) {
				e.header = append(e.header, headerField{field, values})
			}
		}
		c.set(name, e, candidate)
	case !seen:
		c.Responses.Set(name, &entry{})
	}
}

// ownHeader reports whether a header field of a response belongs to one request, or to the form of its body.
func ownHeader(name string) bool {
	switch name {
	case middleware.RequestIDHeader, "Content-Length", "Content-Encoding", "Etag", "Date":
		return true
	}
	return false
}
