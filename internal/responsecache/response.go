package responsecache

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"portico/internal/encoding"
)

// Response is a finished body with what is told of it. It never changes, and
// requests share it.
type Response struct {
	Body       []byte
	ETag       string    // strong, with its quotes: bodies that differ have different ones, on any server
	ValidFrom  time.Time // when it began to hold; zero is ever
	ValidUntil time.Time // when it holds no longer; zero is never

	attachment      any           // what its maker has to know of it
	attachmentBytes int           // of that, in bytes
	header          []headerField // the header that belongs to the body
	identity        representation
	compressed      [2]compressedBody // by gzip, and by zstd
}

// compressedBody is a compressed form, which is made for the first who takes it.
type compressedBody struct {
	once sync.Once
	tag  string
	representation
}

// representation is the body as it is sent, plain or compressed.
type representation struct {
	body   []byte        // nil where there is no such form
	header []headerField // the header of this form alone, its Etag first
}

// headerField is a header's line, ready to be put into any number of answers: nobody
// can append to its values without copying them.
type headerField struct {
	name   string
	values []string
}

func newHeaderField(name string, values ...string) headerField {
	return headerField{name, slices.Clip(values)}
}

// NewResponse makes an answer of a body, which must not be changed any more, with the
// header that belongs to it.
func NewResponse(body []byte, header http.Header) *Response {
	a := &Response{Body: body, ETag: entityTag(body)}
	for name, values := range header {
		a.header = append(a.header, newHeaderField(name, slices.Clone(values)...))
	}
	a.identity = newForm(body, a.ETag)
	for i, c := range encodings {
		a.compressed[i].tag = c.ETag(a.ETag)
	}
	return a
}

// encodings are those of the small forms.
var encodings = [...]*encoding.Encoding{encoding.Gzip, encoding.Zstd}

func newForm(body []byte, tag string, more ...headerField) representation {
	return representation{body, append([]headerField{newHeaderField("Etag", tag), newHeaderField("Content-Length", strconv.Itoa(len(body)))}, more...)}
}

// Attach keeps something beside the body that whoever made it wants to find
// again, of a size in bytes.
func (a *Response) Attach(beside any, size int) *Response {
	a.attachment, a.attachmentBytes = beside, size
	return a
}

// Attachment is what With was given; nil for nothing.
func (a *Response) Attachment() any { return a.attachment }

// SetValidity says when the answer holds; a zero time is no bound.
func (a *Response) SetValidity(from, until time.Time) *Response {
	a.ValidFrom, a.ValidUntil = from, until
	return a
}

// ValidAt tells whether the answer is that of a moment.
func (a *Response) ValidAt(at time.Time) bool {
	return !at.Before(a.ValidFrom) && (a.ValidUntil.IsZero() || at.Before(a.ValidUntil))
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
func (a *Response) size() int {
	n := 512 + len(a.Body) + a.attachmentBytes
	if len(a.Body) >= encoding.MinSize {
		n += len(encodings) * a.maxCompressed()
	}
	for _, f := range a.header {
		n += 64 + len(f.name)
		for _, value := range f.values {
			n += len(value)
		}
	}
	return n
}

// maxCompressed is how long a compressed form may be: there is room for it
// from the start, and less is sent. Pages come to a tenth.
func (a *Response) maxCompressed() int {
	if len(a.Body) >= longBody {
		return len(a.Body) / 5
	}
	return len(a.Body) / 2
}

// compress is the answer's small form of a coding; without a body where that
// would not pay, and where it would be as large as the body and kept for nobody.
func (a *Response) compress(c *encoding.Encoding) *representation {
	if len(a.Body) < encoding.MinSize || len(a.Body) > maxBodyBytes {
		return &representation{}
	}
	packed := &a.compressed[slices.Index(encodings[:], c)]
	packed.once.Do(func() {
		var text bytes.Buffer
		w := c.NewWriter(&text)
		_, _ = w.Write(a.Body) // a buffer takes everything
		_ = w.Close()
		c.Release(w)
		if text.Len() <= a.maxCompressed() {
			packed.representation = newForm(bytes.Clone(text.Bytes()), packed.tag, newHeaderField("Content-Encoding", c.Name))
		}
	})
	return &packed.representation
}

// ServeHTTP writes the answer: compressed to those who take that, and nothing
// but word of it to those who have it already (304). It adds to the header
// that the writer has; Vary and Cache-Control are for the caller to say.
func (a *Response) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	for _, f := range a.header {
		header[f.name] = f.values
	}
	if known := r.Header["If-None-Match"]; known != nil {
		if have := a.matchETag(known); have != nil {
			header["Etag"] = have.values
			delete(header, "Content-Type")
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	a.write(w, r, 0)
}

// ServeWithoutETag writes the answer to a request that no cache keeps an answer of: without
// its Etag, compressed to those who take that.
func (a *Response) ServeWithoutETag(w http.ResponseWriter, r *http.Request) { a.write(w, r, 1) }

// write writes the answer with the header of its form from a line on.
func (a *Response) write(w http.ResponseWriter, r *http.Request, from int) {
	header := w.Header()
	chosen := &a.identity
	if c := encoding.Negotiate(r.Header["Accept-Encoding"]); c != nil {
		if small := a.compress(c); small.body != nil {
			chosen = small
		}
	}
	for _, f := range chosen.header[from:] {
		header[f.name] = f.values
	}
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(chosen.body) // a caller that went away reads nothing
}

// matchETag is the entity tag that a list of them has of the answer, in whatever
// form; nil for none.
func (a *Response) matchETag(known []string) *headerField {
	for _, entries := range known {
		for entry := range strings.SplitSeq(entries, ",") {
			switch entry = strings.TrimPrefix(strings.TrimSpace(entry), "W/"); entry {
			case "*", a.ETag:
				return &a.identity.header[0]
			case a.compressed[0].tag, a.compressed[1].tag:
				tag := newHeaderField("Etag", entry)
				return &tag
			}
		}
	}
	return nil
}
