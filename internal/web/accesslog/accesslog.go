package accesslog

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"portico/internal/reqctx"
	"portico/internal/web"
)

// Option adds to the access log.
type Option func(*accessLogger)

// WithClient has the log name the API client that asks; client returns an
// empty text when there is none.
func WithClient(client func(context.Context) string) Option {
	return func(a *accessLogger) { a.client = client }
}

type accessLogger struct {
	log    *slog.Logger
	out    *LineWriter // nil where slog writes them
	client func(context.Context) string
}

// Middleware writes a line for each answered request: method, path, query,
// status, bytes of the body, duration_ms since its first layer, request_id, client and, of GraphQL, the operation by its name. Values of the
// query are left out unless they are known to be harmless, headers and bodies
// always. Probes that are answered well are logged at debug level.
func Middleware(log *slog.Logger, options ...Option) web.Middleware {
	a := &accessLogger{log: NewLogger(log), client: func(context.Context) string { return "" }}
	for _, option := range options {
		option(a)
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r, known := reqctx.Begin(r)
			rec := web.Record(w)
			status := http.StatusInternalServerError // unless it returns: a panic passes by here, to Recover
			defer func() { a.write(r, cmp.Or(rec.Status, status), rec.Bytes, time.Since(known.Start)) }()
			next.ServeHTTP(rec, r)
			status = http.StatusOK
		})
	}
}

func (a *accessLogger) write(r *http.Request, status int, bytes int64, took time.Duration) {
	ctx, level := r.Context(), slog.LevelInfo
	if status < http.StatusBadRequest && (r.URL.Path == web.HealthPath || r.URL.Path == web.ReadyPath) {
		level = slog.LevelDebug
	}
	if !a.log.Enabled(ctx, level) {
		return
	}
	e := entry{method: web.Truncate(r.Method, 16), path: web.Truncate(r.URL.Path, 256), query: redactQuery(r.URL.RawQuery), client: a.client(ctx),
		status: status, bytes: bytes, duration: took}
	known := reqctx.From(ctx) // Middleware began it
	e.operation = web.Truncate(known.OperationName, maxOperationName)
	if a.out == nil || !e.plainASCII() {
		e.log(ctx, a.log, level)
		return
	}
	e.write(a.out, time.Now(), level, known.ID, known.TraceID)
}

const (
	redacted  = "***"
	maxParams = 16 // parameters of a query

)

// redactQuery is a query with the values that could be secret hidden, and names
// that are none.
func redactQuery(query string) string {
	if query == "" {
		return ""
	}
	var shown strings.Builder
	shown.Grow(min(len(query)+maxParams, 1<<10))
	parts := 0
	for part := range strings.SplitSeq(query, "&") {
		if parts++; parts > 1 {
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

// isPublicParam names the parameters whose values say nothing about anyone. A
// filter is not among them: it may hold a promotion's code.
func isPublicParam(name string) bool {
	return slices.Contains([]string{"page[limit]", "page[offset]", "include", "sort"}, name)
}
