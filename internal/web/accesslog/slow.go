package accesslog

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"portico/internal/reqctx"
	"portico/internal/web"
)

// SlowLog logs each request that takes a time or longer, with its route, its operation and what it asked of the database, but no
// values. Streams are never slow.
type SlowLog struct {
	log    *slog.Logger
	after  time.Duration
	client func(context.Context) string
}

// NewSlowLog returns the log of requests that take after or longer; 0 logs none. client returns the API client of a request; ""
// for none.
func NewSlowLog(log *slog.Logger, after time.Duration, client func(context.Context) string) *SlowLog {
	return &SlowLog{NewLogger(log), after, client}
}

// Middleware logs each slow request.
func (s *SlowLog) Middleware(next http.Handler) http.Handler {
	if s.after <= 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, req := reqctx.Begin(r)
		req.Observer = &req.QueryStats
		rec := web.Record(w)
		defer func() { s.Log(req, r, cmp.Or(rec.Status, http.StatusOK), rec.Bytes) }()
		next.ServeHTTP(rec, r)
	})
}

// Log logs a request that ends now, if it was slow.
func (s *SlowLog) Log(req *reqctx.Request, r *http.Request, status int, bytes int64) {
	duration := time.Since(req.Start)
	if s.after <= 0 || duration < s.after || req.Streaming {
		return
	}
	attributes := append(make([]slog.Attr, 0, 9), slog.String("method", web.Truncate(r.Method, 16)), slog.String("route", web.RouteLabel(req.Route)),
		slog.Int("status", status), slog.Int64("bytes", bytes), slog.Float64("duration_ms", milliseconds(duration)),
		slog.Int("statements", req.QueryStats.Statements()), slog.Float64("database_ms", milliseconds(req.QueryStats.Duration())))
	if req.OperationName != "" {
		attributes = append(attributes, slog.String("operation", web.Truncate(req.OperationName, maxOperationName)))
	}
	if id := s.client(req); id != "" {
		attributes = append(attributes, slog.String("client", id))
	}
	s.log.LogAttrs(req, slog.LevelWarn, "slow request", attributes...)
}

// maxOperationName limits the logged bytes of an operation name.
const maxOperationName = 96

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
