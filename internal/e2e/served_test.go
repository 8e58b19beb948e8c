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

// serverProcess is a running server, a process of its own.
type serverProcess struct {
	pid    int
	url    string
	admin  string           // of --admin-addr, if any
	stdout string           // the file that has its standard output
	log    []map[string]any // complete once it has ended
	end    func(os.Signal) (code int)
	wait   func() (code int)         // for its end, which nobody asks for
	signal func(os.Signal)           // and does not wait
	logs   func(message string) bool // whether it has logged it by now
}

// startServer starts a server on a free port and waits until it is ready. It does
// not linger unless args say so.
func startServer(t testing.TB, args ...string) *serverProcess {
	t.Helper()
	return startProcess(t, command(append([]string{"serve", "--addr", "127.0.0.1:0", "--linger", "0s"}, args...)...))
}

// startProcess starts a process that serves, and waits until it is ready.
func startProcess(t testing.TB, process *exec.Cmd) *serverProcess {
	t.Helper()
	s := &serverProcess{stdout: filepath.Join(t.TempDir(), "stdout")}
	stdout, err := os.Create(s.stdout) // a file, since what is said there before it is ready is there by then
	require.NoError(t, err)
	defer stdout.Close()
	process.Stdout = stdout
	logged, err := process.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	s.pid = process.Process.Pid
	ready, read := make(chan map[string]any, 1), make(chan struct{})
	var mu sync.Mutex // of the log, until it is complete
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
		_ = process.Wait() // it tells of the exit code
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

// stop asks the server to end, and waits for it; it may be called again.
func (s *serverProcess) stop() (code int) { return s.end(syscall.SIGTERM) }

// kill ends the server in the midst of whatever it does.
func (s *serverProcess) kill() { s.end(syscall.SIGKILL) }

// printed is what it has said on its standard output.
func (s *serverProcess) printed(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(s.stdout)
	require.NoError(t, err)
	return string(text)
}

// validated is the server's address behind one that lets no answer of REST pass
// that openapi.yaml does not have.
func (s *serverProcess) validated(t *testing.T) string {
	t.Helper()
	address, err := url.Parse(s.url)
	require.NoError(t, err)
	front := httptest.NewServer(resttest.CheckHandler(t, httputil.NewSingleHostReverseProxy(address)))
	t.Cleanup(front.Close)
	return front.URL
}

// send asks the server; headers come in pairs.
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
