package middleware

import (
	"net/http"
	"net/http/pprof"
	"strings"
	"time"

	"portico/internal/auth"
)

// HandlePages registers read-only pages: GET and HEAD.
func HandlePages(mux *http.ServeMux, pages map[string]http.Handler, writeError auth.WriteError) {
	for path, page := range pages {
		mux.Handle(path, auth.Allow(writeError, page.ServeHTTP, http.MethodGet, http.MethodHead))
	}
}

// PlainText serves a text.
func PlainText(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8") // browsers display it
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
	})
}

// HandleProfiles registers /debug/pprof/.
func HandleProfiles(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
}
