package web

import (
	"container/list"
	"context"
	"runtime"
	"sync"
	"time"

	"portico/internal/reqctx"
)

// Expensive requests have turns of their own, of which there are few: those
// whose answer is large, or whose cost is high. So the memory of their answers
// and the processor time that they take are bounded however many come at once,
// and all other requests run beside them. A turn lasts until the answer is
// written. A client that reads one slowly loses its connection once others wait.

const (
	expensivePerCore = 2
	maxExpensive     = 8

	// waitingInMemory is how many requests may wait for each expensive turn that
	// hold a part of their answer.
	waitingInMemory = 4
)

func (b Bounds) expensive(requests int) int {
	if b.RequestsExpensive > 0 {
		return b.RequestsExpensive
	}
	return min(requests, maxExpensive, expensivePerCore*runtime.GOMAXPROCS(0))
}

// Expensive takes a turn among expensive requests. running says that part of the
// answer is in memory, so that few may wait. A turn of a request ends with the
// request, and replaces its turn among reads; end does nothing then. Streams
// have half as many turns of their own, and end gives one back, once.
func (t *Turns) Expensive(ctx context.Context, running bool) (end func(), err error) {
	answer := answering(ctx)
	among := &t.expensive
	switch {
	case answer == nil:
		among = &t.events
	case answer.expensive != nil:
		return func() {}, nil
	case answer.turn.has.Load() == &t.reads:
		answer.turn.end()
	}
	room := among.room
	if running {
		room = min(room, waitingInMemory*among.most)
	}
	if err := among.take(ctx, room); err != nil {
		return func() {}, err
	}
	if answer == nil {
		return sync.OnceFunc(among.give), nil
	}
	answer.expensive = among
	return func() {}, nil
}

// answering is the answer of the request that a context belongs to; nil outside
// of Middleware, and for streams.
func answering(ctx context.Context) *timedAnswer {
	if known := reqctx.From(ctx); known != nil {
		if answer, ok := known.Writer.(*timedAnswer); ok && !answer.own {
			return answer
		}
	}
	return nil
}

// sends notes that an answer begins to be written.
func (t *turns) sends(a *timedAnswer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a.sent = t.sent.PushBack(a)
	t.relieve()
}

// ends gives the turn of an answer back.
func (t *turns) ends(a *timedAnswer) {
	t.mu.Lock()
	if a.sent != nil {
		t.sent.Remove(a.sent)
	}
	t.mu.Unlock()
	t.give()
}

// relieve cuts off the answers that are written for longer than answerGrace, one
// for each request that waits. It comes back for the younger ones. The caller
// holds mu.
func (t *turns) relieve() {
	cut := t.line.Len()
	for at := t.sent.Front(); at != nil && cut > 0; at = at.Next() {
		a := at.Value.(*timedAnswer)
		if young := answerGrace - time.Since(a.since); young > 0 {
			time.AfterFunc(young, func() {
				t.mu.Lock()
				defer t.mu.Unlock()
				t.relieve()
			})
			return
		}
		_ = a.control.SetWriteDeadline(time.Unix(1, 0))
		cut--
	}
}

func newTurns(most, room int, patience time.Duration) turns {
	return turns{most: most, room: room, patience: patience, line: list.New(), sent: list.New()}
}
