package rest

import (
	"net/http"
	"sync"
)

// maxSpare bounds the buffers that are kept for further answers, in bytes.
const maxSpare = 1 << 20

// spare buffers are as long as answers have been, so that one is written
// without growing.
var spare = sync.Pool{New: func() any { return new([]byte) }}

// writeBuilt answers 200 with the body that build appends to a buffer, which is
// nobody's afterwards. An answer that is to be kept is built where it stays, if
// it comes to about the size that is said, in bytes; 0 is not known.
func writeBuilt(w http.ResponseWriter, size int, build func([]byte) []byte) {
	if d, kept := w.(*draft); kept && size > 0 {
		if body := build(make([]byte, 0, size)); cap(body)-len(body) <= len(body)/8 {
			d.header["Content-Type"], d.body = jsonType, body
		} else {
			writeJSON(w, http.StatusOK, body)
		}
		return
	}
	buffer := spare.Get().(*[]byte)
	body := build((*buffer)[:0])
	writeJSON(w, http.StatusOK, body)
	if cap(body) <= maxSpare {
		*buffer = body
		spare.Put(buffer)
	}
}
