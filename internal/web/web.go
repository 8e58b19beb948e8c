// Package web is the plumbing in front of both surfaces, and of neither: ids
// and a log line for each request, recovery from panics, health, limits,
// CORS, where a request came from, and a server that ends without cutting anyone off.
//
// The order that works, outermost first:
//
//	NoSniff > RequestID > Slow > Traces > Address > Recover > (who is asking) > AccessLog > Metrics > CORS > Compress > Crowd > LimitBody > Turns > Consistent > Entrance > Route > routes
//
// Recover stands outside of AccessLog, which logs a panicking request as 500
// on its way out; AccessLog stands inside of what finds out who is asking, or
// it could not name the client.
package web

import (
	"io"
	"net/http"
)

// Middleware wraps a handler.
type Middleware = func(http.Handler) http.Handler

// Chain wraps a handler in middleware, the first of which is the outermost.
func Chain(handler http.Handler, middleware ...Middleware) http.Handler {
	for i := len(middleware) - 1; i >= 0; i-- {
		handler = middleware[i](handler)
	}
	return handler
}

// OnRequest calls asked for each request, before it is looked at.
func OnRequest(asked func()) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked()
			next.ServeHTTP(w, r)
		})
	}
}

var noSniff = []string{"nosniff"}

// NoSniff sends X-Content-Type-Options: nosniff with every response, so that
// browsers go by its Content-Type. It is the outermost layer.
func NoSniff(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["X-Content-Type-Options"] = noSniff
		next.ServeHTTP(w, r)
	})
}

// Recorder notes what was answered.
type Recorder struct {
	http.ResponseWriter
	Status int   // 0 until the answer has begun
	Bytes  int64 // of the body
}

// Record returns w as a recorder, which it may be already.
func Record(w http.ResponseWriter) *Recorder {
	if r, ok := w.(*Recorder); ok {
		return r
	}
	return &Recorder{ResponseWriter: w}
}

func (r *Recorder) WriteHeader(status int) {
	if r.Status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		r.Status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *Recorder) Write(body []byte) (int, error) {
	r.begin()
	n, err := r.ResponseWriter.Write(body)
	r.Bytes += int64(n)
	return n, err
}

func (r *Recorder) WriteString(body string) (int, error) {
	r.begin()
	n, err := io.WriteString(r.ResponseWriter, body)
	r.Bytes += int64(n)
	return n, err
}

// Flush sends what was written so far, where the connection can: streams ask
// for http.Flusher by its type.
func (r *Recorder) Flush() {
	r.begin()
	_ = http.NewResponseController(r.ResponseWriter).Flush() // the next write tells of a client that is gone
}

// Unwrap lets http.ResponseController find the connection.
func (r *Recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *Recorder) begin() {
	if r.Status == 0 {
		r.Status = http.StatusOK
	}
}
