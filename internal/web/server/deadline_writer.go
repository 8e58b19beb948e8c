package server

import (
	"bufio"
	"container/list"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"portico/internal/reqctx"
)

// enforceDeadlines applies the time limits of single requests. The context of a request ends after
// RequestTime, and when its client disconnects. A handler that sets a write deadline through
// http.ResponseController, as streams do, lifts RequestTime and ResponseTime for its request.
//
// Without it, clients that announce a body and do not send it hold all connections (TestSlowBodiesTimeOut), and those that
// do not read hold their responses in memory: ten held 700 MB (TestPendingResponsesAreBounded). The timeouts of http.Server are
// the same for a short and a long response and do not bound memory. http.TimeoutHandler buffers whole responses and cannot stream.
func enforceDeadlines(l Limits, next http.Handler) http.Handler {
	pending := &pendingWrites{maxBytes: int64(l.ResponseMemory) << 20, grace: responseGrace, writes: list.New()}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		dw := &deadlineWriter{ResponseWriter: w, control: *http.NewResponseController(w), limit: l.ResponseTime, pending: pending}
		if l.RequestTime > 0 {
			r = dw.boundContext(r, l.RequestTime)
			defer dw.ctx.close()
		}
		if l.BodyTime > 0 && r.Body != nil && r.Body != http.NoBody {
			_ = dw.control.SetReadDeadline(time.Now().Add(l.BodyTime)) // test recorders do not support it
			r.Body = &deadlineBody{r.Body, &dw.control}
		}
		defer dw.end()
		next.ServeHTTP(dw, r)
		if dw.writingSince.IsZero() { // nothing was written: net/http sends the header after this
			dw.extendDeadline(0)
		}
	})
}

// deadlineBody removes the read deadline at the end of the body: from there on the server reads only to notice that
// the client disconnects, and would mistake the deadline for that.
type deadlineBody struct {
	io.ReadCloser
	control *http.ResponseController
}

// Read implements io.Reader.
func (b *deadlineBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// deadlineWriter limits how long a client may take to read a response. It is the one allocation of a request, so it also has
// what Serve and ConcurrencyLimiter keep of it.
type deadlineWriter struct {
	http.ResponseWriter
	control http.ResponseController
	limit   time.Duration  // 0 for none
	pending *pendingWrites // of the server: bytes that clients have not read yet
	ctx     deadlineContext
	slot    slot          // of ConcurrencyLimiter, which the request holds while it runs
	body    acquiringBody // takes the slot once the body is read

	expensive *semaphore    // that the request holds a slot of; nil for none
	element   *list.Element // of expensive.writing, once the response is written

	unbounded    bool        // the handler sets deadlines itself
	aborted      atomic.Bool // before its past deadline is set, so that a write that begins meanwhile cannot lift it
	writingSince time.Time   // zero until the first write
	bytes        int64       // of the body, with the write that begins
}

// end releases the expensive slot of the request, if it has one. The slot field is released by ConcurrencyLimiter.Middleware.
func (w *deadlineWriter) end() {
	if w.expensive != nil {
		w.expensive.endWriting(w)
	}
}

// boundContext limits the context of a request.
func (w *deadlineWriter) boundContext(r *http.Request, limit time.Duration) *http.Request {
	r, req := reqctx.Begin(r)
	w.ctx.Context, w.ctx.deadline = req.Context, req.Start.Add(limit)
	req.Context = &w.ctx
	return r
}

// abort makes this write and all later ones fail, which closes the connection. Any goroutine may call it.
func (w *deadlineWriter) abort() {
	w.aborted.Store(true)
	_ = w.control.SetWriteDeadline(time.Unix(1, 0))
}

// Unwrap lets http.ResponseController find the connection.
func (w *deadlineWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// SetWriteDeadline lifts the limits of the request: from here on the handler sets them.
func (w *deadlineWriter) SetWriteDeadline(t time.Time) error {
	w.slot.release()
	w.unbounded = true
	w.ctx.removeDeadline()
	return w.control.SetWriteDeadline(t)
}

// Hijack implements http.Hijacker. It releases the slot.
func (w *deadlineWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.slot.release()
	return w.control.Hijack()
}

// Write implements http.ResponseWriter.
func (w *deadlineWriter) Write(p []byte) (int, error) {
	w.extendDeadline(len(p))
	if len(p) >= responseRate && w.pending.maxBytes > 0 {
		defer w.pending.done(w.pending.begin(w, int64(len(p))))
	}
	return w.ResponseWriter.Write(p)
}

// extendDeadline sets the write deadline for another number of bytes: ResponseTime after the first write, and longer for all
// bytes so far at responseRate. The first call begins the response: it releases the slot, and makes an expensive one evictable.
func (w *deadlineWriter) extendDeadline(bytes int) {
	w.slot.release()
	if w.unbounded {
		return
	}
	if w.writingSince.IsZero() {
		w.writingSince = time.Now()
		if w.expensive != nil {
			w.expensive.startWriting(w)
		}
	}
	if w.limit == 0 {
		return
	}
	w.bytes += int64(bytes)
	_ = w.control.SetWriteDeadline(w.writingSince.Add(w.limit + time.Duration(w.bytes*int64(time.Second)/responseRate)))
	if w.aborted.Load() {
		w.abort()
	}
}

// deadlineWriterOf returns the deadlineWriter that w wraps; nil outside of Serve.
func deadlineWriterOf(w http.ResponseWriter) *deadlineWriter {
	for {
		if dw, ok := w.(*deadlineWriter); ok {
			return dw
		}
		wrapper, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return nil
		}
		w = wrapper.Unwrap()
	}
}

// pendingWrites bounds the bytes of writes in progress, which wait for their readers. Above the limit it
// closes the connections of the oldest ones, after a grace time.
type pendingWrites struct {
	maxBytes int64 // 0 for no limit
	grace    time.Duration

	mu     sync.Mutex
	bytes  int64
	writes *list.List // of *pendingWrite, the oldest first
}

// pendingWrite is one call of Write.
type pendingWrite struct {
	writer  *deadlineWriter
	bytes   int64
	since   time.Time
	evicted bool // its connection was closed; pendingWrites.bytes does not have its bytes any more
}

// begin counts a write that begins. Pass the result to done when it ends.
func (p *pendingWrites) begin(w *deadlineWriter, bytes int64) *list.Element {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bytes += bytes
	element := p.writes.PushBack(&pendingWrite{writer: w, bytes: bytes, since: time.Now()})
	p.evict()
	return element
}

// done ends a write that begin has counted.
func (p *pendingWrites) done(element *list.Element) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if write := p.writes.Remove(element).(*pendingWrite); !write.evicted {
		p.bytes -= write.bytes
	}
}

// evict closes connections until the limit holds, and calls itself again for writes within their grace
// time. A write is in the list only while it runs, so that no finished response is affected. The caller
// holds mu.
func (p *pendingWrites) evict() {
	for element := p.writes.Front(); element != nil && p.bytes > p.maxBytes; element = element.Next() {
		write := element.Value.(*pendingWrite)
		if write.evicted {
			continue
		}
		if wait := p.grace - time.Since(write.since); wait > 0 {
			time.AfterFunc(wait, func() {
				p.mu.Lock()
				defer p.mu.Unlock()
				p.evict()
			})
			return
		}
		write.evicted = true
		p.bytes -= write.bytes
		write.writer.abort()
	}
}
