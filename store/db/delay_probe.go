package db

import (
	"os"
	"sync"
	"time"
)

// delayProbe measures how long a request waits for a processor: from the moment its bytes have arrived
// until its goroutine runs. It sends a byte through a pipe to a goroutine that waits as those of
// connections do. It is safe for concurrent use.
type delayProbe struct {
	mu     sync.Mutex
	pipe   *os.File // nil until first used
	failed bool     // there is no pipe
	closed bool
	sentAt time.Time     // of the byte under way; zero for none
	last   time.Duration // of the last byte that arrived
}

// slowDelay is a delay that doubles the pauses of jobs. One below half of it halves them.
const slowDelay = 2 * time.Millisecond

// send sends a byte, unless one is under way. The first call opens the pipe.
func (p *delayProbe) send(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pipe == nil && !p.open() || !p.sentAt.IsZero() {
		return
	}
	p.sentAt = now
	if _, err := p.pipe.Write([]byte{0}); err != nil {
		p.sentAt = time.Time{}
	}
}

// open opens the pipe and starts its reader. It returns false if that failed, now or earlier, or after close.
func (p *delayProbe) open() bool {
	if p.closed || p.failed {
		return false
	}
	in, out, err := os.Pipe()
	if err != nil {
		p.failed = true
		return false
	}
	p.pipe = out
	go func() {
		defer in.Close()
		buffer := make([]byte, 1)
		for {
			if _, err := in.Read(buffer); err != nil {
				return
			}
			p.arrived(time.Now())
		}
	}()
	return true
}

// arrived ends the measurement of the byte under way.
func (p *delayProbe) arrived(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.sentAt = now.Sub(p.sentAt), time.Time{}
}

// delay returns the delay of the last byte, or of the one under way if that is longer. Without a pipe
// it counts as slow.
func (p *delayProbe) delay(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.failed:
		return slowDelay
	case p.sentAt.IsZero():
		return p.last
	}
	return max(p.last, now.Sub(p.sentAt))
}

// close ends the reader. Later calls of send do nothing.
func (p *delayProbe) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.pipe != nil {
		p.pipe.Close()
		p.pipe = nil
	}
}
