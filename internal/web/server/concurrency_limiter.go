package server

import (
	"container/list"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"portico/internal/reqctx"
	"portico/internal/web"
	"portico/store"
)

// ConcurrencyLimiter bounds how many requests are worked on at once, so that what is
// accepted is answered soon however much comes. Reads and writes have each
// their own turns, and writes that stand still keep no reader. Beyond the bound
// a request waits its turn in a line; where the line is full, or its turn does
// not come in time, it is refused, before anything is done for it.
//
// A turn begins once the body is read, and ends with the first byte of the
// answer: neither a slow client, nor a stream, nor a WebSocket holds one.
type ConcurrencyLimiter struct{ reads, writes, expensive, events semaphore }

// requestsPerCore is how many requests of each kind are worked on at once for
// each core.
const requestsPerCore = 16

// NewConcurrencyLimiter has the bounds on requests.
func NewConcurrencyLimiter(b Limits) *ConcurrencyLimiter {
	at := b.Requests
	if at == 0 {
		at = requestsPerCore * runtime.GOMAXPROCS(0)
	}
	of := func(most int) semaphore { return newSemaphore(most, b.RequestsWaiting, b.RequestWait) }
	expensive := b.expensiveRequests(at)
	return &ConcurrencyLimiter{reads: of(at), writes: of(at), expensive: of(expensive), events: of(max(1, expensive/2))}
}

// AcquireRead takes a turn among reads; end gives it back, once.
func (t *ConcurrencyLimiter) AcquireRead(ctx context.Context) (end func(), err error) {
	return t.reads.acquireOnce(ctx)
}

// AcquireWrite takes a turn among writes.
func (t *ConcurrencyLimiter) AcquireWrite(ctx context.Context) (end func(), err error) {
	return t.writes.acquireOnce(ctx)
}

// The kinds of turns, as metrics name them.
const (
	ReadRequests      = "read"
	WriteRequests     = "write"
	ExpensiveRequests = "expensive"
)

// Stats is how many requests of a kind are worked on, wait, and were refused until
// now.
func (t *ConcurrencyLimiter) Stats(kind string) (busy, waiting int, refused uint64) {
	for _, of := range map[string][]*semaphore{ReadRequests: {&t.reads}, WriteRequests: {&t.writes}, ExpensiveRequests: {&t.expensive, &t.events}}[kind] {
		of.mu.Lock()
		busy, waiting, refused = busy+of.inUse, waiting+of.queue.Len(), refused+of.refused
		of.mu.Unlock()
	}
	return busy, waiting, refused
}

// semaphore are those of one kind.
type semaphore struct {
	limit, maxQueue int
	timeout         time.Duration

	mu      sync.Mutex
	inUse   int
	queue   *list.List // of chan struct{}, the first who came in front
	writing *list.List // of *deadlineWriter that are written with their turn, the longest in front
	refused uint64
}

// acquire waits for a turn, where fewer wait than there is room for.
func (t *semaphore) acquire(ctx context.Context, room int) error {
	t.mu.Lock()
	if t.inUse < t.limit {
		t.inUse++
		t.mu.Unlock()
		return nil
	}
	if t.queue.Len() >= room || t.timeout <= 0 {
		t.refused++
		t.mu.Unlock()
		return errOverloaded()
	}
	called := make(chan struct{})
	place := t.queue.PushBack(called)
	t.evict()
	t.mu.Unlock()
	timer := time.NewTimer(t.timeout)
	defer timer.Stop()
	select {
	case <-called:
		return nil
	case <-ctx.Done():
	case <-timer.C:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-called: // meanwhile
		return nil
	default:
	}
	t.queue.Remove(place)
	t.refused++
	return errOverloaded()
}

// release has the next one begin.
func (t *semaphore) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if first := t.queue.Front(); first != nil {
		close(t.queue.Remove(first).(chan struct{}))
		return
	}
	t.inUse--
}

func (t *semaphore) acquireOnce(ctx context.Context) (end func(), err error) {
	if err := t.acquire(ctx, t.maxQueue); err != nil {
		return func() {}, err
	}
	return sync.OnceFunc(t.release), nil
}

func errOverloaded() error {
	return &store.Error{Code: store.Unavailable, Detail: "The server has more to do than it can; nothing was done for this request. Try again in a moment, and ask for less at once."}
}

// slot is what a request has of them. Only the request's own goroutine begins
// one.
type slot struct {
	held atomic.Pointer[semaphore] // nil for none
}

func (t *slot) release() {
	if had := t.held.Swap(nil); had != nil {
		had.release()
	}
}

// OnLockWait implements store.LockWaitListener: a write that waits for rows which
// another transaction holds has no turn, so that others write meanwhile.
func (t *slot) OnLockWait() { t.release() }

// acquire takes a turn in place of the one that there is.
func (t *slot) acquire(ctx context.Context, among *semaphore) error {
	if t.held.Load() == among {
		return nil
	}
	t.release()
	if err := among.acquire(ctx, among.maxQueue); err != nil {
		return err
	}
	t.held.Store(among)
	return nil
}

// Middleware has requests wait their turn, but where health is asked for. It
// stands inside of Serve, without which nobody waits, and inside of LimitBody.
func (t *ConcurrencyLimiter) Middleware(writeError func(http.ResponseWriter, *http.Request, error)) web.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer := deadlineWriterOf(w)
			if answer == nil || r.URL.Path == web.HealthPath || r.URL.Path == web.ReadyPath {
				next.ServeHTTP(w, r)
				return
			}
			among := &t.reads
			if isWrite(r) {
				among = &t.writes
			}
			defer answer.slot.release()
			r, known := reqctx.Begin(r)
			known.Writer = answer
			known.LockWaiter = &answer.slot
			if r.Body != nil && r.Body != http.NoBody && r.Method != http.MethodGet && r.Method != http.MethodHead {
				answer.body = acquiringBody{ReadCloser: r.Body, ctx: r.Context(), slot: &answer.slot, semaphore: among}
				r.Body = &answer.body
			} else if err := answer.slot.acquire(r.Context(), among); err != nil {
				writeError(w, r, err)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// isWrite tells requests that wait among writes from the start; mutations show
// only once they are read.
func isWrite(r *http.Request) bool {
	return web.FirstSegment(r.URL) == "v2" && r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions
}

// SwitchToWrite has a request that turns out to write wait among those that do.
func (t *ConcurrencyLimiter) SwitchToWrite(w http.ResponseWriter, r *http.Request) error {
	answer := deadlineWriterOf(w)
	if answer == nil {
		return nil
	}
	return answer.slot.acquire(r.Context(), &t.writes)
}

// acquiringBody waits for a turn at its end: until then the client is waited for.
// Who gets none never sees the end, but why.
type acquiringBody struct {
	io.ReadCloser
	ctx       context.Context
	slot      *slot
	semaphore *semaphore
}

func (b *acquiringBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		if refused := b.slot.acquire(b.ctx, b.semaphore); refused != nil {
			return n, refused
		}
	}
	return n, err
}

// deadlineWriterOf is the answer of Serve beneath those around it; nil outside of it.
func deadlineWriterOf(w http.ResponseWriter) *deadlineWriter {
	for {
		if answer, ok := w.(*deadlineWriter); ok {
			return answer
		}
		wrapper, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return nil
		}
		w = wrapper.Unwrap()
	}
}
