package rest

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"portico/graph/limits"
)

// maxSpare bounds the buffers that are kept for further answers, in bytes.
const maxSpare = 1 << 20

// spare buffers are as long as answers have been, so that one is written
// without growing.
var spare = sync.Pool{New: func() any { return new([]byte) }}

// limit bounds an answer while it is built, row by row.
type limit struct {
	*API
	ctx context.Context
	end func() // gives an expensive turn back; nil without one
}

func (a *API) limit(r *http.Request) *limit { return &limit{API: a, ctx: r.Context()} }

// check is called with what is built of an answer so far. UNPROCESSABLE where it
// is larger than allowed, UNAVAILABLE where a large one cannot be built now.
func (l *limit) check(body []byte) error { return l.room(len(body)) }

// room is check for an answer of so many bytes.
func (l *limit) room(bytes int) error {
	if l.answerBytes > 0 && bytes > l.answerBytes {
		return limits.ResponseTooLarge(l.answerBytes)
	}
	if bytes <= limits.LargeResponse || l.end != nil || l.expensive == nil {
		return nil
	}
	var err error
	l.end, err = l.expensive(l.ctx, true)
	return err
}

// writeBuilt answers 200 with the body that build appends to a buffer, which is
// nobody's afterwards. An answer that is to be kept is built where it stays, if
// it comes to about the size that is said, in bytes; 0 is not known.
func (l *limit) writeBuilt(w http.ResponseWriter, size int, build func([]byte) ([]byte, error)) error {
	if l.answerBytes > 0 {
		size = min(size, l.answerBytes)
	}
	defer func() {
		if l.end != nil {
			l.end()
		}
	}()
	if err := l.room(size); err != nil {
		return err
	}
	if d, kept := w.(*draft); kept && size > 0 {
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
	buffer := spare.Get().(*[]byte)
	body, err := build(slices.Grow((*buffer)[:0], size))
	if err == nil {
		writeJSON(w, http.StatusOK, body)
	}
	if cap(body) <= maxSpare {
		*buffer = body
	}
	spare.Put(buffer)
	return err
}
