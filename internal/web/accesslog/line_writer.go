package accesslog

import (
	"io"
	"sync"
	"time"
)

// LineWriter serializes the lines of several logs and writes them in batches.
type LineWriter struct {
	out io.Writer

	mu                       sync.Mutex
	pending                  []byte     // lines to be written
	spare                    []byte     // the second buffer; nil while it is being written
	addedBytes, writtenBytes int64      // since the start
	writing                  bool       // a call of write is under way
	flushScheduled           bool       // flushLater will run
	progress                 *sync.Cond // on mu: writtenBytes has grown
}

// flushDelay is how long Add collects lines before it writes them.
const flushDelay = 2 * time.Millisecond

// maxPending limits the bytes of collected lines; Add writes them itself above it.
const maxPending = 64 << 10

// NewLineWriter returns a LineWriter that writes to to.
func NewLineWriter(to io.Writer) *LineWriter {
	l := &LineWriter{out: to}
	l.progress = sync.NewCond(&l.mu)
	return l
}

// Write implements io.Writer. It returns after line and all lines before it are written.
func (l *LineWriter) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(line)
	l.flush()
	return len(line), nil // there is nowhere to report a log that cannot be written
}

// Add schedules a line to be written and returns at once.
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

// Flush waits until all added lines are written.
func (l *LineWriter) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush()
}

// The methods below need mu.

func (l *LineWriter) add(line []byte) {
	l.pending = append(l.pending, line...)
	l.addedBytes += int64(len(line))
}

// flush waits until all lines added before are written, by this call or another.
func (l *LineWriter) flush() {
	for upTo := l.addedBytes; l.writtenBytes < upTo; {
		if l.writing {
			l.progress.Wait()
		} else {
			l.write()
		}
	}
}

// write writes the pending lines. It releases mu meanwhile.
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

// flushLater flushes after flushDelay. The caller must not hold mu.
func (l *LineWriter) flushLater() {
	time.Sleep(flushDelay)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flushScheduled = false
	l.flush()
}
