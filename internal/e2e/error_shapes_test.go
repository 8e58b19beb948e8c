package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestErrorShapePerAPI requires that each error has the shape of its API, and that no API responds
// with a page or a redirect.
func TestErrorShapePerAPI(t *testing.T) {
	flags, _ := database(t)
	s := startServer(t, flags...)
	shapes := map[string]string{ // by path
		"/": `{"errors":[{"status":405,`, "/graphql": `{"errors":[{"message":`, "/schema.graphql": `{"errors":[{"status":405,`,
		"/docs":  `{"errors":[{"status":405,`,
		"/docs/": `{"errors":[{"status":405,`, "/openapi.yaml": `{"errors":[{"status":405,`, "/healthz": `{"errors":[{"status":405,`,
		"/readyz":                `{"errors":[{"status":405,`,
		"/.well-known/jwks.json": `{"errors":[{"status":405,`, "/oauth/access_token": `{"errors":[{"status":405,`,
		"/v2/settings": `{"errors":[{"status":405,`, "/v2/promotions/x": `{"errors":[{"status":405,`,
		"/catalog/nodes": `{"errors":[{"status":"405",`, "/catalog": `{"errors":[{"status":"405",`,
	}
	for path, shape := range shapes {
		for _, method := range []string{"PATCH", "TRACE", "NONSENSE"} {
			response, body := s.send(t, method, path, "")
			require.Equal(t, 405, response.StatusCode, "%s %s: %s", method, path, body)
			require.True(t, strings.HasPrefix(body, shape), "%s %s: got %s\nwant %s", method, path, body, shape)
			require.Equal(t, "application/json", response.Header.Get("Content-Type"))
			require.NotEmpty(t, response.Header.Get("Allow"), "%s %s", method, path)
		}
		response, body := s.send(t, "OPTIONS", path, "")
		require.Equal(t, http.StatusNoContent, response.StatusCode, "%s: %s", path, body)
		require.NotEmpty(t, response.Header.Get("Allow"), path)
		if allow := response.Header.Get("Allow"); strings.Contains(allow, "GET") {
			get, _ := s.send(t, "GET", path, "")
			head, none := s.send(t, "HEAD", path, "")
			require.Equal(t, get.StatusCode, head.StatusCode, path)
			require.Empty(t, none)
			require.Contains(t, allow, "HEAD", path)
		}
	}
	for path, shape := range map[string]string{
		"/nowhere": `{"errors":[{"status":404,`, "/graphql/x": `{"errors":[{"message":`, "/v2": `{"errors":[{"status":404,`,
		"/catalog/x": `{"errors":[{"status":"404",`,
		"/catalogue": `{"errors":[{"status":404,`, "/v2/../graphql": `{"errors":[{"status":404,`, "/graphql/..": `{"errors":[{"message":`,
		"/catalog/%2e%2e":    `{"errors":[{"status":"404",`,
		"/docs/..%2fgraphql": `{"errors":[{"status":404,`, "/docs//x": `{"errors":[{"status":404,`,
	} {
		response, body := s.send(t, "GET", path, "")
		require.Equal(t, 404, response.StatusCode, "%s: %s", path, body)
		require.True(t, strings.HasPrefix(body, shape), "%s: got %s\nwant %s", path, body, shape)
	}
}
