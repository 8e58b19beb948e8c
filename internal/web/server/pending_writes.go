package server

import (
	"container/list"
	"sync"
	"time"
)

// pendingWrites bounds the bytes of writes in progress, which wait for their readers. Above the limit it
// closes the connections of the oldest ones, after a grace time.
type pendingWrites struct {
	maxBytes int64 // 0 for no limit
	grace    time.Duration

	mu     sync.Mutex
	bytes  int64
	writes *list.List // of *pendingWrite, the oldest first
}

type pendingWrite struct {
	writer  *deadlineWriter
	bytes   int64
	since   time.Time
	evicted bool
}

func (p *pendingWrites) begin(w *deadlineWriter, bytes int64) *list.Element {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bytes += bytes
	element := p.writes.PushBack(&pendingWrite{writer: w, bytes: bytes, since: time.Now()})
	p.evict()
	return element
}

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
