package server

import (
	"bufio"
	"container/list"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"portico/internal/reqctx"
)

// errRequestTimeout ends the work on a request.
var errRequestTimeout = errors.New("the request took too long")

// enforceDeadlines holds the bounds of single requests. The context of a request ends
// after RequestTime, and with its client. A handler that sets a write deadline
// of its own, by http.ResponseController, as one whose answer has no end, is on
// its own: neither RequestTime nor AnswerTime bounds it any more.
func enforceDeadlines(b Limits, next http.Handler) http.Handler {
	waiting := &pendingWrites{maxBytes: int64(b.AnswerMemory) << 20, grace: responseGrace, writes: list.New()}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &deadlineWriter{ResponseWriter: w, control: *http.NewResponseController(w), limit: b.AnswerTime, pending: waiting}
		if b.RequestTime > 0 {
			r = a.boundContext(r, b.RequestTime)
			defer a.ctx.close()
		}
		if b.BodyTime > 0 && r.Body != nil && r.Body != http.NoBody {
			_ = a.control.SetReadDeadline(time.Now().Add(b.BodyTime)) // a recorder in tests has none
			r.Body = &deadlineBody{r.Body, &a.control}
		}
		defer a.end()
		next.ServeHTTP(a, r)
		if a.writingSince.IsZero() { // nothing was written, and the header is not sent yet
			a.extendDeadline(0)
		}
	})
}

// end gives an expensive turn back.
func (a *deadlineWriter) end() {
	if a.expensive != nil {
		a.expensive.endWriting(a)
	}
}

// deadlineBody lifts the read deadline at its end: past it the server waits for
// the client to go away, and would take a deadline for that.
type deadlineBody struct {
	io.ReadCloser
	control *http.ResponseController
}

func (b *deadlineBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// deadlineWriter bounds how long an answer takes to be read.
type deadlineWriter struct {
	http.ResponseWriter
	control http.ResponseController
	limit   time.Duration
	pending *pendingWrites
	ctx     deadlineContext // the context of the request
	slot    slot            // of Turns
	body    acquiringBody

	expensive *semaphore    // that it has one of; nil for none
	element   *list.Element // of those, once it is written

	unbounded    bool // the handler sees to it
	writingSince time.Time
	bytes        int64
}

// boundContext has the work on a request end after a time.
func (a *deadlineWriter) boundContext(r *http.Request, after time.Duration) *http.Request {
	r, known := reqctx.Begin(r)
	a.ctx.Context, a.ctx.deadline = known.Context, known.Start.Add(after)
	known.Context = &a.ctx
	return r
}

// Unwrap lets http.ResponseController find the connection.
func (a *deadlineWriter) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// SetWriteDeadline is a handler's that is on its own from here.
func (a *deadlineWriter) SetWriteDeadline(t time.Time) error {
	a.slot.release()
	a.unbounded = true
	a.ctx.removeDeadline()
	return a.control.SetWriteDeadline(t)
}

// Hijack implements http.Hijacker: what comes then waits for no turn.
func (a *deadlineWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	a.slot.release()
	return a.control.Hijack()
}

// Write implements http.ResponseWriter.
func (a *deadlineWriter) Write(p []byte) (int, error) {
	a.extendDeadline(len(p))
	if len(p) >= responseRate && a.pending.maxBytes > 0 {
		defer a.pending.done(a.pending.begin(a, int64(len(p))))
	}
	return a.ResponseWriter.Write(p)
}

// extendDeadline sets the deadline for so many bytes more.
func (a *deadlineWriter) extendDeadline(bytes int) {
	a.slot.release()
	if a.unbounded {
		return
	}
	if a.writingSince.IsZero() {
		if a.writingSince = time.Now(); a.expensive != nil {
			a.expensive.startWriting(a)
		}
	}
	if a.limit == 0 {
		return
	}
	a.bytes += int64(bytes)
	_ = a.control.SetWriteDeadline(a.writingSince.Add(a.limit + time.Duration(a.bytes*int64(time.Second)/responseRate)))
}

// pendingWrites bounds the bytes of answers that wait for their readers: past the
// bound the longest under way are cut off, after a grace.
type pendingWrites struct {
	maxBytes int64 // bytes; 0 is any
	grace    time.Duration

	mu     sync.Mutex
	bytes  int64
	writes *list.List // of *slow, the longest under way first
}

type pendingWrite struct {
	writer  *deadlineWriter
	bytes   int64
	since   time.Time
	evicted bool
}

func (w *pendingWrites) begin(a *deadlineWriter, bytes int64) *list.Element {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bytes += bytes
	at := w.writes.PushBack(&pendingWrite{writer: a, bytes: bytes, since: time.Now()})
	w.evict()
	return at
}

func (w *pendingWrites) done(at *list.Element) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.writes.Remove(at).(*pendingWrite); !s.evicted {
		w.bytes -= s.bytes
	}
}

// evict cuts off what it must, and comes back where it may not yet. An
// answer is in the list for as long as it is written, so that none is cut that
// has ended.
func (w *pendingWrites) evict() {
	for at := w.writes.Front(); at != nil && w.bytes > w.maxBytes; at = at.Next() {
		s := at.Value.(*pendingWrite)
		if s.evicted {
			continue
		}
		if young := w.grace - time.Since(s.since); young > 0 {
			time.AfterFunc(young, func() {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.evict()
			})
			return
		}
		s.evicted = true
		w.bytes -= s.bytes
		_ = s.writer.control.SetWriteDeadline(time.Unix(1, 0))
	}
}
