package middleware

import (
	"net/http"
	"strconv"
	"strings"
	"sync"

	"portico/internal/encoding"
)

// Compress compresses text responses of 1 KiB or more with gzip or zstd if the client accepts it. It leaves
// streams alone: what is flushed before it has 1 KiB is not compressed. It must run inside of what counts bytes, and outside of
// the mux.
func Compress(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := compressWriters.Get().(*compressWriter)
		*c = compressWriter{ResponseWriter: w, encoding: encoding.Negotiate(r.Header["Accept-Encoding"]), isRange: r.Header["Range"] != nil, buffer: c.buffer[:0]}
		next.ServeHTTP(c, r)
		c.end() // not after a panic: then nothing was sent, or Recover closes the connection
		c.ResponseWriter = nil
		compressWriters.Put(c)
	})
}

var compressWriters = sync.Pool{New: func() any { return &compressWriter{buffer: make([]byte, 0, encoding.MinSize)} }}

// compressWriter buffers the status and the first bytes until it is decided whether to compress.
type compressWriter struct {
	http.ResponseWriter
	encoding *encoding.Encoding // nil for none
	isRange  bool               // the request has a Range header
	status   int
	buffer   []byte          // of the body, until decided
	decided  bool            // whether to compress
	encoder  encoding.Writer // nil for what is sent as it is
}

// WriteHeader implements http.ResponseWriter. It keeps the final status until decide, unless the response has no body.
func (c *compressWriter) WriteHeader(status int) {
	switch {
	case status < http.StatusOK && status != http.StatusSwitchingProtocols || c.decided:
		c.ResponseWriter.WriteHeader(status)
	case c.status != 0:
	case hasNoBody(status):
		c.status = status
		c.decide(0)
	default:
		c.status = status
	}
}

func hasNoBody(status int) bool {
	return status == http.StatusSwitchingProtocols || status == http.StatusNoContent || status == http.StatusNotModified
}

// Write implements http.ResponseWriter.
func (c *compressWriter) Write(body []byte) (int, error) {
	if !c.decided {
		if length := c.length(len(body)); length < encoding.MinSize && c.Header()["Content-Length"] == nil {
			c.buffer = append(c.buffer, body...) // until more is known
			return len(body), nil
		} else if err := c.decide(length); err != nil {
			return 0, err
		}
	}
	if c.encoder != nil {
		return c.encoder.Write(body)
	}
	return c.ResponseWriter.Write(body)
}

// length returns the length of the body as far as it is known, when more bytes come.
func (c *compressWriter) length(more int) int {
	if said := c.Header()["Content-Length"]; len(said) == 1 {
		length, _ := strconv.Atoi(said[0])
		return length
	}
	return len(c.buffer) + more
}

// decide begins a response of at least length bytes: it sends the status and the buffer. It compresses a text of MinSize or more
// that the handler has not encoded and that is not a range, if the client accepts that. All that could be compressed for
// another client varies by encoding, and so does a 304 for it.
func (c *compressWriter) decide(length int) error {
	c.decided = true
	header := c.Header()
	encoded := header["Content-Encoding"] != nil                                                          // by the handler
	unmodified := c.status == http.StatusNotModified && (isText(header) || header["Content-Type"] == nil) // net/http removes the type
	if unmodified || (encoded || length >= encoding.MinSize) && isText(header) {
		varyByEncoding(header)
		if !encoded && c.encoding != nil && length >= encoding.MinSize && !c.isRange && c.status != http.StatusPartialContent {
			c.startEncoding(header)
		}
	}
	if c.status != 0 {
		c.ResponseWriter.WriteHeader(c.status)
	}
	held := c.buffer
	c.buffer = held[:0]
	if len(held) == 0 {
		return nil
	}
	_, err := c.Write(held)
	return err
}

// startEncoding compresses the body from here on. The entity tag becomes weak, since it is that of another representation.
func (c *compressWriter) startEncoding(header http.Header) {
	header["Content-Encoding"] = []string{c.encoding.Name}
	delete(header, "Content-Length")
	delete(header, "Accept-Ranges")
	if tag := header["Etag"]; len(tag) == 1 && !strings.HasPrefix(tag[0], "W/") {
		header["Etag"] = []string{"W/" + tag[0]}
	}
	c.encoder = c.encoding.NewWriter(c.ResponseWriter)
}

// isText reports whether the Content-Type is a text that does not stream.
func isText(header http.Header) bool {
	contentType := header["Content-Type"]
	if len(contentType) != 1 {
		return false
	}
	kind, _, _ := strings.Cut(contentType[0], ";")
	switch kind = strings.ToLower(strings.TrimSpace(kind)); kind {
	case "application/json", "application/graphql-response+json", "application/yaml", "application/javascript", "image/svg+xml":
		return true
	case "text/event-stream":
		return false
	}
	return strings.HasPrefix(kind, "text/")
}

// varyByEncoding tells caches that the response depends on Accept-Encoding.
func varyByEncoding(header http.Header) {
	for _, names := range header["Vary"] {
		if strings.Contains(names, "Accept-Encoding") {
			return
		}
	}
	header["Vary"] = append(header["Vary"], "Accept-Encoding")
}

// Flush implements http.Flusher.
func (c *compressWriter) Flush() {
	if !c.decided {
		c.encoding = nil
		_ = c.decide(0) // the next write reports a client that is gone
	}
	if c.encoder == nil || c.encoder.Flush() == nil {
		_ = http.NewResponseController(c.ResponseWriter).Flush()
	}
}

// Unwrap lets http.ResponseController find the connection.
func (c *compressWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// end sends the rest.
func (c *compressWriter) end() {
	if !c.decided && (c.status != 0 || len(c.buffer) > 0) {
		_ = c.decide(c.length(0)) // fails if the client is gone
	}
	if c.encoder != nil {
		_ = c.encoder.Close()
		c.encoding.Release(c.encoder)
	}
}
