package middleware

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"portico/internal/web/server"
	"portico/store"
)

// pingDeadline limits the time that the ready check waits for the database.
const pingDeadline = 2 * time.Second

// health is the body of both checks.
type health struct {
	Status string `json:"status"` // ok or unavailable
	Detail string `json:"detail,omitempty"`
}

// Health serves web.HealthPath: 200 while the process runs. It does not check the database, so that supervisors do not
// restart servers while the database is down.
func Health() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeHealth(w, http.StatusOK, health{Status: "ok"})
	})
}

// Ready serves web.ReadyPath: 200 while the server should get requests, 503 while ping fails or takes longer than 2 s,
// and during shutdown. While writes fail, as on a standby or a full disk, it is 200 and says why: without this server, reads would
// fail too. writes returns why they fail; nil if they do not.
func Ready(ping func(context.Context) error, writes func() error) http.Handler {
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
		if err := writes(); err != nil {
			writeHealth(w, http.StatusOK, health{"ok", "Reads work, writes fail: " + err.Error() + "."})
			return
		}
		writeHealth(w, http.StatusOK, health{Status: "ok"})
	})
}

// unavailableDetail returns the text of an error that unauthenticated clients may see.
func unavailableDetail(err error) string {
	if first := store.AsErrors(err)[0]; first.Code == store.Unavailable {
		return first.Detail
	}
	return "The database is not responding."
}

func writeHealth(w http.ResponseWriter, status int, body health) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // fails if the client is gone
}
