package web

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
)

// AccessOption adds to the access log.
type AccessOption func(*access)

// WithClient has the log name the API client that asks; client returns an
// empty text when there is none.
func WithClient(client func(context.Context) string) AccessOption {
	return func(a *access) { a.client = client }
}

type access struct {
	log    *slog.Logger
	lines  *Lines // nil where slog writes them
	client func(context.Context) string
}

// AccessLog writes a line for each answered request: method, path, query,
// status, bytes of the body, duration_ms since its first layer, request_id, client and, of GraphQL, the operation by its name. Values of the
// query are left out unless they are known to be harmless, headers and bodies
// always. Probes that are answered well are logged at debug level.
func AccessLog(log *slog.Logger, options ...AccessOption) Middleware {
	a := &access{log: Logger(log), client: func(context.Context) string { return "" }}
	for _, option := range options {
		option(a)
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r, known := reqctx.Begin(r)
			rec := record(w)
			status := http.StatusInternalServerError // unless it returns: a panic passes by here, to Recover
			defer func() { a.write(r, cmp.Or(rec.status, status), rec.bytes, time.Since(known.Start)) }()
			next.ServeHTTP(rec, r)
			status = http.StatusOK
		})
	}
}

func (a *access) write(r *http.Request, status int, bytes int64, took time.Duration) {
	ctx, level := r.Context(), slog.LevelInfo
	if status < http.StatusBadRequest && (r.URL.Path == HealthPath || r.URL.Path == ReadyPath) {
		level = slog.LevelDebug
	}
	if !a.log.Enabled(ctx, level) {
		return
	}
	e := entry{method: bounded(r.Method, 16), path: bounded(r.URL.Path, 256), query: loggable(r.URL.RawQuery), client: a.client(ctx),
		status: status, bytes: bytes, took: took}
	known := reqctx.From(ctx) // AccessLog began it
	e.operation = bounded(known.OperationName, maxOperation)
	if a.lines == nil || !e.writable() {
		e.log(ctx, a.log, level)
		return
	}
	e.write(a.lines, time.Now(), level, known.ID, known.TraceID)
}

const (
	hidden     = "***"
	maxLogged  = 16 // parameters of a query
	maxNameLen = 40
)

// loggable is a query with the values that could be secret hidden, and names
// that are none.
func loggable(query string) string {
	if query == "" {
		return ""
	}
	var shown strings.Builder
	shown.Grow(min(len(query)+maxLogged, 1<<10))
	parts := 0
	for part := range strings.SplitSeq(query, "&") {
		if parts++; parts > 1 {
			shown.WriteByte('&')
		}
		if parts > maxLogged {
			shown.WriteString("…")
			break
		}
		raw, value, assigned := strings.Cut(part, "=")
		name, err := url.QueryUnescape(raw)
		if err == nil && assigned && nameLike(name) {
			shown.WriteString(name)
			shown.WriteByte('=')
			if harmless(name) {
				shown.WriteString(bounded(value, 64))
				continue
			}
		}
		shown.WriteString(hidden)
	}
	return shown.String()
}

func nameLike(name string) bool {
	if name == "" || len(name) > maxNameLen {
		return false
	}
	for i := range len(name) {
		if !plain(name[i]) && name[i] != '[' && name[i] != ']' {
			return false
		}
	}
	return true
}

// harmless names the parameters whose values say nothing about anyone. A
// filter is not among them: it may hold a promotion's code.
func harmless(name string) bool {
	return slices.Contains([]string{"page[limit]", "page[offset]", "include", "sort"}, name)
}

func bounded(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
