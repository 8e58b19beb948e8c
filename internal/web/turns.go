package web

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
	"portico/store"
)

// Turns bounds how many requests are worked on at once, so that what is
// accepted is answered soon however much comes. Reads and writes have each
// their own turns, and writes that stand still keep no reader. Beyond the bound
// a request waits its turn in a line; where the line is full, or its turn does
// not come in time, it is refused, before anything is done for it.
//
// A turn begins once the body is read, and ends with the first byte of the
// answer: neither a slow client, nor a stream, nor a WebSocket holds one.
type Turns struct{ reads, writes, expensive, events turns }

// turnsPerCore is how many requests of each kind are worked on at once for
// each core.
const turnsPerCore = 16

// NewTurns has the bounds on requests.
func NewTurns(b Bounds) *Turns {
	at := b.Requests
	if at == 0 {
		at = turnsPerCore * runtime.GOMAXPROCS(0)
	}
	of := func(most int) turns { return newTurns(most, b.RequestsWaiting, b.RequestWait) }
	expensive := b.expensive(at)
	return &Turns{reads: of(at), writes: of(at), expensive: of(expensive), events: of(max(1, expensive/2))}
}

// Reading takes a turn among reads; end gives it back, once.
func (t *Turns) Reading(ctx context.Context) (end func(), err error) { return t.reads.one(ctx) }

// Writing takes a turn among writes.
func (t *Turns) Writing(ctx context.Context) (end func(), err error) { return t.writes.one(ctx) }

// The kinds of turns, as metrics name them.
const (
	ReadTurns      = "read"
	WriteTurns     = "write"
	ExpensiveTurns = "expensive"
)

// Busy is how many requests of a kind are worked on, wait, and were refused until
// now.
func (t *Turns) Busy(kind string) (busy, waiting int, refused uint64) {
	for _, of := range map[string][]*turns{ReadTurns: {&t.reads}, WriteTurns: {&t.writes}, ExpensiveTurns: {&t.expensive, &t.events}}[kind] {
		of.mu.Lock()
		busy, waiting, refused = busy+of.busy, waiting+of.line.Len(), refused+of.refused
		of.mu.Unlock()
	}
	return busy, waiting, refused
}

// turns are those of one kind.
type turns struct {
	most, room int
	patience   time.Duration

	mu      sync.Mutex
	busy    int
	line    *list.List // of chan struct{}, the first who came in front
	sent    *list.List // of *timedAnswer that are written with their turn, the longest in front
	refused uint64
}

// take waits for a turn, where fewer wait than there is room for.
func (t *turns) take(ctx context.Context, room int) error {
	t.mu.Lock()
	if t.busy < t.most {
		t.busy++
		t.mu.Unlock()
		return nil
	}
	if t.line.Len() >= room || t.patience <= 0 {
		t.refused++
		t.mu.Unlock()
		return errNoTurn()
	}
	called := make(chan struct{})
	place := t.line.PushBack(called)
	t.relieve()
	t.mu.Unlock()
	timer := time.NewTimer(t.patience)
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
	t.line.Remove(place)
	t.refused++
	return errNoTurn()
}

// give has the next one begin.
func (t *turns) give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if first := t.line.Front(); first != nil {
		close(t.line.Remove(first).(chan struct{}))
		return
	}
	t.busy--
}

func (t *turns) one(ctx context.Context) (end func(), err error) {
	if err := t.take(ctx, t.room); err != nil {
		return func() {}, err
	}
	return sync.OnceFunc(t.give), nil
}

func errNoTurn() error {
	return &store.Error{Code: store.Unavailable, Detail: "The server has more to do than it can; nothing was done for this request. Try again in a moment, and ask for less at once."}
}

// turn is what a request has of them. Only the request's own goroutine begins
// one.
type turn struct {
	has atomic.Pointer[turns] // nil for none
}

func (t *turn) end() {
	if had := t.has.Swap(nil); had != nil {
		had.give()
	}
}

// WaitsForLock implements store.LockWaiter: a write that waits for rows which
// another transaction holds has no turn, so that others write meanwhile.
func (t *turn) WaitsForLock() { t.end() }

// begin takes a turn in place of the one that there is.
func (t *turn) begin(ctx context.Context, among *turns) error {
	if t.has.Load() == among {
		return nil
	}
	t.end()
	if err := among.take(ctx, among.room); err != nil {
		return err
	}
	t.has.Store(among)
	return nil
}

// Middleware has requests wait their turn, but where health is asked for. It
// stands inside of Serve, without which nobody waits, and inside of LimitBody.
func (t *Turns) Middleware(writeError func(http.ResponseWriter, *http.Request, error)) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer := timedOf(w)
			if answer == nil || r.URL.Path == HealthPath || r.URL.Path == ReadyPath {
				next.ServeHTTP(w, r)
				return
			}
			among := &t.reads
			if writes(r) {
				among = &t.writes
			}
			defer answer.turn.end()
			r, known := reqctx.Begin(r)
			known.Writer = answer
			known.LockWaiter = &answer.turn
			if r.Body != nil && r.Body != http.NoBody && r.Method != http.MethodGet && r.Method != http.MethodHead {
				answer.waits = waitingBody{ReadCloser: r.Body, ctx: r.Context(), turn: &answer.turn, among: among}
				r.Body = &answer.waits
			} else if err := answer.turn.begin(r.Context(), among); err != nil {
				writeError(w, r, err)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// writes tells requests that wait among writes from the start; mutations show
// only once they are read.
func writes(r *http.Request) bool {
	return Family(r.URL) == "v2" && r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions
}

// ToWrite has a request that turns out to write wait among those that do.
func (t *Turns) ToWrite(w http.ResponseWriter, r *http.Request) error {
	answer := timedOf(w)
	if answer == nil {
		return nil
	}
	return answer.turn.begin(r.Context(), &t.writes)
}

// waitingBody waits for a turn at its end: until then the client is waited for.
// Who gets none never sees the end, but why.
type waitingBody struct {
	io.ReadCloser
	ctx   context.Context
	turn  *turn
	among *turns
}

func (b *waitingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		if refused := b.turn.begin(b.ctx, b.among); refused != nil {
			return n, refused
		}
	}
	return n, err
}

// timedOf is the answer of Serve beneath those around it; nil outside of it.
func timedOf(w http.ResponseWriter) *timedAnswer {
	for {
		if answer, ok := w.(*timedAnswer); ok {
			return answer
		}
		wrapper, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return nil
		}
		w = wrapper.Unwrap()
	}
}
