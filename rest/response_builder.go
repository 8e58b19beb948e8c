package rest

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"portico/graph/limits"
)

// maxPooledBuffer is the largest buffer in bufferPool, in bytes.
const maxPooledBuffer = 1 << 20

// bufferPool has buffers for responses, which have grown to the usual size.
var bufferPool = sync.Pool{New: func() any { return new([]byte) }}

// responseBuilder limits the size of a response while it is built, row by row.
type responseBuilder struct {
	*API
	ctx     context.Context
	release func() // frees an expensive slot; nil without one
}

func (a *API) newBuilder(r *http.Request) *responseBuilder {
	return &responseBuilder{API: a, ctx: r.Context()}
}

// check checks the size of an incomplete body. It returns UNPROCESSABLE if the body is
// too large, and UNAVAILABLE if there is no capacity for a large one now.
func (l *responseBuilder) check(body []byte) error { return l.checkSize(len(body)) }

// checkSize is check for a size in bytes.
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

// write returns 200 with the body that build appends to a pooled buffer. If the response
// is to be cached, and size (its estimated bytes, 0 if unknown) is about right, the
// cache takes the buffer over.
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

// bufferedResponse is an http.ResponseWriter that stores what a handler writes, for the
// response cache.
type bufferedResponse struct {
	header http.Header
	body   []byte
}

// Header implements http.ResponseWriter.
func (d *bufferedResponse) Header() http.Header { return d.header }

// WriteHeader implements http.ResponseWriter. Cacheable routes write status 200, or
// return an error.
func (*bufferedResponse) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (d *bufferedResponse) Write(body []byte) (int, error) {
	d.body = append(d.body, body...)
	return len(body), nil
}
