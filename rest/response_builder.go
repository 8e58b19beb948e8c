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

// responseBuilder builds one response in a reused buffer. Its check, called row by row, limits the
// size, and takes an expensive slot for a large response.
type responseBuilder struct {
	*API
	ctx      context.Context
	freeSlot func() // frees an expensive slot; nil without one
}

// newBuilder returns the builder of the response to a request.
func (a *API) newBuilder(r *http.Request) *responseBuilder {
	return &responseBuilder{API: a, ctx: r.Context()}
}

// check checks the size of an incomplete body. It returns UNPROCESSABLE if the body is
// too large, and UNAVAILABLE if there is no capacity for a large one now.
func (b *responseBuilder) check(body []byte) error { return b.checkSize(len(body)) }

// checkSize is check for a size in bytes.
func (b *responseBuilder) checkSize(bytes int) error {
	if b.maxResponseBytes > 0 && bytes > b.maxResponseBytes {
		return limits.ResponseTooLarge(b.maxResponseBytes)
	}
	if bytes <= limits.LargeResponse || b.freeSlot != nil || b.acquireExpensive == nil {
		return nil
	}
	var err error
	b.freeSlot, err = b.acquireExpensive(b.ctx, true)
	return err
}

// write writes 200 and the body that build appends to a pooled buffer, and frees the slot that check took. size is the estimated
// number of bytes, 0 if unknown. If the response is to be cached and size is known, the body has an array of its own. The
// cache takes it over, unless its empty part is larger than an eighth of the body. With the cache disabled, the body stays in bufferedResponse.pooled.
func (b *responseBuilder) write(w http.ResponseWriter, size int, build func([]byte) ([]byte, error)) error {
	if b.maxResponseBytes > 0 {
		size = min(size, b.maxResponseBytes)
	}
	defer func() {
		if b.freeSlot != nil {
			b.freeSlot()
		}
	}()
	if err := b.checkSize(size); err != nil {
		return err
	}
	to, buffered := w.(*bufferedResponse)
	if buffered && to.pooled != nil {
		body, err := build(slices.Grow((*to.pooled)[:0], size))
		if err == nil {
			to.header["Content-Type"], to.body, *to.pooled = jsonType, body, body
		}
		return err
	}
	if buffered && size > 0 {
		body, err := build(make([]byte, 0, size))
		switch {
		case err != nil:
			return err
		case cap(body)-len(body) <= len(body)/8:
			to.header["Content-Type"], to.body = jsonType, body
		default:
			writeJSON(w, http.StatusOK, body) // copies it
		}
		return nil
	}
	buffer := bufferPool.Get().(*[]byte)
	body, err := build(slices.Grow((*buffer)[:0], size))
	if err == nil {
		writeJSON(w, http.StatusOK, body)
	}
	*buffer = body
	freeBuffer(buffer)
	return err
}

// freeBuffer returns a buffer to bufferPool, unless it has grown too large.
func freeBuffer(buffer *[]byte) {
	if cap(*buffer) <= maxPooledBuffer {
		bufferPool.Put(buffer)
	}
}
