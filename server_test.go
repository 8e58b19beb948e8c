package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/rest/resttest"
	"portico/store/storetest"
)

// TestMain lets the tests run portico as a process of its own, which they can
// kill: the test binary under that name is portico.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "portico" {
		main()
	}
	storetest.Main(m)
}

// portico runs a command line in this process.
func portico(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(t.Context(), args, &out, &err)
	return code, out.String(), err.String()
}

// good runs a command line that must succeed, and returns its answer.
func good(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := portico(t, args...)
	require.Zero(t, code, "%s: %s", args, stderr)
	return stdout
}

// database is the flags for a new SQLite database, in a directory of its own.
func database(t *testing.T) (flags []string, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "portico.db")
	return []string{"--database-url", "file:" + path, "--synchronous", "OFF"}, path
}

// served is a running server.
type served struct {
	url    string
	admin  string        // of --admin-addr, if any
	stdout *bytes.Buffer // complete once it has ended
	log    []map[string]any
	stop   func() (code int) // may be called again
}

// serving starts a server on a free port and waits until it is ready.
func serving(t *testing.T, args ...string) *served {
	t.Helper()
	s := &served{stdout: &bytes.Buffer{}}
	ctx, cancel := context.WithCancel(t.Context())
	logged, stderr := io.Pipe()
	ended, code := make(chan struct{}), 0
	go func() {
		defer close(ended)
		code = run(ctx, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...), s.stdout, stderr)
		stderr.Close()
	}()
	ready, read := make(chan map[string]any, 1), make(chan struct{})
	go func() {
		defer close(read)
		defer close(ready)
		lines := bufio.NewScanner(logged)
		for lines.Scan() {
			line := map[string]any{}
			if json.Unmarshal(lines.Bytes(), &line) != nil {
				line["msg"] = lines.Text()
			}
			s.log = append(s.log, line)
			if line["msg"] == "ready" {
				ready <- line
			}
		}
	}()
	s.stop = func() int {
		cancel()
		<-ended
		<-read
		return code
	}
	t.Cleanup(func() { s.stop() })
	line, ok := <-ready
	if !ok {
		s.stop()
		require.FailNow(t, "the server did not get ready", "exit code %d, log %v", code, s.log)
	}
	s.url = line["address"].(string)
	s.admin, _ = line["admin"].(string)
	return s
}

// held is the server's address behind one that lets no answer of REST pass
// that openapi.yaml does not have.
func (s *served) held(t *testing.T) string {
	t.Helper()
	address, err := url.Parse(s.url)
	require.NoError(t, err)
	front := httptest.NewServer(resttest.Held(t, httputil.NewSingleHostReverseProxy(address)))
	t.Cleanup(front.Close)
	return front.URL
}

// send asks the server; headers come in pairs.
func (s *served) send(t *testing.T, method, path, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response, string(answer)
}

func TestServe(t *testing.T) {
	t.Parallel()
	flags, path := database(t)
	s := serving(t, append(flags, "--cors-origin", "https://shop.example")...)

	for _, test := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		holds                    string
		answers                  map[string]string // headers
	}{
		{"alive", "GET", "/healthz", "", nil, 200, `{"status":"ok"}`, nil},
		{"ready, though empty", "GET", "/readyz", "", nil, 200, `{"status":"ok"}`, nil},
		{"the schema", "GET", "/schema.graphql", "", nil, 200, "type Query {", map[string]string{"Content-Type": "text/plain; charset=utf-8"}},
		{"the document of REST", "GET", "/openapi.yaml", "", nil, 200, "openapi: 3.1.0", map[string]string{"Content-Type": "application/yaml"}},
		{"its page", "GET", "/docs", "", nil, 200, "/docs/swagger-ui-bundle.js", nil},
		{"its page, with a slash", "GET", "/docs/", "", nil, 200, "/docs/swagger-ui-bundle.js", nil},
		{"a part of its page", "GET", "/docs/swagger-ui-bundle.js", "", nil, 200, "SwaggerUIBundle", nil},
		{"the public keys", "GET", "/.well-known/jwks.json", "", nil, 200, `"kty":"OKP"`, nil},
		{"no such client", "POST", "/oauth/access_token", "grant_type=implicit&client_id=nobody", nil, 401, `"status":401`, map[string]string{"Www-Authenticate": "Bearer"}},
		{"a method that is not allowed", "GET", "/oauth/access_token", "", nil, 405, `"errors"`, map[string]string{"Allow": "POST, OPTIONS"}},
		{"a request id", "GET", "/healthz", "", []string{"X-Request-Id", "r-1"}, 200, "", map[string]string{"X-Request-Id": "r-1"}},
		{"another origin's page", "GET", "/healthz", "", []string{"Origin", "https://shop.example"}, 200, "", map[string]string{"Access-Control-Allow-Origin": "https://shop.example"}},
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

	t.Run("the key file is its owner's", func(t *testing.T) {
		info, err := os.Stat(strings.TrimSuffix(path, ".db") + ".key")
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	})
	require.Zero(t, s.stop(), "a server that was asked to end has not failed")
	require.Empty(t, s.stdout.String(), "the log goes to standard error")
	var ready int
	for _, line := range s.log {
		if line["msg"] == "ready" {
			ready++
		}
	}
	require.Equal(t, 1, ready, "one line says that it is ready")
}

func TestServeKeepsItsKeys(t *testing.T) {
	flags, _ := database(t)
	first := serving(t, flags...)
	_, before := first.send(t, "GET", "/.well-known/jwks.json", "")
	require.Zero(t, first.stop())

	second := serving(t, flags...)
	_, after := second.send(t, "GET", "/.well-known/jwks.json", "")
	require.Zero(t, second.stop())
	require.Equal(t, before, after)

	t.Setenv("PORTICO_SEAL_KEY", base64.StdEncoding.EncodeToString(make([]byte, 32)))
	code, _, stderr := portico(t, append([]string{"serve", "--addr", "127.0.0.1:0"}, flags...)...)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "give the key that this database was used with before")
}

func TestServeAddressInUse(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	s := serving(t, flags...)
	at, err := url.Parse(s.url)
	require.NoError(t, err)
	code, _, stderr := portico(t, append([]string{"serve", "--addr", at.Host}, flags...)...)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, at.Host)
}

func TestDemo(t *testing.T) {
	t.Parallel()
	s := serving(t, "--demo")
	printed := regexp.MustCompile(`client_id +(\S+)\n +client_secret +(\S+)\n +token +(\S+)\n`).FindStringSubmatch(s.stdout.String())
	require.NotNil(t, printed, s.stdout.String())
	id, secret, token := printed[1], printed[2], printed[3]

	response, body := s.send(t, "POST", "/oauth/access_token",
		url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}}.Encode())
	require.Equal(t, http.StatusOK, response.StatusCode, body)
	for _, word := range []string{
		s.url + "/graphql", s.url + "/\n", s.url + "/schema.graphql",
		"curl -g '" + s.url + "/catalog/nodes/node-coffee/relationships/products?page[limit]=3&include=main_image' -H 'Authorization: Bearer " + token + "'",
		`{"Authorization": "Bearer ` + token + `"}`,
	} {
		require.Contains(t, s.stdout.String(), word)
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
	require.NoDirExists(t, directory, "the temporary store is gone")
}

func TestDemoInANamedDatabase(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	for range 2 { // and again
		s := serving(t, append(flags, "--demo")...)
		require.Zero(t, s.stop())
	}
	require.Contains(t, good(t, append([]string{"export", "-"}, flags...)...), `"id":"prod-espresso"`)

	other, _ := database(t)
	good(t, append([]string{"import", "--generate", "10"}, other...)...)
	code, _, stderr := portico(t, append([]string{"serve", "--demo", "--addr", "127.0.0.1:0"}, other...)...)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "holds another shop")
}

func TestASignalEndsTheServerWell(t *testing.T) {
	t.Parallel()
	executable, err := os.Executable()
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), executable, "serve", "--demo", "--addr", "127.0.0.1:0")
	command.Args[0] = "portico"
	stderr, err := command.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	var logged strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		logged.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), `"msg":"ready"`) {
			require.NoError(t, command.Process.Signal(syscall.SIGTERM))
		}
	}
	require.NoError(t, command.Wait(), logged.String())
	require.Contains(t, logged.String(), `"msg":"shutting down"`)
}
