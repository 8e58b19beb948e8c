package frontcache

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"time"

	"portico/internal/auth"
	"portico/internal/cachekey"
	"portico/internal/reqctx"
	"portico/internal/responsecache"
)

const (
	maxWarmed  = 512         // requests of one change whose responses are built again
	maxVisited = 8192        // offers that are looked at for them
	earlyTime  = time.Minute // that responses wait for the change
)

// Warm lets a handler build again, in a context of the state after a change, the responses in front that the change
// makes invalid: those that are requested most, until ctx ends. The handler is what the middleware protects, so
// that no request is logged, counted or limited. pause is called between two. Warm returns the number of responses.
func (c *Cache) Warm(ctx context.Context, handler http.Handler, pause func(context.Context)) (built int) {
	c.Responses.DropEarly()
	if before := c.dropEarly.Swap(time.AfterFunc(earlyTime, c.Responses.DropEarly)); before != nil {
		before.Stop()
	}
	for _, e := range c.endSoon(ctx) {
		if ctx.Err() != nil {
			return built
		}
		if r := c.requestOf(ctx, e); r != nil {
			handler.ServeHTTP(&discardWriter{header: http.Header{}}, r)
			built++
		}
		pause(ctx)
	}
	return built
}

// endSoon returns the entries whose responses a change makes invalid, those that are requested most first.
func (c *Cache) endSoon(ctx context.Context) []*entry {
	var offers, found []*entry
	c.Responses.Hottest(func(kept responsecache.Entry) bool {
		if e, ok := kept.(*entry); ok && e.offer != nil {
			offers = append(offers, e)
		}
		return len(offers) < maxVisited
	})
	for _, e := range offers {
		if e.offer.EndsSoon != nil && e.offer.EndsSoon(ctx) {
			if found = append(found, e); len(found) == maxWarmed {
				break
			}
		}
	}
	return found
}

// requestOf returns a request that an entry answers, from a caller with the same rights; nil if its key is damaged.
func (c *Cache) requestOf(ctx context.Context, e *entry) *http.Request {
	k := keyReader{rest: []byte(e.key), ok: true}
	method := http.MethodGet
	if k.byte() == http.MethodPost[0] {
		method = http.MethodPost
	}
	uri, header := k.text(), http.Header{}
	for index := k.byte(); k.ok && index > 0 && index <= decidingHeaders; index = k.byte() {
		for range k.number() {
			name := headerNames[index-1]
			header[name] = append(header[name], k.text())
		}
	}
	var caller any
	if principal, rest, ok := auth.CutRights(k.rest); ok {
		caller, k.rest = principal, rest
	}
	k.byte()
	if !k.ok {
		return nil
	}
	r, err := http.NewRequestWithContext(ctx, method, uri, http.NoBody)
	if err != nil {
		return nil
	}
	if method == http.MethodPost {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(k.rest)), int64(len(k.rest))
	}
	r.RequestURI, r.Header = uri, header
	if kept := e.response(c.Responses); kept != nil && kept.Encoding() != "" {
		r.Header.Set("Accept-Encoding", kept.Encoding())
	}
	r, req := reqctx.Begin(r)
	req.Caller, req.Warming = caller, true
	return r
}

// keyReader reads the parts of a key.
type keyReader struct {
	rest []byte
	ok   bool // so far
}

func (k *keyReader) byte() byte {
	if len(k.rest) == 0 {
		k.ok = false
		return 0
	}
	first := k.rest[0]
	k.rest = k.rest[1:]
	return first
}

func (k *keyReader) number() int {
	n, width := binary.Uvarint(k.rest)
	if width <= 0 || n > uint64(len(k.rest)-width) {
		k.ok, k.rest = false, nil
		return 0
	}
	k.rest = k.rest[width:]
	return int(n)
}

func (k *keyReader) text() string {
	text, rest, ok := cachekey.CutPart(k.rest)
	k.rest, k.ok = rest, k.ok && ok
	return string(text)
}

// discardWriter is the response writer of a request that nobody sent.
type discardWriter struct{ header http.Header }

func (w *discardWriter) Header() http.Header         { return w.header }
func (w *discardWriter) Write(p []byte) (int, error) { return len(p), nil }
func (w *discardWriter) WriteHeader(int)             {}
