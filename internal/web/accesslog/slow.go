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

// Slow logs each request that takes after or longer, with its route, its operation and what it asked of the database, but no
// values. 0 disables it. Streams are never slow.
func Slow(log *slog.Logger, after time.Duration, client func(context.Context) string) web.Middleware {
	return func(next http.Handler) http.Handler {
		if after <= 0 {
			return next
		}
		log := NewLogger(log)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r, req := reqctx.Begin(r)
			req.Observer = &req.Effort
			rec := web.Record(w)
			defer func() {
				if duration := time.Since(req.Start); duration >= after && !req.Streaming {
					attributes := append(make([]slog.Attr, 0, 9), slog.String("method", web.Truncate(r.Method, 16)), slog.String("route", web.RouteLabel(req.Route)),
						slog.Int("status", cmp.Or(rec.Status, http.StatusOK)), slog.Int64("bytes", rec.Bytes), slog.Float64("duration_ms", milliseconds(duration)),
						slog.Int("statements", req.Effort.Statements()), slog.Float64("database_ms", milliseconds(req.Effort.Duration())))
					if req.OperationName != "" {
						attributes = append(attributes, slog.String("operation", web.Truncate(req.OperationName, maxOperationName)))
					}
					if id := client(r.Context()); id != "" {
						attributes = append(attributes, slog.String("client", id))
					}
					log.LogAttrs(r.Context(), slog.LevelWarn, "slow request", attributes...)
				}
			}()
			next.ServeHTTP(rec, r)
		})
	}
}

// maxOperationName limits the logged bytes of an operation name.
const maxOperationName = 96

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
