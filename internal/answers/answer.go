package answers

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"
)

// Answer is a finished body with what is told of it. It never changes, and
// requests share it.
type Answer struct {
	Body  []byte
	ETag  string    // strong, with its quotes: bodies that differ have different ones, on any server
	From  time.Time // when it began to hold; zero is ever
	Until time.Time // when it holds no longer; zero is never

	beside   any     // what its maker has to know of it
	weight   int     // of that, in bytes
	about    []field // the header that belongs to the body
	whole    form
	smallTag string

	asked atomic.Bool // for the small form
	once  sync.Once   // makes it
	small form
}

// form is the body as it is sent, plain or compressed.
type form struct {
	body []byte  // nil where there is no such form
	own  []field // the header of this form alone, its Etag first
}

// field is a header's line, ready to be put into any number of answers: nobody
// can append to its values without copying them.
type field struct {
	name   string
	values []string
}

func line(name string, values ...string) field { return field{name, slices.Clip(values)} }

// New makes an answer of a body, which must not be changed any more, with the
// header that belongs to it.
func New(body []byte, header http.Header) *Answer {
	a := &Answer{Body: body, ETag: entityTag(body)}
	for name, values := range header {
		a.about = append(a.about, line(name, slices.Clone(values)...))
	}
	a.whole = newForm(body, a.ETag)
	a.smallTag = strings.TrimSuffix(a.ETag, `"`) + `.gz"`
	return a
}

func newForm(body []byte, tag string, more ...field) form {
	return form{body, append([]field{line("Etag", tag), line("Content-Length", strconv.Itoa(len(body)))}, more...)}
}

// With keeps something beside the body that whoever made it wants to find
// again, of a size in bytes.
func (a *Answer) With(beside any, size int) *Answer {
	a.beside, a.weight = beside, size
	return a
}

// Beside is what With was given; nil for nothing.
func (a *Answer) Beside() any { return a.beside }

// Holding says when the answer holds; a zero time is no bound.
func (a *Answer) Holding(from, until time.Time) *Answer {
	a.From, a.Until = from, until
	return a
}

// Holds tells whether the answer is that of a moment.
func (a *Answer) Holds(at time.Time) bool {
	return !at.Before(a.From) && (a.Until.IsZero() || at.Before(a.Until))
}

// entityTag is made of the body alone, so that servers agree, and one that was
// started anew.
func entityTag(body []byte) string {
	text := append(make([]byte, 0, 32), '"')
	text = strconv.AppendUint(text, xxhash.Sum64(body), 36)
	text = append(text, '.')
	text = strconv.AppendInt(text, int64(len(body)), 36)
	return string(append(text, '"'))
}

const (
	// leastCompressed is the shortest body that is compressed, in bytes.
	leastCompressed = 1 << 10

	// longBody is the shortest body of those that compress well, in bytes.
	longBody = 16 << 10
)

// size is what the answer takes in memory, its compressed form included,
// whether it has been made or not.
func (a *Answer) size() int {
	n := 512 + len(a.Body) + a.weight
	if len(a.Body) >= leastCompressed {
		n += a.mostCompressed()
	}
	for _, f := range a.about {
		n += 64 + len(f.name)
		for _, value := range f.values {
			n += len(value)
		}
	}
	return n
}

// mostCompressed is how long the compressed form may be: there is room for it
// from the start, and less is sent. Pages come to a tenth.
func (a *Answer) mostCompressed() int {
	if len(a.Body) >= longBody {
		return len(a.Body) / 4
	}
	return len(a.Body) / 2
}

// compressed is the answer's small form; without a body where that would not
// pay. It is made for the second who asks for it: what is asked for once is
// not worth it.
func (a *Answer) compressed() *form {
	if len(a.Body) < leastCompressed || !a.asked.Swap(true) {
		return &form{}
	}
	a.once.Do(func() {
		var text bytes.Buffer
		text.Grow(a.mostCompressed())
		w, _ := gzip.NewWriterLevel(&text, gzip.BestSpeed) // a level there is
		_, _ = w.Write(a.Body)                             // a buffer takes everything
		_ = w.Close()
		if text.Len() <= a.mostCompressed() {
			a.small = newForm(bytes.Clone(text.Bytes()), a.smallTag, line("Content-Encoding", "gzip"))
		}
	})
	return &a.small
}

// ServeHTTP writes the answer: compressed to those who take that, and nothing
// but word of it to those who have it already (304). It adds to the header
// that the writer has; Vary and Cache-Control are for the caller to say.
func (a *Answer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	for _, f := range a.about {
		header[f.name] = f.values
	}
	if known := r.Header["If-None-Match"]; known != nil {
		if have := a.among(known); have != nil {
			header["Etag"] = have.values
			delete(header, "Content-Type")
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	a.write(w, r, 0)
}

// Send writes the answer to a request that no cache keeps an answer of: without
// its Etag, compressed to those who take that.
func (a *Answer) Send(w http.ResponseWriter, r *http.Request) { a.write(w, r, 1) }

// write writes the answer with the header of its form from a line on.
func (a *Answer) write(w http.ResponseWriter, r *http.Request, from int) {
	header := w.Header()
	chosen := &a.whole
	if accepts(r.Header["Accept-Encoding"]) {
		if small := a.compressed(); small.body != nil {
			chosen = small
		}
	}
	for _, f := range chosen.own[from:] {
		header[f.name] = f.values
	}
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(chosen.body) // a caller that went away reads nothing
}

// among is the entity tag that a list of them has of the answer, in whatever
// form; nil for none.
func (a *Answer) among(known []string) *field {
	for _, entries := range known {
		for entry := range strings.SplitSeq(entries, ",") {
			switch entry = strings.TrimPrefix(strings.TrimSpace(entry), "W/"); entry {
			case "*", a.ETag:
				return &a.whole.own[0]
			case a.smallTag:
				tag := line("Etag", a.smallTag)
				return &tag
			}
		}
	}
	return nil
}

// accepts tells whether an Accept-Encoding takes gzip.
func accepts(encodings []string) bool {
	taken := false
	for _, list := range encodings {
		for entry := range strings.SplitSeq(list, ",") {
			name, weight, _ := strings.Cut(entry, ";")
			_, q, _ := strings.Cut(weight, "=")
			wanted := q == "" || strings.Trim(q, " 0.") != ""
			switch name = strings.TrimSpace(name); {
			case strings.EqualFold(name, "gzip"):
				return wanted
			case name == "*":
				taken = wanted
			}
		}
	}
	return taken
}
