package executor

import (
	"sync"

	"portico/graph/document"
	"portico/graph/limits"
)

// A response without errors is responseStart, the data and document.PreparedOperation.ResponseEnd: responseEnd, or extensions and responseEnd.
const (
	responseStart = `{"data":`
	responseEnd   = "}\n"
)

// responseData returns the data of a response that was written for op.
func responseData(op *document.PreparedOperation, body []byte) []byte {
	return body[len(responseStart) : len(body)-len(op.ResponseEnd)]
}

// buffers holds buffers for responses.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 64<<10); return &b }}

// largeBuffers holds buffers for responses above limits.LargeResponse, so that a response does not
// reallocate while it grows. The slots of AcquireExpensive bound how many are in use.
var largeBuffers = sync.Pool{New: func() any { b := make([]byte, 0, largeBuffer); return &b }}

// largeBuffer is their size: the default of limits.Config.ResponseBytes, and some for the last value.
const largeBuffer = 8<<20 + 64<<10

// getBuffer returns a buffer for one response.
func getBuffer() *[]byte { return buffers.Get().(*[]byte) }

// putBuffer returns the buffer of a response to its pool, with the larger array if body has outgrown it. body above
// limits.LargeResponse goes to largeBuffers.
func putBuffer(buffer *[]byte, body []byte) {
	switch {
	case cap(body) > limits.LargeResponse && cap(body) <= largeBuffer:
		largeBuffers.Put(&body)
	case cap(body) > cap(*buffer) && cap(body) <= limits.LargeResponse:
		*buffer = body
	}
	buffers.Put(buffer)
}
