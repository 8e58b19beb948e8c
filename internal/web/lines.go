package web

import (
	"io"
	"sync"
	"time"
)

// Lines is where several logs write whole lines to, in the order in which they
// come.
type Lines struct {
	to io.Writer

	mu          sync.Mutex
	waiting     []byte // lines to be written
	spare       []byte // the other buffer; nil while it is written
	added, done int64  // bytes so far
	writing     bool
	draining    bool       // somebody was sent to write what waits
	written     *sync.Cond // on mu: done has grown
}

// lineDelay is how long a line waits for others to be written with it.
const lineDelay = 2 * time.Millisecond

// maxWaiting bounds the lines that wait to be written, in bytes: whoever brings
// more waits for them.
const maxWaiting = 64 << 10

// NewLines makes one.
func NewLines(to io.Writer) *Lines {
	l := &Lines{to: to}
	l.written = sync.NewCond(&l.mu)
	return l
}

// Write implements io.Writer: the line is written when it returns, and all
// before it.
func (l *Lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(line)
	l.flush()
	return len(line), nil // of a log that cannot be written nobody can be told
}

// Add has a line be written soon, with those that come meanwhile, and does not
// wait for that.
func (l *Lines) Add(line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(line)
	switch {
	case len(l.waiting) > maxWaiting:
		l.flush()
	case !l.draining:
		l.draining = true
		go l.drain()
	}
}

// Flush waits until every line that was added is written.
func (l *Lines) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush()
}

// What follows is done under mu.

func (l *Lines) add(line []byte) {
	l.waiting = append(l.waiting, line...)
	l.added += int64(len(line))
}

func (l *Lines) flush() {
	for upTo := l.added; l.done < upTo; {
		if l.writing {
			l.written.Wait()
		} else {
			l.write()
		}
	}
}

// write writes what waits, without mu meanwhile.
func (l *Lines) write() {
	lines := l.waiting
	l.waiting, l.spare, l.writing = l.spare[:0], nil, true
	l.mu.Unlock()
	_, _ = l.to.Write(lines)
	l.mu.Lock()
	l.spare, l.writing = lines, false
	l.done += int64(len(lines))
	l.written.Broadcast()
}

// drain writes what waits after a while, without mu.
func (l *Lines) drain() {
	time.Sleep(lineDelay)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.draining = false
	l.flush()
}
