package middleware

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"portico/internal/web/server"
	"portico/store"
)

// pingDeadline bounds how long the database may take to show that it is there.
const pingDeadline = 2 * time.Second

// health is the body of both answers.
type health struct {
	Status string `json:"status"` // ok or unavailable
	Detail string `json:"detail,omitempty"`
}

// Health answers HealthPath: 200 while the process is up. A supervisor that
// restarts on its failure must not ask for the database, or one that is away
// has every server restarted.
func Health() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeHealth(w, http.StatusOK, health{Status: "ok"})
	})
}

// Ready answers ReadyPath: 200 while requests should be sent here, 503 while
// ping fails, or takes longer than 2 s, and from the start of the shutdown on.
// Where the database is readOnly, which a standby is, it is 200 and says so: who
// only reads may well ask here.
func Ready(ping func(context.Context) error, readOnly func() bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if server.IsDraining(r.Context()) {
			writeHealth(w, http.StatusServiceUnavailable, health{"unavailable", "The server is shutting down."})
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), pingDeadline)
		defer cancel()
		if err := ping(ctx); err != nil {
			writeHealth(w, http.StatusServiceUnavailable, health{"unavailable", unavailableDetail(err)})
			return
		}
		if readOnly() {
			writeHealth(w, http.StatusOK, health{"ok", "The database is read-only at the moment: reads work, writes fail."})
			return
		}
		writeHealth(w, http.StatusOK, health{Status: "ok"})
	})
}

// unavailableDetail is what the error says to those who may not know more.
func unavailableDetail(err error) string {
	if fault := store.AsErrors(err)[0]; fault.Code == store.Unavailable {
		return fault.Detail
	}
	return "The database does not answer."
}

func writeHealth(w http.ResponseWriter, status int, body health) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a prober that is gone needs no answer
}
