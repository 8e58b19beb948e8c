package web

import (
	"io"
	"net/http"
)

// Recorder is a response writer that records the status and the size of the response.
type Recorder struct {
	http.ResponseWriter
	Status int   // 0 until the response has begun
	Bytes  int64 // of the body
}

// Record returns w itself if it is a Recorder, else a new one around it.
func Record(w http.ResponseWriter) *Recorder {
	if r, ok := w.(*Recorder); ok {
		return r
	}
	return &Recorder{ResponseWriter: w}
}

// WriteHeader implements http.ResponseWriter.
func (r *Recorder) WriteHeader(status int) {
	if r.Status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		r.Status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *Recorder) Write(body []byte) (int, error) {
	r.begin()
	n, err := r.ResponseWriter.Write(body)
	r.Bytes += int64(n)
	return n, err
}

// WriteString implements io.StringWriter.
func (r *Recorder) WriteString(body string) (int, error) {
	r.begin()
	n, err := io.WriteString(r.ResponseWriter, body)
	r.Bytes += int64(n)
	return n, err
}

// Flush implements http.Flusher, which streams look for.
func (r *Recorder) Flush() {
	r.begin()
	_ = http.NewResponseController(r.ResponseWriter).Flush() // the next write reports a client that is gone
}

// Unwrap lets http.ResponseController find the connection.
func (r *Recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *Recorder) begin() {
	if r.Status == 0 {
		r.Status = http.StatusOK
	}
}
