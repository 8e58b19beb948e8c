// Package accesslog writes log entries for requests (AccessLog, by Mode) and for each slow one (SlowLog). NewLogger adds the ids
// of the request to any log, and LineWriter batches the lines of several logs. It must not import the store, the
// server or the GraphQL and REST packages.
package accesslog

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"portico/internal/reqctx"
	"portico/internal/web"
)

// Option configures New.
type Option func(*AccessLog)

// WithClient adds the API client that client returns; it returns "" for none.
func WithClient(client func(context.Context) string) Option {
	return func(a *AccessLog) { a.client = client }
}

// AccessLog logs the requests that its Mode selects: method, path, query, status, bytes of the body, duration_ms, request_id, client and the
// name of the GraphQL operation. It redacts query values unless they are known to be harmless, and logs neither
// headers nor bodies. Health checks that succeed are logged at debug level.
type AccessLog struct {
	log    *slog.Logger
	out    *LineWriter // nil to write through slog
	client func(context.Context) string
	mode   Mode
	counts requestCounts
	errors atomic.Int64 // that selects saw since the last summary, logged or not
}

// New returns an access log.
func New(log *slog.Logger, options ...Option) *AccessLog {
	a := &AccessLog{log: NewLogger(log), mode: All, client: func(context.Context) string { return "" }}
	for _, option := range options {
		option(a)
	}
	return a
}

// Middleware logs requests.
func (a *AccessLog) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, req := reqctx.Begin(r)
		rec := web.Record(w)
		status := http.StatusInternalServerError // of a panic, which middleware.Recover handles
		defer func() {
			if rec.Status != 0 {
				status = rec.Status
			}
			a.Log(req, r, status, rec.Bytes)
		}()
		next.ServeHTTP(rec, r)
		status = http.StatusOK
	})
}

// Log logs a request that ends now.
func (a *AccessLog) Log(req *reqctx.Request, r *http.Request, status int, bytes int64) {
	level := slog.LevelInfo
	if status < http.StatusBadRequest && web.IsHealthCheck(r.URL.Path) {
		level = slog.LevelDebug
	}
	if !a.log.Enabled(req, level) || level == slog.LevelInfo && !a.selects(status, bytes) {
		return
	}
	now := time.Now()
	e := entry{method: web.Truncate(r.Method, 16), path: web.Truncate(r.URL.Path, 256), query: redactQuery(r.URL.RawQuery), client: a.client(req),
		status: status, bytes: bytes, duration: now.Sub(req.Start)}
	e.operation = web.Truncate(req.OperationName, maxOperationName)
	if a.out == nil || !e.plainASCII() {
		e.log(req, a.log, level)
		return
	}
	e.write(a.out, now, level, req.ID, req.TraceID)
}

const (
	redacted  = "***"
	maxParams = 16 // parameters of a query that are logged
)

// redactQuery replaces values that could be secret, and names that look unusual, by ***.
func redactQuery(query string) string {
	if query == "" {
		return ""
	}
	var shown strings.Builder
	shown.Grow(min(len(query)+maxParams, 1<<10))
	parts := 0
	for part := range strings.SplitSeq(query, "&") {
		parts++
		if parts > 1 {
			shown.WriteByte('&')
		}
		if parts > maxParams {
			shown.WriteString("…")
			break
		}
		raw, value, assigned := strings.Cut(part, "=")
		name, err := url.QueryUnescape(raw)
		if err == nil && assigned && isParamName(name) {
			shown.WriteString(name)
			shown.WriteByte('=')
			if isPublicParam(name) {
				shown.WriteString(web.Truncate(value, 64))
				continue
			}
		}
		shown.WriteString(redacted)
	}
	return shown.String()
}

// isParamName reports whether a name can be logged: 1 to MaxParamName bytes of A-Z, a-z, 0-9, '.', '_', '-', '[' and ']'.
func isParamName(name string) bool {
	if name == "" || len(name) > web.MaxParamName {
		return false
	}
	for i := range len(name) {
		if !web.IsToken(name[i]) && name[i] != '[' && name[i] != ']' {
			return false
		}
	}
	return true
}

// isPublicParam reports whether the values of a parameter reveal nothing personal. A filter may contain a promotion code.
func isPublicParam(name string) bool {
	return slices.Contains([]string{"page[limit]", "page[offset]", "include", "sort"}, name)
}
