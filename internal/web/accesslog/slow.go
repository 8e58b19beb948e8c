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

// Slow writes a line for each request that took so long or longer: its route,
// the name of its operation, and what it asked of the database. No value of
// it is told. 0 writes none. What lasts as long as its client wants is not
// slow.
func Slow(log *slog.Logger, after time.Duration, client func(context.Context) string) web.Middleware {
	return func(next http.Handler) http.Handler {
		if after <= 0 {
			return next
		}
		log := NewLogger(log)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r, known := reqctx.Begin(r)
			known.Observer = &known.Effort
			rec := web.Record(w)
			defer func() {
				if took := time.Since(known.Start); took >= after && !known.Streaming {
					attributes := append(make([]slog.Attr, 0, 9), slog.String("method", web.Truncate(r.Method, 16)), slog.String("route", web.RouteLabel(known.Route)),
						slog.Int("status", cmp.Or(rec.Status, http.StatusOK)), slog.Int64("bytes", rec.Bytes), slog.Float64("duration_ms", milliseconds(took)),
						slog.Int("statements", known.Effort.Statements()), slog.Float64("database_ms", milliseconds(known.Effort.Duration())))
					if known.OperationName != "" {
						attributes = append(attributes, slog.String("operation", web.Truncate(known.OperationName, maxOperationName)))
					}
					if who := client(r.Context()); who != "" {
						attributes = append(attributes, slog.String("client", who))
					}
					log.LogAttrs(r.Context(), slog.LevelWarn, "slow request", attributes...)
				}
			}()
			next.ServeHTTP(rec, r)
		})
	}
}

// maxOperationName bounds what is logged of an operation's name, in bytes.
const maxOperationName = 96

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
