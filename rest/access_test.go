package rest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/store"
	"portico/store/access"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// documentedOperations lists the routes of REST in the table of scopes.
func documentedOperations() (coordinates []string) {
	for _, coordinate := range auth.Coordinates() {
		if _, path, _ := strings.Cut(coordinate, " "); strings.HasPrefix(path, "/catalog") || strings.HasPrefix(path, "/v2/") {
			coordinates = append(coordinates, coordinate)
		}
	}
	return coordinates
}

// exampleRequest returns a request to a route.
func exampleRequest(coordinate string) (method, path string) {
	method, path, _ = strings.Cut(coordinate, " ")
	return method, strings.NewReplacer("hierarchies/:id", "hierarchies/workshop", "products/:id", "products/anvil", "inventories/:id",
		"inventories/anvil",
		"files/:id", "files/photo-1", "currencies/:id", "currencies/USD",
		":transaction", "ledger-5", ":id", "tools", ":slug", "manual").Replace(path)
}

func TestScopesOfRoutes(t *testing.T) {
	t.Parallel()
	require.Contains(t, documentedOperations(), "GET /v2/inventories")
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		for _, coordinate := range documentedOperations() {
			t.Run(coordinate, func(t *testing.T) {
				method, path := exampleRequest(coordinate)
				needed, _ := auth.Scope(coordinate)
				require.NotEmpty(t, needed, "no documented operation is public")
				t.Run("without a token", func(t *testing.T) {
					requireRejected(t, s.as(nil), method, path, http.StatusUnauthorized, "Authorization: Bearer <token>")
				})
				t.Run("an invalid token gets the reason", func(t *testing.T) {
					requireRejected(t, failingHandler(s, "The token expired at noon; get another."), method, path, http.StatusUnauthorized,
						"The token expired at noon; get another.")
				})
				if needed == auth.AnyScope {
					require.Equal(t, http.StatusOK, sendRequest(s.as(&auth.Principal{ClientID: "c"}), method, path).Code, "any valid token is enough")
					return
				}
				t.Run("all scopes but the required one", func(t *testing.T) {
					others := slices.DeleteFunc(access.Scopes(), func(scope string) bool { return scope == needed })
					requireRejected(t, s.as(&auth.Principal{ClientID: "c", Scopes: others}), method, path, http.StatusForbidden, "needs the scope "+needed)
					requireRejected(t, s.as(&auth.Principal{ClientID: "c"}), method, path, http.StatusForbidden, "no scope at all")
				})
				t.Run("only the required scope", func(t *testing.T) {
					w := sendRequest(s.as(&auth.Principal{ClientID: "c", Scopes: []string{needed}}), method, path)
					require.NotContains(t, []int{http.StatusUnauthorized, http.StatusForbidden}, w.Code, "%.300s", w.Body)
				})
			})
		}
	})
}

func TestScopesOfStorefrontTokens(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		storefront := s.as(&auth.Principal{ClientID: "c", Grant: auth.GrantImplicit, Scopes: []string{"catalog:read", "inventory:read"}})
		for _, coordinate := range documentedOperations() {
			method, path := exampleRequest(coordinate)
			want := http.StatusForbidden
			if scope, _ := auth.Scope(coordinate); scope == "catalog:read" || scope == "inventory:read" || scope == auth.AnyScope {
				want = http.StatusOK
			}
			if method == http.MethodPost && want == http.StatusOK {
				want = http.StatusBadRequest // permitted, but the body is missing
			}
			w := sendRequest(storefront, method, path)
			require.Equal(t, want, w.Code, "%s: %.300s", coordinate, w.Body)
		}
	})
}

// TestTokenIsCheckedFirst requires that a client without the scope learns nothing about the object.
func TestTokenIsCheckedFirst(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		for _, path := range []string{productsOf("nowhere"), productsOf("tools") + "?page[limit]=0", "/v2/inventories?filter=%zz",
			"/v2/settings"} {
			method := http.MethodGet
			if path == "/v2/settings" {
				method = http.MethodPut // without a body
			}
			requireRejected(t, s.as(nil), method, path, http.StatusUnauthorized, "")
			requireRejected(t, s.as(&auth.Principal{ClientID: "c"}), method, path, http.StatusForbidden, "")
		}
		require.Equal(t, http.StatusNotFound, sendRequest(s.as(nil), http.MethodGet, "/v2/nowhere").Code,
			"an unknown path needs no token")
		require.Equal(t, http.StatusMethodNotAllowed, sendRequest(s.as(nil), http.MethodDelete, "/v2/settings").Code, "an unsupported method needs no token")
	})
}

// failingHandler returns the handler for a request whose token is invalid.
func failingHandler(s *testServer, why string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := auth.WithTokenError(r.Context(), &store.Error{Code: store.Unauthenticated, Detail: why})
		s.as(nil).ServeHTTP(w, r.WithContext(ctx))
	})
}

func requireRejected(t *testing.T, handler http.Handler, method, path string, status int, words string) {
	t.Helper()
	w := sendRequest(handler, method, path)
	require.Equal(t, status, w.Code, "%s %s: %.300s", method, path, w.Body)
	requireJSON(t, path, w)
	require.Contains(t, w.Body.String(), words)
}
