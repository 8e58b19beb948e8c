package auth_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/store"
	"portico/store/access"
)

// TestAnonymousClient: only a client that exists and can do nothing but read may stand for everyone.
func TestAnonymousClient(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	withScopes := func(scopes ...string) *access.Client {
		client, _ := f.newClient(t, scopes)
		return client
	}
	revoked := withScopes("catalog:read")
	_, err := f.store.Access.RevokeClient(t.Context(), "command:test", revoked.ID)
	require.NoError(t, err)
	const create = "create one with portico client create --name anonymous --scope catalog:read"
	for id, says := range map[string]string{
		"nobody":                        `there is no API client "nobody": portico client list has the ids, or ` + create,
		revoked.ID:                      "was revoked: " + create,
		f.client.ID:                     "is not public: it has the scope catalog:write; " + create,
		withScopes("inventory:read").ID: "cannot read catalogs: it has inventory:read, not catalog:read; " + create,
		withScopes("catalog:read", "checkout:write").ID: "is not public: it has the scope checkout:write",
	} {
		require.ErrorContains(t, f.service.AnswerAnonymously(t.Context(), id), says)
	}
	require.NoError(t, f.service.AnswerAnonymously(t.Context(), withScopes("catalog:read").ID))
	require.NoError(t, f.service.AnswerAnonymously(t.Context(), withScopes("catalog:read", "inventory:read").ID))
}

// TestAnonymousCoordinates: without a token, a request may use what needs catalog:read, by GET and as a query.
func TestAnonymousCoordinates(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client, _ := f.newClient(t, auth.ShopperScopes())
	require.NoError(t, f.service.AnswerAnonymously(t.Context(), client.ID))
	contextOf := func(method, path string, headers ...string) (ctx context.Context) {
		r := httptest.NewRequest(method, path, nil)
		for i := 0; i+1 < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		f.service.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { ctx = r.Context() })).ServeHTTP(httptest.NewRecorder(), r)
		return ctx
	}
	ctx := contextOf(http.MethodPost, "/graphql")
	require.Equal(t, client.ID, auth.ClientID(ctx))
	require.Empty(t, auth.PrincipalFrom(ctx).QuotaClientID(), "counts by address, as other strangers")
	require.Equal(t, auth.RequireToken(t.Context()), auth.RequireToken(ctx))
	var allowed []string
	for _, coordinate := range auth.Coordinates() {
		if err := auth.Require(ctx, coordinate); err == nil {
			if scope, _ := auth.Scope(coordinate); scope != "" {
				allowed = append(allowed, coordinate)
			}
		} else {
			require.Equal(t, auth.Require(t.Context(), coordinate), err, "as without a client: %s", coordinate)
			require.True(t, store.HasCode(err, store.Unauthenticated))
		}
	}
	require.Equal(t, []string{"GET /catalog", "GET /catalog/hierarchies", "GET /catalog/hierarchies/:id", "GET /catalog/hierarchies/:id/children",
		"GET /catalog/hierarchies/:id/nodes", "GET /catalog/hierarchies/:id/products", "GET /catalog/nodes", "GET /catalog/nodes/:id",
		"GET /catalog/nodes/:id/relationships/children", "GET /catalog/nodes/:id/relationships/products", "GET /catalog/products",
		"GET /catalog/products/:id", "GET /catalog/products/:id/relationships/children", "GET /catalog/products/:id/relationships/component_products",
		"GET /v2/currencies", "GET /v2/currencies/:id", "GET /v2/files", "GET /v2/files/:id", "Query.activePromotions", "Query.attributes", "Query.cartPreview", "Query.catalogNode", "Query.catalogNodes",
		"Query.catalogRelease", "Query.channels", "Query.currencies", "Query.file", "Query.files", "Query.hierarchies", "Query.hierarchy", "Query.locales",
		"Query.node", "Query.nodes", "Query.product", "Query.productConfigured", "Query.products",
		"Query.promotionCodeCheck(lines:)", "Query.redirect", "Query.searchSuggestions", "Query.sitemap"}, allowed)
	for _, path := range []string{"/catalog", "/catalog/products/a", "/v2/files", "/graphql?query={a}"} {
		require.NoError(t, auth.Require(contextOf(http.MethodGet, path), "Query.product"))
		require.NoError(t, auth.Require(contextOf(http.MethodHead, path), "Query.product"))
		require.Error(t, auth.Require(contextOf(http.MethodPut, path), "Query.product"))
	}
	for _, ctx := range []context.Context{contextOf(http.MethodPost, "/catalog/products/a/configure"), contextOf(http.MethodGet, "/playground/page.js"),
		contextOf(http.MethodGet, "/graphql", "Upgrade", "websocket"), contextOf(http.MethodPost, "/oauth/access_token")} {
		require.Nil(t, auth.PrincipalFrom(ctx))
	}
	require.Error(t, auth.Require(contextOf(http.MethodGet, "/catalog", "Authorization", "Bearer x"), "Query.product"))
	require.NoError(t, f.store.Close())
	_, err := f.store.Access.RevokeClient(t.Context(), "command:test", client.ID)
	require.Error(t, err)
	require.NoError(t, auth.Require(contextOf(http.MethodGet, "/catalog"), "Query.product"), "known, without the database")
}
