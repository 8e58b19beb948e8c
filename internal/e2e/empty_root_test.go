package e2e

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/testkit"
)

const imageUser = 65532 // nonroot in distroless images

// isStatic reports whether a binary needs no dynamic loader.
func isStatic(t *testing.T, file string) bool {
	t.Helper()
	f, err := elf.Open(file)
	require.NoError(t, err)
	defer f.Close()
	return !slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
}

// emptyRoot creates a root directory like the image's: the static binary, CA certificates and two
// writable folders.
func emptyRoot(t *testing.T, authorities []byte) (root string) {
	t.Helper()
	root = t.TempDir()
	for folder, mode := range map[string]fs.FileMode{"etc/ssl/certs": 0o755, "tmp": 0o777 | fs.ModeSticky, "data": 0o700} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, folder), 0o755))
		require.NoError(t, os.Chmod(filepath.Join(root, folder), mode))
	}
	require.NoError(t, os.Chown(filepath.Join(root, "data"), imageUser, imageUser))
	require.NoError(t, os.WriteFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"), authorities, 0o644))
	binary := filepath.Join(root, "portico")
	if isStatic(t, program) {
		content, err := os.ReadFile(program)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(binary, content, 0o755))
	} else {
		build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", binary, ".")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		out, err := build.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	require.True(t, isStatic(t, binary), "the image has no dynamic loader")
	require.NoError(t, os.Chmod(root, 0o755))
	return root
}

// TestBinaryRunsInEmptyRoot runs the binary in emptyRoot with the image's user and environment,
// without capabilities, /proc and /dev. All features work, and it writes to /data only.
func TestBinaryRunsInEmptyRoot(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		testkit.SkipMissing(t, "root", "only root on Linux can give a process another root")
	}
	testkit.FullTestsOnly(t, "it builds the program as releases are")
	var traced atomic.Int64
	collector := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { traced.Add(1) }))
	defer collector.Close()
	root := emptyRoot(t, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: collector.Certificate().Raw}))
	environment := []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + collector.URL, "PORTICO_ADDR=127.0.0.1:0", "PORTICO_LINGER=0s"}
	for _, pair := range regexp.MustCompile(`PORTICO_\w+=\S+`).FindAllString(text(t, "packaging/Dockerfile"), -1) {
		if !strings.HasPrefix(pair, "PORTICO_ADDR=") { // the port may be in use
			environment = append(environment, pair)
		}
	}
	inside := func(stdin string, args ...string) *exec.Cmd {
		c := command(args...)
		c.Path, c.Args[0], c.Dir, c.Env, c.Stdin = "/portico", "/portico", "/data", environment, strings.NewReader(stdin)
		c.SysProcAttr.Chroot, c.SysProcAttr.Credential = root, &syscall.Credential{Uid: imageUser, Gid: imageUser}
		return c
	}
	done := func(stdin string, args ...string) string {
		var out, complaints bytes.Buffer
		c := inside(stdin, args...)
		c.Stdout, c.Stderr = &out, &complaints
		require.NoError(t, c.Run(), "%s: %s", args, &complaints)
		return out.String()
	}

	s := startProcess(t, inside("", "serve"))
	require.Equal(t, "ok\n", done("", "health", s.addrFlag(t)))
	require.Equal(t, "ok\n", done("", "health", "--ready", s.addrFlag(t)))
	require.Contains(t, done(text(t, demoShop), "import", "-"), "imported ")
	var client map[string]any
	require.NoError(t, json.Unmarshal([]byte(done("", "client", "create", "--name", "all", "--all-scopes", "--json")), &client))
	products := func() string {
		_, answer := s.send(t, "POST", "/oauth/access_token", url.Values{"grant_type": {"client_credentials"},
			"client_id": {client["client_id"].(string)}, "client_secret": {client["client_secret"].(string)}}.Encode())
		var token struct {
			Access string `json:"access_token"`
		}
		require.NoError(t, json.Unmarshal([]byte(answer), &token), answer)
		_, answer = s.graphql(t, token.Access, `{ product(by: {sku: "COF-AME"}) { id } }`)
		return answer
	}
	shown := func() bool { return strings.HasPrefix(products(), `{"data":{"product":{"id":`) }
	testkit.Eventually(t, true, shown, "the server serves what another process published") // once it has polled
	done("", "backup", "/data/shop.backup")
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	require.NoError(t, err)
	require.Regexp(t, `\nUid:\s65532\s65532\s65532\s65532\n`, string(status))
	require.Regexp(t, `\nCapEff:\s0+\n`, string(status))
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", s.pid))
	require.NoError(t, err)
	require.NotRegexp(t, ` .wx. `, string(maps), "no memory is writable and executable, for MemoryDenyWriteExecute of the unit")
	require.Zero(t, s.stop())
	require.Positive(t, traced.Load(), "trusts the CAs in /etc/ssl/certs")

	s = startProcess(t, inside("", "serve"))
	require.Contains(t, products(), `{"data":{"product":{"id":`, "/data persists")
	require.Zero(t, s.stop())
	var written []string
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil || info.Sys().(*syscall.Stat_t).Uid == 0 {
			return err
		}
		require.Equal(t, fs.FileMode(0o600), info.Mode(), path)
		written = append(written, strings.TrimPrefix(path, root))
		return nil
	}))
	require.Equal(t, []string{"/data/shop.backup", "/data/shop.db", "/data/shop.db.lock", "/data/shop.key"}, written)
}
