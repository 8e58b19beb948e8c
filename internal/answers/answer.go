package answers

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"portico/internal/coding"
)

// Answer is a finished body with what is told of it. It never changes, and
// requests share it.
type Answer struct {
	Body  []byte
	ETag  string    // strong, with its quotes: bodies that differ have different ones, on any server
	From  time.Time // when it began to hold; zero is ever
	Until time.Time // when it holds no longer; zero is never

	beside any     // what its maker has to know of it
	weight int     // of that, in bytes
	about  []field // the header that belongs to the body
	whole  form
	small  [2]small // by gzip, and by zstd
}

// small is a compressed form, which is made for the first who takes it.
type small struct {
	once sync.Once
	tag  string
	form
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
	for i, c := range codings {
		a.small[i].tag = c.Tag(a.ETag)
	}
	return a
}

// codings are those of the small forms.
var codings = [...]*coding.Coding{coding.Gzip, coding.Zstd}

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

// longBody is the shortest body of those that compress well, in bytes.
const longBody = 16 << 10

// size is what the answer takes in memory, its compressed forms included,
// whether they have been made or not.
func (a *Answer) size() int {
	n := 512 + len(a.Body) + a.weight
	if len(a.Body) >= coding.Least {
		n += len(codings) * a.mostCompressed()
	}
	for _, f := range a.about {
		n += 64 + len(f.name)
		for _, value := range f.values {
			n += len(value)
		}
	}
	return n
}

// mostCompressed is how long a compressed form may be: there is room for it
// from the start, and less is sent. Pages come to a tenth.
func (a *Answer) mostCompressed() int {
	if len(a.Body) >= longBody {
		return len(a.Body) / 5
	}
	return len(a.Body) / 2
}

// compressed is the answer's small form of a coding; without a body where that
// would not pay, and where it would be as large as the body and kept for nobody.
func (a *Answer) compressed(c *coding.Coding) *form {
	if len(a.Body) < coding.Least || len(a.Body) > largest {
		return &form{}
	}
	packed := &a.small[slices.Index(codings[:], c)]
	packed.once.Do(func() {
		var text bytes.Buffer
		w := c.To(&text)
		_, _ = w.Write(a.Body) // a buffer takes everything
		_ = w.Close()
		c.Done(w)
		if text.Len() <= a.mostCompressed() {
			packed.form = newForm(bytes.Clone(text.Bytes()), packed.tag, line("Content-Encoding", c.Name))
		}
	})
	return &packed.form
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
	if c := coding.Chosen(r.Header["Accept-Encoding"]); c != nil {
		if small := a.compressed(c); small.body != nil {
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
			case a.small[0].tag, a.small[1].tag:
				tag := line("Etag", entry)
				return &tag
			}
		}
	}
	return nil
}
