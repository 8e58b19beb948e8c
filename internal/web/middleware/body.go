package middleware

import (
	"cmp"
	"io"
	"net/http"

	"portico/internal/reqctx"
	"portico/internal/web"
)

// maxDiscarded is how many bytes of a body are read and discarded that its handler left.
const maxDiscarded = 16 << 20

// LimitBody makes reading a body longer than limit bytes fail with *http.MaxBytesError: at once if Content-Length
// announces it, else at the first byte too many. 0 means reqctx.DefaultMaxBody.
//
// It reads what the handler left of a body, up to maxDiscarded bytes and within --body-time, before net/http writes the
// response. Many clients read the response only after they sent all, and would find the connection closed.
func LimitBody(limit int64) web.Middleware {
	limit = cmp.Or(limit, reqctx.DefaultMaxBody)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r, req := reqctx.Begin(r)
			req.MaxBody = limit
			if r.Body == nil || r.Body == http.NoBody {
				next.ServeHTTP(w, r)
				return
			}
			sent := &sentBody{ReadCloser: r.Body}
			body := io.ReadCloser(sent)
			if r.ContentLength > limit {
				body = oversizedBody{body, limit}
			}
			r.Body = http.MaxBytesReader(baseWriter(w), body, limit)
			next.ServeHTTP(w, r)
			// A client that sent Expect: 100-continue sends nothing until the body is read.
			if !sent.ended && (sent.begun || r.Header.Get("Expect") == "") && r.ContentLength <= limit+maxDiscarded {
				_, _ = io.CopyN(io.Discard, sent, maxDiscarded)
			}
		})
	}
}

// sentBody is a body as the client sends it.
type sentBody struct {
	io.ReadCloser
	begun, ended bool // whether it was read at all, and to its end or an error
}

func (b *sentBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.begun, b.ended = true, err != nil
	return n, err
}

// Close does nothing: net/http closes the body after the response.
func (b *sentBody) Close() error { return nil }

// oversizedBody is a body whose announced length exceeds the limit: reading it fails at once.
type oversizedBody struct {
	io.Closer
	limit int64
}

func (b oversizedBody) Read([]byte) (int, error) { return 0, &http.MaxBytesError{Limit: b.limit} }

// baseWriter returns the writer of the connection, which MaxBytesReader needs to close it.
func baseWriter(w http.ResponseWriter) http.ResponseWriter {
	for {
		wrapper, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return w
		}
		w = wrapper.Unwrap()
	}
}
