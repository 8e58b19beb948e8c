package e2e

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestServe(t *testing.T) {
	t.Parallel()
	flags, path := database(t)
	s := startServer(t, append(flags, "--cors-origin", "https://shop.example")...)

	for _, test := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		holds                    string
		answers                  map[string]string // response headers
	}{
		{"alive", "GET", "/healthz", "", nil, 200, `{"status":"ok"}`, nil},
		{"ready, though empty", "GET", "/readyz", "", nil, 200, `{"status":"ok"}`, nil},
		{"the schema", "GET", "/schema.graphql", "", nil, 200, "type Query {", map[string]string{"Content-Type": "text/plain; charset=utf-8"}},
		{"the schema of a storefront", "GET", "/schema.graphql?scopes=catalog:read,inventory:read", "", nil, 200, "type CartPreview {", map[string]string{"Content-Type": "text/plain; charset=utf-8"}},
		{"the schema of an unknown scope", "GET", "/schema.graphql?scopes=jobs:read", "", nil, 400, "scopes must be known scopes", nil},
		{"the document of REST", "GET", "/openapi.yaml", "", nil, 200, "openapi: 3.1.0", map[string]string{"Content-Type": "application/yaml"}},
		{"its page", "GET", "/docs", "", nil, 200, "/docs/swagger-ui-bundle.js", nil},
		{"its page, with a slash", "GET", "/docs/", "", nil, 200, "/docs/swagger-ui-bundle.js", nil},
		{"a part of its page", "GET", "/docs/swagger-ui-bundle.js", "", nil, 200, "SwaggerUIBundle", nil},
		{"the public keys", "GET", "/.well-known/jwks.json", "", nil, 200, `"kty":"OKP"`, nil},
		{"no such client", "POST", "/oauth/access_token", "grant_type=implicit&client_id=nobody", nil, 401, `"status":401`,
			map[string]string{"Www-Authenticate": "Bearer"}},
		{"a method that is not allowed", "GET", "/oauth/access_token", "", nil, 405, `"errors"`, map[string]string{"Allow": "POST, OPTIONS"}},
		{"a request id", "GET", "/healthz", "", []string{"X-Request-Id", "r-1"}, 200, "", map[string]string{"X-Request-Id": "r-1"}},
		{"another origin's page", "GET", "/healthz", "", []string{"Origin", "https://shop.example"}, 200, "",
			map[string]string{"Access-Control-Allow-Origin": "https://shop.example"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			response, body := s.send(t, test.method, test.path, test.body, test.headers...)
			require.Equal(t, test.status, response.StatusCode, body)
			require.Contains(t, body, test.holds)
			require.NotEmpty(t, response.Header.Get("X-Request-Id"))
			for name, value := range test.answers {
				require.Equal(t, value, response.Header.Get(name), name)
			}
		})
	}

	t.Run("key file permissions", func(t *testing.T) {
		info, err := os.Stat(strings.TrimSuffix(path, ".db") + ".key")
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	})
	require.Zero(t, s.stop(), "exit code 0 after SIGTERM")
	require.Empty(t, s.printed(t), "the log goes to standard error")
	var ready int
	for _, line := range s.log {
		if line["msg"] == "ready" {
			ready++
		}
	}
	require.Equal(t, 1, ready, "one ready line")
}

func TestServeAddressInUse(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	s := startServer(t, flags...)
	at, err := url.Parse(s.url)
	require.NoError(t, err)
	code, _, stderr := portico(t, append([]string{"serve", "--addr", at.Host}, flags...)...)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, at.Host)
}

func TestDemo(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--demo")
	welcome := s.printed(t)
	printed := regexp.MustCompile(`client_id +(\S+)\n +client_secret +(\S+)\n`).FindStringSubmatch(welcome)
	require.NotNil(t, printed, welcome)
	id, secret := printed[1], printed[2]
	response, body := s.send(t, "POST", "/oauth/access_token",
		url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}}.Encode())
	require.Equal(t, http.StatusOK, response.StatusCode, body)
	for _, word := range []string{s.url + "/graphql\n", s.url + "/\n", s.url + "/schema.graphql\n", s.url + "/docs\n"} {
		require.Contains(t, welcome, word)
	}

	_, body = s.graphql(t, "", `{ __schema { queryType { name } } }`)
	require.JSONEq(t, `{"data":{"__schema":{"queryType":{"name":"Query"}}}}`, body, "introspection needs no token")
	token := demoToken(t, s)
	require.Equal(t, 1, strings.Count(welcome, token), "printed once")
	lines := regexp.MustCompile(`(?m)^  (TOKEN=|curl ).*$`).FindAllString(welcome, -1)
	require.Len(t, lines, 3)
	if _, err := exec.LookPath("curl"); err == nil { // the printed commands work
		for _, line := range lines[1:] {
			require.Less(t, len(line), 160)
			out, err := exec.CommandContext(t.Context(), "sh", "-c", lines[0]+"\n"+line).Output()
			require.NoError(t, err, line)
			require.Contains(t, string(out), `"Flat White"`, line)
		}
	}

	_, _ = s.send(t, "GET", "/healthz?x=1", "", "Authorization", "Bearer "+token)
	require.Zero(t, s.stop())
	var directory string
	for _, line := range s.log {
		if line["msg"] == "ready" {
			directory = filepath.Dir(strings.TrimPrefix(line["database"].(string), "SQLite "))
		}
		text, err := json.Marshal(line)
		require.NoError(t, err)
		require.NotContains(t, string(text), token)
		require.NotContains(t, string(text), secret)
	}
	require.Contains(t, directory, "portico-demo-")
	require.NoDirExists(t, directory, "the temporary database is removed")
}

func TestDemoWithDatabaseURL(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	for range 2 { // also with existing data
		s := startServer(t, append(flags, "--demo")...)
		require.Zero(t, s.stop())
	}
	require.Contains(t, mustRun(t, append([]string{"export", "-"}, flags...)...), `"id":"prod-espresso"`)

	other, _ := database(t)
	mustRun(t, append([]string{"import", "--generate", "10"}, other...)...)
	code, _, stderr := portico(t, append([]string{"serve", "--demo", "--addr", "127.0.0.1:0"}, other...)...)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "has another shop")
}

func TestSignalShutsDownServer(t *testing.T) {
	t.Parallel()
	process := command("serve", "--demo", "--addr", "127.0.0.1:0")
	stderr, err := process.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	var logged strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		logged.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), `"msg":"ready"`) {
			require.NoError(t, process.Process.Signal(syscall.SIGTERM))
		}
	}
	require.NoError(t, process.Wait(), logged.String())
	require.Contains(t, logged.String(), `"msg":"shutting down"`)
}
