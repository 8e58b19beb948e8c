package middleware

import (
	"net/http"
	"net/http/pprof"

	"portico/internal/auth"
)

// HandlePages registers read-only pages: GET and HEAD.
func HandlePages(mux *http.ServeMux, pages map[string]http.Handler, writeError auth.WriteError) {
	for path, page := range pages {
		mux.Handle(path, auth.Allow(writeError, page.ServeHTTP, http.MethodGet, http.MethodHead))
	}
}

// HandleProfiles registers /debug/pprof/.
func HandleProfiles(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
}
