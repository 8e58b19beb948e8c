package middleware

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/cors"

	"portico/internal/web"
	"portico/store"
)

// preflightAge is how long a browser may cache a preflight response, in seconds.
const preflightAge = 600

// CORS allows pages of these origins: "https://shop.example", "https://*.shop.example", or "*" for all. Without
// origins it allows none. Credentials are allowed only if no origin has a wildcard. It logs the origins that it refuses.
func CORS(origins []string, log *slog.Logger) web.Middleware {
	allowed, refused := OriginAllowed(origins), &refusedOrigins{log: log}
	return func(next http.Handler) http.Handler {
		if len(origins) > 0 {
			next = newCORS(origins).Handler(next)
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header["Origin"] != nil && !allowed(r) {
				refused.record(r)
			}
			next.ServeHTTP(w, r)
		})
	}
}

const (
	refusalLogEvery  = time.Hour // how often the same origin is logged
	maxLoggedOrigins = 20        // in that time: clients can send any origin
)

// refusedOrigins logs each refused origin once an hour, so that an operator sees why a browser shows nothing.
type refusedOrigins struct {
	log *slog.Logger

	mu     sync.Mutex
	since  time.Time
	logged map[string]struct{} // since then
}

// record logs the origin of a request, unless it is that of the server itself.
func (o *refusedOrigins) record(r *http.Request) {
	origin := r.Header.Get("Origin")
	page, err := url.Parse(origin)
	if err != nil || strings.EqualFold(page.Host, r.Host) || CheckOrigin(origin) != nil || strings.Contains(origin, "*") {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.logged == nil || time.Since(o.since) >= refusalLogEvery {
		o.since, o.logged = time.Now(), map[string]struct{}{}
	}
	if _, known := o.logged[origin]; known || len(o.logged) == maxLoggedOrigins {
		return
	}
	o.logged[origin] = struct{}{}
	o.log.WarnContext(r.Context(), "CORS refused a page of another origin. If it is yours, start the server with --cors-origin "+origin, "origin", origin)
}

// OriginAllowed reports whether the origin of a request is allowed, for WebSockets, which browsers open without a
// preflight request.
func OriginAllowed(origins []string) func(*http.Request) bool {
	if len(origins) == 0 {
		return func(*http.Request) bool { return false }
	}
	return newCORS(origins).OriginAllowed
}

// newCORS returns the rules for origins, of which there must be one.
func newCORS(origins []string) *cors.Cors {
	wildcard := slices.ContainsFunc(origins, func(origin string) bool { return strings.Contains(origin, "*") })
	return cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{
			http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodHead, http.MethodOptions,
		},
		AllowedHeaders: []string{ // sent by the clients that docs/rest.md lists, and by GraphQL clients
			"Authorization", "Content-Type", "Accept-Language", "Store-Channel", "Store-Context-Tag", "EP-Channel",
			"EP-Context-Tag", "Store-Catalog-Release", "X-Moltin-Currency", "X-Moltin-Language", "X-Moltin-Sdk-Language", "X-Moltin-Sdk-Version",
			"X-Moltin-Application", "X-Moltin-Customer-Token", "X-Moltin-Auth-Store", "EP-Beta-Features", "EP-Account-Management-Authentication-Token", "EP-Inventories-Multi-Location",
			"Traceparent", "Tracestate", "Baggage", "Sentry-Trace",
			"Idempotency-Key", store.ConsistencyHeader, RequestIDHeader, "Prefer", "Accept", "Cache-Control", "If-None-Match",
			"Apollo-Require-Preflight", "Apollographql-Client-Name", "Apollographql-Client-Version", "X-Apollo-Operation-Name",
		},
		ExposedHeaders: append([]string{
			RequestIDHeader, "Allow", "Content-Language", "ETag", "Link", "WWW-Authenticate",
			"Preference-Applied", "Store-Catalog-Resolution", "Graphql-Request", "Idempotent-Replay", store.ConsistencyHeader,
		}, rateHeaders...),
		AllowCredentials: !wildcard,
		MaxAge:           preflightAge,
	})
}

// LocalOrigins returns the origins of this machine, on any port.
func LocalOrigins() []string {
	var origins []string
	for _, host := range []string{"localhost", "127.0.0.1", "[::1]"} {
		origins = append(origins, "http://"+host, "http://"+host+":*")
	}
	return origins
}

// CheckOrigin returns an error for an origin that CORS would silently ignore.
func CheckOrigin(origin string) error {
	if origin == "*" {
		return nil
	}
	parsed, err := url.Parse(strings.Replace(origin, "*", "any", 1))
	if err != nil || parsed.Host == "" || parsed.Scheme == "" || parsed.Scheme+"://"+parsed.Host != strings.Replace(origin, "*", "any", 1) {
		return fmt.Errorf("an origin must be like https://shop.example, https://*.shop.example or *, without a path, got %q", origin)
	}
	return nil
}
