package accesslog

import (
	"io"
	"sync"
	"time"
)

// LineWriter is where several logs write whole lines to, in the order in which they
// come.
type LineWriter struct {
	out io.Writer

	mu                       sync.Mutex
	pending                  []byte // lines to be written
	spare                    []byte // the other buffer; nil while it is written
	addedBytes, writtenBytes int64  // bytes so far
	writing                  bool
	flushScheduled           bool       // somebody was sent to write what waits
	progress                 *sync.Cond // on mu: done has grown
}

// flushDelay is how long a line waits for others to be written with it.
const flushDelay = 2 * time.Millisecond

// maxPending bounds the lines that wait to be written, in bytes: whoever brings
// more waits for them.
const maxPending = 64 << 10

// NewLineWriter makes one.
func NewLineWriter(to io.Writer) *LineWriter {
	l := &LineWriter{out: to}
	l.progress = sync.NewCond(&l.mu)
	return l
}

// Write implements io.Writer: the line is written when it returns, and all
// before it.
func (l *LineWriter) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(line)
	l.flush()
	return len(line), nil // of a log that cannot be written nobody can be told
}

// Add has a line be written soon, with those that come meanwhile, and does not
// wait for that.
func (l *LineWriter) Add(line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(line)
	switch {
	case len(l.pending) > maxPending:
		l.flush()
	case !l.flushScheduled:
		l.flushScheduled = true
		go l.flushLater()
	}
}

// Flush waits until every line that was added is written.
func (l *LineWriter) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush()
}

// What follows is done under mu.

func (l *LineWriter) add(line []byte) {
	l.pending = append(l.pending, line...)
	l.addedBytes += int64(len(line))
}

func (l *LineWriter) flush() {
	for upTo := l.addedBytes; l.writtenBytes < upTo; {
		if l.writing {
			l.progress.Wait()
		} else {
			l.write()
		}
	}
}

// write writes what waits, without mu meanwhile.
func (l *LineWriter) write() {
	lines := l.pending
	l.pending, l.spare, l.writing = l.spare[:0], nil, true
	l.mu.Unlock()
	_, _ = l.out.Write(lines)
	l.mu.Lock()
	l.spare, l.writing = lines, false
	l.writtenBytes += int64(len(lines))
	l.progress.Broadcast()
}

// flushLater writes what waits after a while, without mu.
func (l *LineWriter) flushLater() {
	time.Sleep(flushDelay)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flushScheduled = false
	l.flush()
}
