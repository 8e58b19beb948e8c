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
// nobody's afterwards.
func writeBuilt(w http.ResponseWriter, build func([]byte) []byte) {
	buffer := spare.Get().(*[]byte)
	body := build((*buffer)[:0])
	writeJSON(w, http.StatusOK, body)
	if cap(body) <= maxSpare {
		*buffer = body
		spare.Put(buffer)
	}
}
