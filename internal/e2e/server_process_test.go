package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/rest/resttest"
)

// serverProcess is a running server process.
type serverProcess struct {
	pid    int
	url    string
	admin  string           // URL of --admin-addr, if set
	stdout string           // path of a file with the standard output
	log    []map[string]any // complete after the end
	end    func(os.Signal) (code int)
	wait   func() (code int)         // waits for the process without a signal
	signal func(os.Signal)           // sends a signal, does not wait
	logs   func(message string) bool // reports whether the message is in the log
}

// startServer starts a server on a free port and waits until it is ready. By default it sets
// --linger to 0 and --access-log to all.
func startServer(t testing.TB, args ...string) *serverProcess {
	t.Helper()
	return startProcess(t, command(append([]string{"serve", "--addr", "127.0.0.1:0", "--linger", "0s", "--access-log", "all"}, args...)...))
}

// startProcess starts a server process and waits until it is ready.
func startProcess(t testing.TB, process *exec.Cmd) *serverProcess {
	t.Helper()
	s := &serverProcess{stdout: filepath.Join(t.TempDir(), "stdout")}
	stdout, err := os.Create(s.stdout) // a file has all output once the server is ready
	require.NoError(t, err)
	defer stdout.Close()
	process.Stdout = stdout
	logged, err := process.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	s.pid = process.Process.Pid
	ready, read := make(chan map[string]any, 1), make(chan struct{})
	var mu sync.Mutex // guards the log until it is complete
	go func() {
		defer close(read)
		defer close(ready)
		for lines := bufio.NewReader(logged); ; {
			text, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			line := map[string]any{}
			if json.Unmarshal(text, &line) != nil {
				line["msg"] = string(bytes.TrimSpace(text))
			}
			mu.Lock()
			s.log = append(s.log, line)
			mu.Unlock()
			if line["msg"] == "ready" {
				ready <- line
			}
		}
	}()
	s.wait = sync.OnceValue(func() int {
		<-read
		_ = process.Wait() // wait returns the exit code
		return process.ProcessState.ExitCode()
	})
	s.signal = func(by os.Signal) { _ = process.Process.Signal(by) } // it may have ended
	s.end = func(by os.Signal) int {
		s.signal(by)
		return s.wait()
	}
	s.logs = func(message string) bool {
		mu.Lock()
		defer mu.Unlock()
		return slices.ContainsFunc(s.log, func(line map[string]any) bool { return strings.Contains(line["msg"].(string), message) })
	}
	t.Cleanup(func() {
		s.stop()
		if !t.Failed() {
			return
		}
		for _, line := range s.log {
			if line["level"] == "ERROR" {
				t.Log(line)
			}
		}
	})
	line, ok := <-ready
	if !ok {
		require.FailNow(t, "the server did not get ready", "exit code %d, log %v", s.wait(), s.log)
	}
	s.url = line["address"].(string)
	s.admin, _ = line["admin"].(string)
	return s
}

// stop sends SIGTERM and waits for the end. It can be called again.
func (s *serverProcess) stop() (code int) { return s.end(syscall.SIGTERM) }

// kill sends SIGKILL and waits for the end.
func (s *serverProcess) kill() { s.end(syscall.SIGKILL) }

// printed returns the standard output.
func (s *serverProcess) printed(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(s.stdout)
	require.NoError(t, err)
	return string(text)
}

// validated returns the address of a proxy that fails the test for a REST response that does not
// match openapi.yaml.
func (s *serverProcess) validated(t *testing.T) string {
	t.Helper()
	address, err := url.Parse(s.url)
	require.NoError(t, err)
	front := httptest.NewServer(resttest.CheckHandler(t, httputil.NewSingleHostReverseProxy(address)))
	t.Cleanup(front.Close)
	return front.URL
}

// send sends a request. headers are pairs of name and value.
func (s *serverProcess) send(t testing.TB, method, path, body string, headers ...string) (*http.Response, string) {
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
