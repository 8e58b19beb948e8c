package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rs/cors"
)

// preflightAge is how long a browser may remember an answer, in seconds.
const preflightAge = 600

// CORS lets pages of these origins use the service: "https://shop.example",
// "https://*.shop.example", or "*" for all. Without any, no other origin's
// page can, and OPTIONS is left to the routes. Cookies and the like are
// allowed to origins that are named in full only.
func CORS(origins []string) Middleware {
	if len(origins) == 0 {
		return func(next http.Handler) http.Handler { return next }
	}
	wildcard := slices.ContainsFunc(origins, func(origin string) bool { return strings.Contains(origin, "*") })
	return cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{
			http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodHead, http.MethodOptions,
		},
		AllowedHeaders: []string{ // what the known clients send (spec/clients.md)
			"Authorization", "Content-Type", "Accept-Language", "Store-Channel", "Store-Context-Tag", "EP-Channel",
			"EP-Context-Tag", "Store-Catalog-Release", "X-Moltin-Currency", "X-Moltin-Language", "X-Moltin-Sdk-Language", "X-Moltin-Sdk-Version",
			"X-Moltin-Application", "EP-Account-Management-Authentication-Token", "EP-Inventories-Multi-Location",
			"Idempotency-Key", RequestIDHeader, "Prefer",
		},
		ExposedHeaders:   []string{RequestIDHeader, "Content-Language", "Retry-After", "Preference-Applied", "Store-Catalog-Resolution", "Idempotent-Replay"},
		AllowCredentials: !wildcard,
		MaxAge:           preflightAge,
	}).Handler
}

// CheckOrigin tells what is wrong with an origin for CORS, which would be
// passed over silently: a browser sends scheme, host and port, nothing more.
func CheckOrigin(origin string) error {
	if origin == "*" {
		return nil
	}
	parsed, err := url.Parse(strings.Replace(origin, "*", "any", 1))
	if err != nil || parsed.Host == "" || parsed.Scheme == "" || parsed.Scheme+"://"+parsed.Host != strings.Replace(origin, "*", "any", 1) {
		return fmt.Errorf("an origin looks like https://shop.example, https://*.shop.example or *, without a path, not %q", origin)
	}
	return nil
}
