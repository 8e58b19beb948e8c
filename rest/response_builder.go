package rest

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"portico/graph/limits"
)

// maxPooledBuffer bounds the buffers that are kept for further answers, in bytes.
const maxPooledBuffer = 1 << 20

// bufferPool buffers are as long as answers have been, so that one is written
// without growing.
var bufferPool = sync.Pool{New: func() any { return new([]byte) }}

// responseBuilder bounds an answer while it is built, row by row.
type responseBuilder struct {
	*API
	ctx     context.Context
	release func() // gives an expensive turn back; nil without one
}

func (a *API) newBuilder(r *http.Request) *responseBuilder {
	return &responseBuilder{API: a, ctx: r.Context()}
}

// check is called with what is built of an answer so far. UNPROCESSABLE where it
// is larger than allowed, UNAVAILABLE where a large one cannot be built now.
func (l *responseBuilder) check(body []byte) error { return l.checkSize(len(body)) }

// checkSize is check for an answer of so many bytes.
func (l *responseBuilder) checkSize(bytes int) error {
	if l.maxResponseBytes > 0 && bytes > l.maxResponseBytes {
		return limits.ResponseTooLarge(l.maxResponseBytes)
	}
	if bytes <= limits.LargeResponse || l.release != nil || l.acquireExpensive == nil {
		return nil
	}
	var err error
	l.release, err = l.acquireExpensive(l.ctx, true)
	return err
}

// write answers 200 with the body that build appends to a buffer, which is
// nobody's afterwards. An answer that is to be kept is built where it stays, if
// it comes to about the size that is said, in bytes; 0 is not known.
func (l *responseBuilder) write(w http.ResponseWriter, size int, build func([]byte) ([]byte, error)) error {
	if l.maxResponseBytes > 0 {
		size = min(size, l.maxResponseBytes)
	}
	defer func() {
		if l.release != nil {
			l.release()
		}
	}()
	if err := l.checkSize(size); err != nil {
		return err
	}
	if d, kept := w.(*bufferedResponse); kept && size > 0 {
		body, err := build(make([]byte, 0, size))
		switch {
		case err != nil:
			return err
		case cap(body)-len(body) <= len(body)/8:
			d.header["Content-Type"], d.body = jsonType, body
		default:
			writeJSON(w, http.StatusOK, body)
		}
		return nil
	}
	buffer := bufferPool.Get().(*[]byte)
	body, err := build(slices.Grow((*buffer)[:0], size))
	if err == nil {
		writeJSON(w, http.StatusOK, body)
	}
	if cap(body) <= maxPooledBuffer {
		*buffer = body
	}
	bufferPool.Put(buffer)
	return err
}
