package e2e

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/auth"
)

// playgroundExample is an example of graph/playground/examples.graphql.
type playgroundExample struct {
	name, query string
	variables   json.RawMessage
	shopper     []string // headers: name, value
}

// playgroundExamples parses the examples like the page, but keeps their comments.
func playgroundExamples(t *testing.T, text string) (examples []playgroundExample) {
	t.Helper()
	for _, part := range strings.Split("\n"+text, "\n# example: ")[1:] {
		name, query, _ := strings.Cut(part, "\n")
		example := playgroundExample{name, query, json.RawMessage("{}"), nil}
		for _, key := range []string{"title", "about"} {
			require.Regexp(t, "(?m)^# "+key+": .", query, name)
		}
		if given := regexp.MustCompile(`(?m)^# variables: (.*)$`).FindStringSubmatch(query); given != nil {
			require.True(t, json.Valid([]byte(given[1])), "%s: %s", name, given[1])
			example.variables = json.RawMessage(given[1])
		}
		if given := regexp.MustCompile(`(?m)^# shopper: (.*)$`).FindStringSubmatch(query); given != nil {
			var headers map[string]string
			require.NoError(t, json.Unmarshal([]byte(given[1]), &headers), name)
			for header, value := range headers {
				example.shopper = append(example.shopper, header, value)
			}
		}
		examples = append(examples, example)
	}
	return examples
}

// demoToken returns the token in the page.
func demoToken(t *testing.T, s *serverProcess) string {
	t.Helper()
	_, page := s.send(t, "GET", "/", "")
	found := regexp.MustCompile(` data-token="([^"]+)" data-client="([^"]+)"`).FindStringSubmatch(page)
	require.NotNil(t, found, page)
	return found[1]
}

func TestPlaygroundExamples(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--demo", "--admin-addr", "127.0.0.1:0")
	token := demoToken(t, s)
	require.Contains(t, s.printed(t), token)
	_, text := s.send(t, "GET", "/playground/examples.graphql", "")
	var names []string
	for _, example := range playgroundExamples(t, text) {
		names = append(names, example.name)
		if example.name == "live" { // a subscription does not end
			_, answer := streaming(t, s.url, token, map[string]any{"query": example.query, "variables": example.variables}).next()
			require.Contains(t, answer, `{"data":{"stockChanged":{"product":{"name":`)
			continue
		}
		body, err := json.Marshal(map[string]any{"query": example.query, "variables": example.variables})
		require.NoError(t, err)
		headers := append(example.shopper, "Content-Type", "application/json", "Authorization", "Bearer "+token)
		response, answer := s.send(t, "POST", "/graphql", string(body), headers...)
		require.Equal(t, http.StatusOK, response.StatusCode, "%s: %s", example.name, answer)
		require.NotContains(t, answer, `"errors"`, example.name)
		require.NotRegexp(t, `"data":\{"\w+":null|"userErrors":\[\{|"nodes":\[\]`, answer, "%s shows nothing", example.name)
	}
	require.Subset(t, names, []string{"node", "filters", "search", "stock", "code", "codes", "language", "gateway", "explain", "transact",
		"live"})
	s.url = s.admin
	_, metrics := s.send(t, "GET", "/metrics", "")
	require.Contains(t, metrics, `portico_graphql_queries_total{executor="plan"}`)
	require.NotContains(t, metrics, `portico_graphql_queries_total{executor="gqlgen"}`, "the plan executor runs all of them")
}

func TestPlaygroundLoadsNothingExternal(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	s := startServer(t, flags...)
	files, err := fs.ReadDir(os.DirFS("graph/playground"), ".")
	require.NoError(t, err)
	paths := map[string]string{"/": "text/html; charset=utf-8"}
	files = slices.DeleteFunc(files, func(f fs.DirEntry) bool { return strings.HasSuffix(f.Name(), ".go") })
	for _, file := range files {
		for end, contentType := range map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
			".graphql": "text/plain; charset=utf-8", ".txt": "text/plain; charset=utf-8"} {
			if strings.HasSuffix(file.Name(), end) {
				paths["/playground/"+file.Name()] = contentType
			}
		}
	}
	require.Len(t, paths, len(files), "every file has a content type")
	for path, contentType := range paths {
		response, body := s.send(t, "GET", path, "")
		require.Equal(t, http.StatusOK, response.StatusCode, "%s: %s", path, body)
		header := response.Header
		require.Equal(t, contentType, header.Get("Content-Type"), path)
		require.Equal(t, "no-cache", header.Get("Cache-Control"), path)
		require.Equal(t, "nosniff", header.Get("X-Content-Type-Options"), path)
		require.Equal(t, "no-referrer", header.Get("Referrer-Policy"), path)
		require.Equal(t, "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "+
			"base-uri 'none'; form-action 'none'; frame-ancestors 'none'", header.Get("Content-Security-Policy"), path)
		require.NotRegexp(t, `@import|<script>|<style| style=| on[a-z]+="|\beval\(|new Function\(`, body, "%s has what the policy forbids", path)
		if path != "/playground/editor.js" && path != "/playground/licenses.txt" { // checked by a browser test
			require.NotRegexp(t, `(?i:(https?:)?//[a-z0-9]+\.[a-z])|\burl\(|innerHTML`, body, "%s names what is elsewhere", path)
		}

		again, none := s.send(t, "GET", path, "", "If-None-Match", header.Get("ETag"))
		require.Equal(t, http.StatusNotModified, again.StatusCode, path)
		require.Empty(t, none)
		head, none := s.send(t, "HEAD", path, "")
		require.Equal(t, http.StatusOK, head.StatusCode, path)
		require.Empty(t, none)
		refused, body := s.send(t, "POST", path, "")
		require.Equal(t, http.StatusMethodNotAllowed, refused.StatusCode, path)
		require.Equal(t, "GET, HEAD, OPTIONS", refused.Header.Get("Allow"), path)
		require.True(t, strings.HasPrefix(body, `{"errors":[{"status":405,`), body)
	}
	_, page := s.send(t, "GET", "/", "")
	for _, reference := range regexp.MustCompile(`(?:src|href)="([^"#]+)`).FindAllStringSubmatch(page, -1) {
		if reference[1] != "data:," {
			response, _ := s.send(t, "GET", "/"+reference[1], "")
			require.Equal(t, http.StatusOK, response.StatusCode, reference[1])
		}
	}
	response, body := s.send(t, "GET", "/playground/index.html", "")
	require.Equal(t, http.StatusNotFound, response.StatusCode, "the page without a token")
	require.True(t, strings.HasPrefix(body, `{"errors":[{"status":404,`), body)
	scope, declared := auth.Scope("GET /playground/:part")
	require.True(t, declared)
	require.Empty(t, scope)
}

func TestOnlyDemoPlaygroundHasToken(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	plain, s := startServer(t, flags...), startServer(t, "--demo")
	token := demoToken(t, s)
	for _, path := range []string{"/", "/docs", "/graphiql"} {
		_, page := plain.send(t, "GET", path, "")
		require.NotContains(t, page, "data-token", path)
		require.NotContains(t, page, "data-client", path)
		requireTokenOnlyLocally(t, s, path, token)
	}
}

// requireTokenOnlyLocally requires that only pages opened on this machine contain the token.
func requireTokenOnlyLocally(t *testing.T, s *serverProcess, path, token string) {
	t.Helper()
	for _, host := range []string{"shop.example", "shop.example:8080", "localhost.shop.example", "127.0.0.1.shop.example", "10.0.0.1:8080"} {
		request, err := http.NewRequestWithContext(t.Context(), "GET", s.url+path, nil)
		require.NoError(t, err)
		request.Host = host // DNS rebinding
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		var body strings.Builder
		require.NoError(t, response.Write(&body))
		require.NotContains(t, body.String(), token, host)
	}
	_, body := s.send(t, "GET", path, "", "Origin", "http://localhost:3000")
	require.NotContains(t, body, token, "a page of another local origin")
}

// TestPagesHaveContentSecurityPolicy requires that all pages load resources from this server only.
func TestPagesHaveContentSecurityPolicy(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	s := startServer(t, flags...)
	paths := []string{"/docs", "/docs/", "/docs/docs.css", "/docs/docs.js", "/graphiql"}
	_, err := os.Stat("graph/graphiql/dist/licenses.txt") // the last file of the bundle
	bundled := err == nil
	if bundled {
		paths = append(paths, "/graphiql/graphiql.css", "/graphiql/graphiql.js", "/graphiql/licenses.txt")
	}
	for _, path := range paths {
		response, body := s.send(t, "GET", path, "")
		require.Equal(t, http.StatusOK, response.StatusCode, "%s: %s", path, body)
		require.Regexp(t, "^default-src 'none'; script-src 'self'; style-src 'self'; ", response.Header.Get("Content-Security-Policy"), path)
		require.NotEmpty(t, response.Header.Get("ETag"), path)
	}
	_, page := s.send(t, "GET", "/", "")
	require.Equal(t, bundled, strings.Contains(page, `href="graphiql"`), "the playground links to GraphiQL if built in")
	_, page = s.send(t, "GET", "/graphiql", "")
	require.Equal(t, !bundled, strings.Contains(page, "This binary was built without GraphiQL"))
	response, body := s.send(t, "GET", "/graphiql/page.html", "")
	require.Equal(t, http.StatusNotFound, response.StatusCode)
	require.True(t, strings.HasPrefix(body, `{"errors":[{"status":404,`), body)
}
