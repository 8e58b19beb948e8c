package rest

import "net/http"

// bufferedResponse is an http.ResponseWriter that stores what a handler writes, for the
// response cache.
type bufferedResponse struct {
	header http.Header
	body   []byte
	pooled *[]byte // buffer of bufferPool to write the body into, if the response cache is off; nil if the cache keeps the body

	stockTime int // where the time of the latest change of all stock begins in body; 0 for none
}

// Header implements http.ResponseWriter.
func (r *bufferedResponse) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter. Cacheable routes write status 200, or
// return an error.
func (*bufferedResponse) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (r *bufferedResponse) Write(body []byte) (int, error) {
	r.body = append(r.body, body...)
	return len(body), nil
}
