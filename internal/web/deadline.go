package web

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

// errTooLong ends the work on a request.
var errTooLong = errors.New("the request took too long")

// deadlines holds the bounds of single requests. The context of a request ends
// after RequestTime, and with its client. A handler that sets a write deadline
// of its own, by http.ResponseController, as one whose answer has no end, is on
// its own: neither RequestTime nor AnswerTime bounds it any more.
func deadlines(b Bounds, next http.Handler) http.Handler {
	waiting := &waiting{most: int64(b.AnswerMemory) << 20, grace: answerGrace, order: list.New()}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &timedAnswer{ResponseWriter: w, control: *http.NewResponseController(w), time: b.AnswerTime, waiting: waiting}
		if b.RequestTime > 0 {
			r = a.bound(r, b.RequestTime)
			defer a.work.close()
		}
		if b.BodyTime > 0 && r.Body != nil && r.Body != http.NoBody {
			_ = a.control.SetReadDeadline(time.Now().Add(b.BodyTime)) // a recorder in tests has none
			r.Body = &timedBody{r.Body, &a.control}
		}
		defer a.end()
		next.ServeHTTP(a, r)
		if a.since.IsZero() { // nothing was written, and the header is not sent yet
			a.begin(0)
		}
	})
}

// end gives an expensive turn back.
func (a *timedAnswer) end() {
	if a.expensive != nil {
		a.expensive.ends(a)
	}
}

// timedBody lifts the read deadline at its end: past it the server waits for
// the client to go away, and would take a deadline for that.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// timedAnswer bounds how long an answer takes to be read.
type timedAnswer struct {
	http.ResponseWriter
	control http.ResponseController
	time    time.Duration
	waiting *waiting
	work    timed // the context of the request
	turn    turn  // of Turns
	waits   waitingBody

	expensive *turns        // that it has one of; nil for none
	sent      *list.Element // of those, once it is written

	own   bool // the handler sees to it
	since time.Time
	bytes int64
}

// bound has the work on a request end after a time.
func (a *timedAnswer) bound(r *http.Request, after time.Duration) *http.Request {
	r, known := reqctx.Begin(r)
	a.work.Context, a.work.ends = known.Context, known.Start.Add(after)
	known.Context = &a.work
	return r
}

// Unwrap lets http.ResponseController find the connection.
func (a *timedAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// SetWriteDeadline is a handler's that is on its own from here.
func (a *timedAnswer) SetWriteDeadline(t time.Time) error {
	a.turn.end()
	a.own = true
	a.work.lift()
	return a.control.SetWriteDeadline(t)
}

// Hijack implements http.Hijacker: what comes then waits for no turn.
func (a *timedAnswer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	a.turn.end()
	return a.control.Hijack()
}

// Write implements http.ResponseWriter.
func (a *timedAnswer) Write(p []byte) (int, error) {
	a.begin(len(p))
	if len(p) >= answerRate && a.waiting.most > 0 {
		defer a.waiting.done(a.waiting.begin(a, int64(len(p))))
	}
	return a.ResponseWriter.Write(p)
}

// begin sets the deadline for so many bytes more.
func (a *timedAnswer) begin(bytes int) {
	a.turn.end()
	if a.own {
		return
	}
	if a.since.IsZero() {
		if a.since = time.Now(); a.expensive != nil {
			a.expensive.sends(a)
		}
	}
	if a.time == 0 {
		return
	}
	a.bytes += int64(bytes)
	_ = a.control.SetWriteDeadline(a.since.Add(a.time + time.Duration(a.bytes*int64(time.Second)/answerRate)))
}

// waiting bounds the bytes of answers that wait for their readers: past the
// bound the longest under way are cut off, after a grace.
type waiting struct {
	most  int64 // bytes; 0 is any
	grace time.Duration

	mu    sync.Mutex
	bytes int64
	order *list.List // of *slow, the longest under way first
}

type slow struct {
	answer *timedAnswer
	bytes  int64
	since  time.Time
	cut    bool
}

func (w *waiting) begin(a *timedAnswer, bytes int64) *list.Element {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bytes += bytes
	at := w.order.PushBack(&slow{answer: a, bytes: bytes, since: time.Now()})
	w.relieve()
	return at
}

func (w *waiting) done(at *list.Element) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.order.Remove(at).(*slow); !s.cut {
		w.bytes -= s.bytes
	}
}

// relieve cuts off what it must, and comes back where it may not yet. An
// answer is in the list for as long as it is written, so that none is cut that
// has ended.
func (w *waiting) relieve() {
	for at := w.order.Front(); at != nil && w.bytes > w.most; at = at.Next() {
		s := at.Value.(*slow)
		if s.cut {
			continue
		}
		if young := w.grace - time.Since(s.since); young > 0 {
			time.AfterFunc(young, func() {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.relieve()
			})
			return
		}
		s.cut = true
		w.bytes -= s.bytes
		_ = s.answer.control.SetWriteDeadline(time.Unix(1, 0))
	}
}
