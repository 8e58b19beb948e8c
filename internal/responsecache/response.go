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

	attachment      any // of Attach
	attachmentBytes int
	header          []headerField // the header that belongs to the body
	identity        representation
	compressed      [2]compressedBody     // in the order of encodings
	compressedBytes atomic.Int64          // memory of those that exist
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

// newHeaderField returns a header field. It does not copy the values.
func newHeaderField(name string, values ...string) headerField {
	return headerField{name, slices.Clip(values)}
}

// NewResponse returns a response with a body, which must not change any more, and its header.
func NewResponse(body []byte, header http.Header) *Response {
	resp := &Response{Body: body, ETag: entityTag(body)}
	for name, values := range header {
		resp.header = append(resp.header, newHeaderField(name, slices.Clone(values)...))
	}
	resp.identity = newForm(body, resp.ETag)
	for i, c := range encodings {
		resp.compressed[i].tag = c.ETag(resp.ETag)
	}
	return resp
}

// AddHeader adds a header field that belongs to the body, before anybody else has the response.
func (resp *Response) AddHeader(name, value string) {
	resp.header = append(resp.header, newHeaderField(name, value))
}

// encodings are those of Response.compressed.
var encodings = [...]*encoding.Encoding{encoding.Gzip, encoding.Zstd}

// newForm returns a representation with its entity tag, its length and more header fields.
func newForm(body []byte, tag string, more ...headerField) representation {
	return representation{body, append([]headerField{newHeaderField("Etag", tag), newHeaderField("Content-Length", strconv.Itoa(len(body)))}, more...)}
}

// Attach keeps a value of a size in bytes with the response, which its builder needs when it finds the response in the cache. Size
// counts it.
func (resp *Response) Attach(value any, size int) *Response {
	resp.attachment, resp.attachmentBytes = value, size
	return resp
}

// Attachment returns the value of Attach; nil for none.
func (resp *Response) Attachment() any { return resp.attachment }

// SetValidity sets the time during which the response is valid; a zero time is no bound.
func (resp *Response) SetValidity(from, until time.Time) *Response {
	resp.ValidFrom, resp.ValidUntil = from, until
	return resp
}

// ValidAt reports whether the response is valid at a moment.
func (resp *Response) ValidAt(at Moment) bool {
	return !at.Time.Before(resp.ValidFrom) && (resp.ValidUntil.IsZero() || at.Time.Before(resp.ValidUntil)) && resp.MadeFrom.HoldIn(at.State)
}

// entityTag returns the entity tag of a body: its hash and its length, so that all servers send the same one.
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
func (resp *Response) Size() int {
	n := 512 + len(resp.Body) + int(resp.compressedBytes.Load()) + resp.attachmentBytes + resp.MadeFrom.Size() // 512: the struct, and the header of its forms
	for _, f := range resp.header {
		n += 64 + len(f.name)
		for _, value := range f.values {
			n += len(value)
		}
	}
	return n
}

// compress returns the compressed body. The first call with an encoding makes it, which changes the Size. It returns one without
// a body if compression does not pay, or if the response is too large to be cached.
func (resp *Response) compress(c *encoding.Encoding) *representation {
	if len(resp.Body) < encoding.MinSize || len(resp.Body) > maxBodyBytes {
		return &representation{}
	}
	packed := &resp.compressed[slices.Index(encodings[:], c)]
	packed.once.Do(func() {
		var text bytes.Buffer
		w := c.NewWriter(&text)
		_, _ = w.Write(resp.Body)
		_ = w.Close()
		c.Release(w)
		if text.Len() < len(resp.Body) {
			packed.representation = newForm(bytes.Clone(text.Bytes()), packed.tag, newHeaderField("Content-Encoding", c.Name))
			resp.compressedBytes.Add(int64(compressedOverhead + text.Len()))
			if at := resp.place.Load(); at != nil {
				at.cache.weighAgain(at.key)
			}
		}
	})
	return &packed.representation
}

// ServeHTTP writes the response, compressed if the client accepts it, or 304 if it has it already. The caller sets Vary and
// Cache-Control.
func (resp *Response) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	for _, f := range resp.header {
		header[f.name] = f.values
	}
	if tags := r.Header["If-None-Match"]; tags != nil {
		if tag := resp.matchETag(tags); tag != nil {
			header["Etag"] = tag.values
			delete(header, "Content-Type")
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	resp.write(w, r, 0)
}

// ServeWithoutETag writes the response without its entity tag and its own header, for responses that HTTP caches must not store. The
// caller sets what the body needs, such as Content-Type.
func (resp *Response) ServeWithoutETag(w http.ResponseWriter, r *http.Request) { resp.write(w, r, 1) }

// write writes the body, compressed if the client accepts it, with the header fields of that form from an index on: 1 leaves out
// the Etag. It does not write the header of the response.
func (resp *Response) write(w http.ResponseWriter, r *http.Request, from int) {
	header := w.Header()
	chosen := &resp.identity
	if c := encoding.Negotiate(r.Header["Accept-Encoding"]); c != nil {
		if small := resp.compress(c); small.body != nil {
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
func (resp *Response) matchETag(tags []string) *headerField {
	for _, entries := range tags {
		for tag := range strings.SplitSeq(entries, ",") {
			switch tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag {
			case "*", resp.ETag:
				return &resp.identity.header[0]
			case resp.compressed[0].tag, resp.compressed[1].tag:
				field := newHeaderField("Etag", tag)
				return &field
			}
		}
	}
	return nil
}
