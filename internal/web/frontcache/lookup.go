package frontcache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"io"
	"net/http"
	"time"

	"portico/internal/auth"
	"portico/internal/cachekey"
	"portico/internal/reqctx"
	"portico/internal/web"
)

// lookup is the search for the entry of one request. A sync.Pool keeps them.
type lookup struct {
	key     []byte // all that a response depends on, from begin and endKey
	body    []byte
	bodyErr error                     // of the end of the body; nil for io.EOF
	values  [decidingHeaders][]string // of the deciding headers, by headerUse
	counted bool                      // by Config.OnRequest

	// For Cache.answer and Cache.pass, which so allocate neither.
	req reqctx.Request
	rec web.Recorder
}

// maxRequestBytes limits the URI with the deciding headers, and the body, of requests that are looked up.
const maxRequestBytes = 16 << 10

// reset drops what belongs to the request.
func (l *lookup) reset() { *l = lookup{key: l.key[:0], body: l.body[:0]} }

// begin begins the key of a request. It returns false if the request cannot be one that the cache has: by its method, its size
// or a header.
func (l *lookup) begin(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet:
		if r.ContentLength != 0 {
			return false
		}
	case http.MethodPost:
		if r.URL.Path != "/graphql" || r.ContentLength <= 0 || r.ContentLength > maxRequestBytes {
			return false
		}
	default:
		return false
	}
	if len(r.TransferEncoding) > 0 || r.RequestURI == "" || web.IsHealthCheck(r.URL.Path) {
		return false
	}
	for name, values := range r.Header {
		switch use := useOf(name); {
		case use == uncached:
			return false
		case use >= 0:
			l.values[use] = values
		}
	}
	l.key = append(l.key, r.Method[0])
	l.key = cachekey.AppendPart(l.key, r.RequestURI)
	for i, values := range l.values {
		if values == nil {
			continue
		}
		l.key = binary.AppendUvarint(append(l.key, byte(i+1)), uint64(len(values)))
		for _, value := range values {
			l.key = cachekey.AppendPart(l.key, value)
		}
	}
	l.key = append(l.key, 0)
	return len(l.key) <= maxRequestBytes
}

// endKey ends the key with what the caller may see and the body, and returns the name of the entry: a hash of it. Two keys may have
// one hash, so an entry has its key too, which Cache.serve compares.
func (l *lookup) endKey(principal *auth.Principal) (name cachekey.Key) {
	if principal != nil {
		l.key = principal.AppendRights(l.key)
	}
	l.key = append(append(l.key, 0), l.body...)
	var space [32]byte
	return cachekey.Of(cachekey.AppendInt(cachekey.AppendPart(space[:0], "front"), int64(maphash.Bytes(hashSeed, l.key))))
}

// hashSeed makes hashes unknown to clients.
var hashSeed = maphash.MakeSeed()

// readBody reads the body, for at most limit; 0 is for ever. It returns false if the body cannot be read.
func (l *lookup) readBody(w http.ResponseWriter, r *http.Request, limit time.Duration) bool {
	control := http.NewResponseController(w)
	if limit > 0 {
		_ = control.SetReadDeadline(time.Now().Add(limit)) // test recorders do not support it
	}
	size := int(r.ContentLength)
	if cap(l.body) <= size {
		l.body = make([]byte, 0, max(size+1, 2<<10))
	}
	n := 0
	for l.bodyErr == nil && n <= size {
		var more int
		more, l.bodyErr = r.Body.Read(l.body[n : size+1])
		n += more
	}
	l.body = l.body[:n]
	if !errors.Is(l.bodyErr, io.EOF) {
		return false
	}
	l.bodyErr = nil
	if limit > 0 {
		_ = control.SetReadDeadline(time.Time{}) // the server reads on to notice that the client disconnects
	}
	return true
}

// again returns the request for the handler. A POST must have been through readBody: its body has the same bytes and the same end
// again. It may be called once.
func (l *lookup) again(r *http.Request) *http.Request {
	if r.Method != http.MethodPost {
		return r
	}
	read := &bodyAgain{Closer: r.Body, err: l.bodyErr}
	read.Reset(l.body)
	l.body = nil // the handler has it now
	again := *r
	again.Body = read
	return &again
}

// bodyAgain is a body that was read.
type bodyAgain struct {
	bytes.Reader
	io.Closer
	err error // in place of io.EOF; nil for none
}

// Read implements io.Reader.
func (b *bodyAgain) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) && b.err != nil {
		err = b.err
	}
	return n, err
}

// headerUse says how responses depend on a request header: the index in lookup.values of one that decides them, or one of those below.
type headerUse int

const (
	useAccept headerUse = iota
	useAcceptLanguage
	useContentType
	useOrigin
	useMoltinCurrency
	useMoltinLanguage
	useStoreChannel
	useEpChannel
	useStoreContextTag
	useEpContextTag
	useEpInventoriesMultiLocation
	decidingHeaders // their number

	unread     headerUse = -1 // no handler reads it
	perRequest headerUse = -2 // no part of the key, as it is read each time also when the cache answers, or only for logs, traces and limits
	uncached   headerUse = -3 // requests with it pass the cache
)

// useOf returns the use of a request header. Every header that the code reads is here, so that all others can be ignored.
func useOf(name string) headerUse {
	switch name {
	case "Accept":
		return useAccept
	case "Accept-Language":
		return useAcceptLanguage
	case "Content-Type":
		return useContentType
	case "Origin":
		return useOrigin
	case "X-Moltin-Currency":
		return useMoltinCurrency
	case "X-Moltin-Language":
		return useMoltinLanguage
	case "Store-Channel":
		return useStoreChannel
	case "Ep-Channel":
		return useEpChannel
	case "Store-Context-Tag":
		return useStoreContextTag
	case "Ep-Context-Tag":
		return useEpContextTag
	case "Ep-Inventories-Multi-Location":
		return useEpInventoriesMultiLocation
	case "Accept-Encoding", "If-None-Match", "Authorization", "X-Request-Id", "X-Forwarded-For", "Traceparent", "Tracestate":
		return perRequest
	case "Prefer", "Store-Catalog-Release", "Consistency-Token", "Idempotency-Key", "Range", "If-Range", "If-Match", "If-Modified-Since",
		"If-Unmodified-Since", "Content-Encoding", "Expect", "Upgrade", "Sec-Websocket-Protocol", "Sec-Websocket-Version", "Sec-Websocket-Key",
		"Sec-Websocket-Extensions", "Access-Control-Request-Method", "Access-Control-Request-Headers", "Access-Control-Request-Private-Network":
		return uncached
	}
	return unread
}

// KnowsHeader reports whether the cache knows how responses depend on a request header, in its canonical form. It ignores all others.
func KnowsHeader(name string) bool { return useOf(name) != unread }
