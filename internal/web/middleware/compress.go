package middleware

import (
	"net/http"
	"strconv"
	"strings"
	"sync"

	"portico/internal/encoding"
)

// Compress compresses answers of more than 1 kB for those who take that: texts
// that are not compressed already, and no streams: what is flushed before there
// is 1 kB of it is sent as it is. It stands inside of what counts
// bytes, and outside of the mux.
func Compress(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := compressWriters.Get().(*compressWriter)
		*p = compressWriter{ResponseWriter: w, encoding: encoding.Negotiate(r.Header["Accept-Encoding"]), isRange: r.Header["Range"] != nil, buffer: p.buffer[:0]}
		next.ServeHTTP(p, r)
		p.end() // a panic passes by here: nothing has begun then, or the connection is cut
		p.ResponseWriter = nil
		compressWriters.Put(p)
	})
}

var compressWriters = sync.Pool{New: func() any { return &compressWriter{buffer: make([]byte, 0, encoding.MinSize)} }}

// compressWriter is an answer that may be compressed. Until that is decided its status
// and its first bytes are held.
type compressWriter struct {
	http.ResponseWriter
	encoding *encoding.Encoding // nil for none
	isRange  bool               // a part of a body was asked for
	status   int
	buffer   []byte
	decided  bool
	encoder  encoding.Writer // nil for what is sent as it is
}

// WriteHeader implements http.ResponseWriter.
func (p *compressWriter) WriteHeader(status int) {
	switch {
	case status < http.StatusOK && status != http.StatusSwitchingProtocols || p.decided:
		p.ResponseWriter.WriteHeader(status)
	case p.status != 0:
	case hasNoBody(status):
		p.status = status
		p.decide(0)
	default:
		p.status = status
	}
}

func hasNoBody(status int) bool {
	return status == http.StatusSwitchingProtocols || status == http.StatusNoContent || status == http.StatusNotModified
}

// Write implements http.ResponseWriter.
func (p *compressWriter) Write(body []byte) (int, error) {
	if !p.decided {
		if length := p.length(len(body)); length < encoding.MinSize && p.Header()["Content-Length"] == nil {
			p.buffer = append(p.buffer, body...) // there may be more
			return len(body), nil
		} else if err := p.decide(length); err != nil {
			return 0, err
		}
	}
	if p.encoder != nil {
		return p.encoder.Write(body)
	}
	return p.ResponseWriter.Write(body)
}

// length is how many bytes there are to be, as far as that is known when some
// more come.
func (p *compressWriter) length(more int) int {
	if said := p.Header()["Content-Length"]; len(said) == 1 {
		length, _ := strconv.Atoi(said[0])
		return length
	}
	return len(p.buffer) + more
}

// decide begins the answer, of at least so many bytes.
func (p *compressWriter) decide(length int) error {
	p.decided = true
	header := p.Header()
	if header["Content-Encoding"] == nil && (length >= encoding.MinSize || p.status == http.StatusNotModified) && isText(header) {
		varyByEncoding(header)
		if p.encoding != nil && length >= encoding.MinSize && !p.isRange && p.status != http.StatusPartialContent {
			p.startEncoding(header)
		}
	}
	if p.status != 0 {
		p.ResponseWriter.WriteHeader(p.status)
	}
	held := p.buffer
	p.buffer = held[:0]
	if len(held) == 0 {
		return nil
	}
	_, err := p.Write(held)
	return err
}

// startEncoding has the body be compressed from here on. Its entity tag is that of
// another form, and good enough to ask whether the text is the same.
func (p *compressWriter) startEncoding(header http.Header) {
	header["Content-Encoding"] = []string{p.encoding.Name}
	delete(header, "Content-Length")
	delete(header, "Accept-Ranges")
	if tag := header["Etag"]; len(tag) == 1 && !strings.HasPrefix(tag[0], "W/") {
		header["Etag"] = []string{"W/" + tag[0]}
	}
	p.encoder = p.encoding.NewWriter(p.ResponseWriter)
}

// isText tells whether a body is a text, of those that do not stream.
func isText(header http.Header) bool {
	of := header["Content-Type"]
	if len(of) != 1 {
		return false
	}
	kind, _, _ := strings.Cut(of[0], ";")
	switch kind = strings.ToLower(strings.TrimSpace(kind)); kind {
	case "application/json", "application/graphql-response+json", "application/yaml", "application/javascript", "image/svg+xml":
		return true
	case "text/event-stream":
		return false
	}
	return strings.HasPrefix(kind, "text/")
}

// varyByEncoding has caches tell the forms apart.
func varyByEncoding(header http.Header) {
	for _, names := range header["Vary"] {
		if strings.Contains(names, "Accept-Encoding") {
			return
		}
	}
	header["Vary"] = append(header["Vary"], "Accept-Encoding")
}

// Flush sends what was written so far.
func (p *compressWriter) Flush() {
	if !p.decided {
		p.encoding = nil
		_ = p.decide(0) // the next write tells of a client that is gone
	}
	if p.encoder == nil || p.encoder.Flush() == nil {
		_ = http.NewResponseController(p.ResponseWriter).Flush()
	}
}

// Unwrap lets http.ResponseController find the connection.
func (p *compressWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// end sends the rest.
func (p *compressWriter) end() {
	if !p.decided && (p.status != 0 || len(p.buffer) > 0) {
		_ = p.decide(p.length(0)) // a caller that went away reads nothing
	}
	if p.encoder != nil {
		_ = p.encoder.Close()
		p.encoding.Release(p.encoder)
	}
}
