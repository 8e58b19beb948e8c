package responsecache

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"

	"portico/internal/cachekey"
	"portico/internal/dependency"
	"portico/internal/encoding"
)

// Response is a finished response. Once it is made it is immutable, and requests share it.
type Response struct {
	Body       []byte
	ETag       string                   // strong, with its quotes: bodies that differ have different ones, on any server
	ValidFrom  time.Time                // zero for no bound
	ValidUntil time.Time                // zero for no bound
	MadeFrom   *dependency.Dependencies // nil if no change makes the response invalid

	attachment      any           // what its maker has to know of it
	attachmentBytes int           // of that, in bytes
	header          []headerField // the header that belongs to the body
	identity        representation
	compressed      [2]compressedBody // by gzip, and by zstd
	compressedBytes atomic.Int64
	place           atomic.Pointer[place] // nil for a response that is in no cache
}

// place is where a response is cached.
type place struct {
	cache *Cache
	key   cachekey.Key
}

// compressedBody is created for the first client that accepts it.
type compressedBody struct {
	once sync.Once
	tag  string
	representation
}

// representation is the body as it is sent.
type representation struct {
	body   []byte        // nil where there is no such form
	header []headerField // the header of this form alone, its Etag first
}

// headerField is a header field that responses share; its values have no spare capacity, so that appending copies them.
type headerField struct {
	name   string
	values []string
}

func newHeaderField(name string, values ...string) headerField {
	return headerField{name, slices.Clip(values)}
}

// NewResponse returns a response with a body, which must not change any more, and its header.
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

// AddHeader adds a header field that belongs to the body, before anybody else has the response.
func (a *Response) AddHeader(name, value string) {
	a.header = append(a.header, newHeaderField(name, value))
}

// encodings are those of Response.compressed.
var encodings = [...]*encoding.Encoding{encoding.Gzip, encoding.Zstd}

func newForm(body []byte, tag string, more ...headerField) representation {
	return representation{body, append([]headerField{newHeaderField("Etag", tag), newHeaderField("Content-Length", strconv.Itoa(len(body)))}, more...)}
}

// Attach keeps a value of a size in bytes with the response, for its builder.
func (a *Response) Attach(beside any, size int) *Response {
	a.attachment, a.attachmentBytes = beside, size
	return a
}

// Attachment returns the value of Attach; nil for none.
func (a *Response) Attachment() any { return a.attachment }

// SetValidity sets the time during which the response is valid; a zero time is no bound.
func (a *Response) SetValidity(from, until time.Time) *Response {
	a.ValidFrom, a.ValidUntil = from, until
	return a
}

// ValidAt reports whether the response is valid at a moment.
func (a *Response) ValidAt(at Moment) bool {
	return !at.Time.Before(a.ValidFrom) && (a.ValidUntil.IsZero() || at.Time.Before(a.ValidUntil)) && a.MadeFrom.HoldIn(at.State)
}

// entityTag depends on the body alone, so that all servers send the same one.
func entityTag(body []byte) string {
	text := append(make([]byte, 0, 32), '"')
	text = strconv.AppendUint(text, xxhash.Sum64(body), 36)
	text = append(text, '.')
	text = strconv.AppendInt(text, int64(len(body)), 36)
	return string(append(text, '"'))
}

// compressedOverhead is the memory of a compressed body besides its bytes.
const compressedOverhead = 192

// Size returns the memory that the response takes in bytes, with the compressed bodies that exist.
func (a *Response) Size() int {
	n := 512 + len(a.Body) + int(a.compressedBytes.Load()) + a.attachmentBytes + a.MadeFrom.Size()
	for _, f := range a.header {
		n += 64 + len(f.name)
		for _, value := range f.values {
			n += len(value)
		}
	}
	return n
}

// compress returns the compressed body; without a body where compression does not pay, or where the response is too large
// to be cached.
func (a *Response) compress(c *encoding.Encoding) *representation {
	if len(a.Body) < encoding.MinSize || len(a.Body) > maxBodyBytes {
		return &representation{}
	}
	packed := &a.compressed[slices.Index(encodings[:], c)]
	packed.once.Do(func() {
		var text bytes.Buffer
		w := c.NewWriter(&text)
		_, _ = w.Write(a.Body)
		_ = w.Close()
		c.Release(w)
		if text.Len() < len(a.Body) {
			packed.representation = newForm(bytes.Clone(text.Bytes()), packed.tag, newHeaderField("Content-Encoding", c.Name))
			a.compressedBytes.Add(int64(compressedOverhead + text.Len()))
			if at := a.place.Load(); at != nil {
				at.cache.weighAgain(at.key)
			}
		}
	})
	return &packed.representation
}

// ServeHTTP writes the response, compressed if the client accepts it, or 304 if it has it already. The caller sets Vary and
// Cache-Control.
func (a *Response) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	for _, f := range a.header {
		header[f.name] = f.values
	}
	if tags := r.Header["If-None-Match"]; tags != nil {
		if tag := a.matchETag(tags); tag != nil {
			header["Etag"] = tag.values
			delete(header, "Content-Type")
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	a.write(w, r, 0)
}

// ServeWithoutETag writes the response without its entity tag, for responses that must not be cached.
func (a *Response) ServeWithoutETag(w http.ResponseWriter, r *http.Request) { a.write(w, r, 1) }

// write writes the response with the header fields of its representation from an index on.
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
	_, _ = w.Write(chosen.body) // fails if the client is gone
}

// matchETag returns the entity tag of an If-None-Match that is one of this response; nil for none.
func (a *Response) matchETag(tags []string) *headerField {
	for _, entries := range tags {
		for tag := range strings.SplitSeq(entries, ",") {
			switch tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag {
			case "*", a.ETag:
				return &a.identity.header[0]
			case a.compressed[0].tag, a.compressed[1].tag:
				field := newHeaderField("Etag", tag)
				return &field
			}
		}
	}
	return nil
}
