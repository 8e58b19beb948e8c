package web

import (
	"net/http"
	"strings"
	"time"

	"portico/internal/auth"
)

// HandlePages adds pages that are only read to a mux.
func HandlePages(mux *http.ServeMux, pages map[string]http.Handler, writeError auth.WriteError) {
	for path, page := range pages {
		mux.Handle(path, auth.Allow(writeError, page.ServeHTTP, http.MethodGet, http.MethodHead))
	}
}

// PlainText is a page of plain text.
func PlainText(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8") // so that a browser shows it
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
	})
}
