package server

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"sync"

	"portico/internal/auth"
	"portico/internal/reqctx"
	"portico/internal/web"
)

// ConcurrencyLimiter limits how many requests run at once, so that response times stay low under load.
// Without it, a client that sends twice what the server can do makes all requests wait for seconds
// (TestOverloadAnswersOrRefuses), and 100 expensive requests at once fill its memory
// (TestConcurrentExpensiveRequests).
//
// Reads and writes have separate limits, so that blocked writes do not delay reads. Further requests
// wait in a queue. A request is refused before any work is done if the queue is full or its wait
// exceeds Limits.RequestWait.
//
// A request holds its slot from the end of its body to the first byte of its response. So slow
// clients, streams and WebSockets hold none.
//
// Expensive requests, which cost much or have a large response, have a small limit of their own, which
// bounds the memory and processor time they take. They hold their slot until the response is written.
// A client that reads such a response slowly loses its connection once other expensive requests wait. Expensive events
// of streams have half that limit to themselves.
type ConcurrencyLimiter struct{ reads, writes, expensive, events semaphore }

const (
	requestsPerCore  = 16
	writesPerCore    = 32 // more than reads, because most wait for the commit that they share
	expensivePerCore = 2
	maxExpensive     = 8

	// maxQueuedInMemory is how many requests may wait for each expensive slot while they hold a
	// part of their response in memory.
	maxQueuedInMemory = 4
)

// NewConcurrencyLimiter returns a limiter by Limits.Requests, RequestsWaiting, RequestWait and
// RequestsExpensive.
func NewConcurrencyLimiter(l Limits) *ConcurrencyLimiter {
	requests, writes := l.Requests, l.Requests
	if requests == 0 {
		requests, writes = requestsPerCore*runtime.GOMAXPROCS(0), writesPerCore*runtime.GOMAXPROCS(0)
	}
	expensive := l.RequestsExpensive
	if expensive == 0 {
		expensive = min(requests, maxExpensive, expensivePerCore*runtime.GOMAXPROCS(0))
	}
	sized := func(limit int) semaphore { return newSemaphore(limit, l.RequestsWaiting, l.RequestWait) }
	return &ConcurrencyLimiter{reads: sized(requests), writes: sized(writes), expensive: sized(expensive), events: sized(max(1, expensive/2))}
}

// AcquireRead waits for a slot to read, for work outside of Middleware. Only the first call of release gives it back.
func (c *ConcurrencyLimiter) AcquireRead(ctx context.Context) (release func(), err error) {
	return c.reads.acquireOnce(ctx)
}

// AcquireWrite is AcquireRead for a slot to write.
func (c *ConcurrencyLimiter) AcquireWrite(ctx context.Context) (release func(), err error) {
	return c.writes.acquireOnce(ctx)
}

// AcquireExpensive waits for a slot for an expensive request. inMemory says that a part of the response
// is in memory already: then fewer may wait. A request gives its slot to read back, but keeps one to write; its expensive slot
// ends with its response, so that release does nothing. For an event of a stream release gives the slot back.
func (c *ConcurrencyLimiter) AcquireExpensive(ctx context.Context, inMemory bool) (release func(), err error) {
	w := responseWriterOf(ctx)
	s := &c.expensive
	switch {
	case w == nil: // an event of a stream
		s = &c.events
	case w.expensive != nil: // it has its slot already
		return func() {}, nil
	case w.slot.held.Load() == &c.reads: // it runs in its expensive slot from here on
		w.slot.release()
	}
	maxQueue := s.maxQueue
	if inMemory {
		maxQueue = min(maxQueue, maxQueuedInMemory*s.limit)
	}
	if err := s.acquire(ctx, maxQueue); err != nil {
		return func() {}, err
	}
	if w == nil {
		return sync.OnceFunc(s.release), nil
	}
	w.expensive = s
	return func() {}, nil
}

// responseWriterOf returns the writer of the request that ctx belongs to; nil outside of Middleware and
// for streams.
func responseWriterOf(ctx context.Context) *deadlineWriter {
	if req := reqctx.From(ctx); req != nil {
		if w, ok := req.Writer.(*deadlineWriter); ok && !w.unbounded {
			return w
		}
	}
	return nil
}

// SwitchToWrite exchanges the slot of a request for one to write, for requests that turn out to write
// once they are parsed.
func (c *ConcurrencyLimiter) SwitchToWrite(w http.ResponseWriter, r *http.Request) error {
	dw := deadlineWriterOf(w)
	if dw == nil {
		return nil
	}
	return dw.slot.acquire(r.Context(), &c.writes)
}

// The kinds of requests that Stats reports, as metrics name them.
const (
	ReadRequests      = "read"
	WriteRequests     = "write"
	ExpensiveRequests = "expensive"
)

// Stats returns how many requests of a kind run and wait now, and how many were refused since the start.
func (c *ConcurrencyLimiter) Stats(kind string) (running, waiting int, refused uint64) {
	kinds := map[string][]*semaphore{ReadRequests: {&c.reads}, WriteRequests: {&c.writes}, ExpensiveRequests: {&c.expensive, &c.events}}
	for _, s := range kinds[kind] {
		s.mu.Lock()
		running, waiting, refused = running+s.inUse, waiting+s.queue.Len(), refused+s.refused
		s.mu.Unlock()
	}
	return running, waiting, refused
}

// Middleware has requests acquire a slot, except health checks. It must run inside Serve and LimitBody;
// without Serve it does nothing.
func (c *ConcurrencyLimiter) Middleware(writeError func(http.ResponseWriter, *http.Request, error)) web.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			dw := deadlineWriterOf(w)
			if dw == nil || web.IsHealthCheck(r.URL.Path) {
				next.ServeHTTP(w, r)
				return
			}
			s := &c.reads
			if isRESTWrite(r) {
				s = &c.writes
			}
			defer dw.slot.release()
			r, req := reqctx.Begin(r)
			req.Writer = dw
			req.LockWaiter = &dw.slot
			if r.Body != nil && r.Body != http.NoBody && r.Method != http.MethodGet && r.Method != http.MethodHead {
				dw.body = acquiringBody{ReadCloser: r.Body, ctx: r.Context(), slot: &dw.slot, semaphore: s}
				r.Body = &dw.body
			} else if err := dw.slot.acquire(r.Context(), s); err != nil {
				writeError(w, r, err)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// isRESTWrite reports whether a request writes by its method, unless its scope allows only to read, as that of
// POST /v2/inventories/multiple. GraphQL mutations show only once they are parsed.
func isRESTWrite(r *http.Request) bool {
	if web.FirstSegment(r.URL) != "v2" || r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions {
		return false
	}
	scope, _ := auth.Scope(r.Method + " " + r.URL.Path)
	return !strings.HasSuffix(scope, ":read")
}
