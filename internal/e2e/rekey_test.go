package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// keyOf returns a sealing key of equal bytes, in base64.
func keyOf(fill byte) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(string(rune(fill)), 32)))
}

// client creates a client and returns a token with all scopes.
func (s *serverProcess) client(t *testing.T, flags ...string) (id, token string) {
	t.Helper()
	var client struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	require.NoError(t, json.Unmarshal([]byte(mustRun(t, append([]string{"client", "create", "--name", "all", "--all-scopes", "--json"},
		flags...)...)), &client))
	var granted struct {
		AccessToken string `json:"access_token"`
	}
	_, answer := s.send(t, "POST", "/oauth/access_token", "grant_type=client_credentials&client_id="+client.ID+"&client_secret="+client.Secret)
	require.NoError(t, json.Unmarshal([]byte(answer), &granted), answer)
	return client.ID, granted.AccessToken
}

// unlimited are flags that disable the rate limits of token requests.
var unlimited = []string{"--token-rate-client", "0", "--token-rate-address", "0"}

// underLoad calls change while it sends requests that open or seal secrets. All requests must
// succeed.
func (s *serverProcess) underLoad(t *testing.T, client, token string, change func()) {
	t.Helper()
	requests := []struct{ method, path, body string }{
		{"GET", "/v2/gateways", ""},
		{"PUT", "/v2/gateways/card_processor", `{"data":{"password":"again %d"}}`},
		{"GET", "/v2/gateways/card_processor", ""},
		{"POST", "/oauth/access_token", "grant_type=implicit&client_id=" + client},
		{"GET", "/v2/inventories", ""},
	}
	var done, good atomic.Int64
	var group sync.WaitGroup
	stop := make(chan struct{})
	for worker := range 4 {
		group.Go(func() {
			for i := worker; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				r := requests[i%len(requests)]
				body := r.body
				if strings.Contains(body, "%d") {
					body = fmt.Sprintf(body, i)
				}
				request, err := http.NewRequestWithContext(t.Context(), r.method, s.url+r.path, strings.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				request.Header.Set("Authorization", "Bearer "+token)
				response, err := http.DefaultClient.Do(request)
				done.Add(1)
				if err != nil {
					t.Error(err)
					return
				}
				response.Body.Close()
				if response.StatusCode == http.StatusOK {
					good.Add(1)
				} else {
					t.Errorf("%s %s answers %s", r.method, r.path, response.Status)
				}
			}
		})
	}
	wait := func(n int64) {
		for until := done.Load() + n; done.Load() < until && !t.Failed(); {
			time.Sleep(time.Millisecond)
		}
	}
	wait(20)
	change()
	wait(60)
	close(stop)
	group.Wait()
	require.Equal(t, done.Load(), good.Load())
}

func TestRekeyUnderLoadOnSQLite(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "TestRekeyWithSealKeyFlag changes the key")
	flags, path := database(t)
	keyFile := strings.TrimSuffix(path, ".db") + ".key"
	read := func(file string) string {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return string(text)
	}
	s := startServer(t, slices.Concat(flags, unlimited)...)
	client, token := s.client(t, flags...)
	response, answer := s.send(t, "PUT", "/v2/gateways/card_processor",
		`{"data":{"enabled":true,"merchant_id":"m","username":"u","password":"first"}}`, "Authorization", "Bearer "+token)
	require.Equal(t, 200, response.StatusCode, answer)
	first := read(keyFile)
	s.underLoad(t, client, token, func() {
		for range 3 {
			before := read(keyFile)
			require.Contains(t, mustRun(t, append([]string{"rekey"}, flags...)...), "encrypted 1 signing key and 1 password with key ")
			require.NotEqual(t, before, read(keyFile))
			require.True(t, strings.HasPrefix(read(keyFile+".former"), before))
			info, err := os.Stat(keyFile)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		}
	})
	require.Zero(t, s.stop())

	again := startServer(t, flags...)
	response, _ = again.send(t, "GET", "/v2/gateways/card_processor", "", "Authorization", "Bearer "+token)
	require.Equal(t, 200, response.StatusCode, "the signing key is unchanged")
	require.Zero(t, again.stop())
	old := filepath.Join(t.TempDir(), "old.key")
	require.NoError(t, os.WriteFile(old, []byte(first), 0o600))
	code, _, stderr := portico(t, append([]string{"serve", "--addr", "127.0.0.1:0", "--key-file", old}, flags...)...)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "Set the key that this database was used with")
}

// TestRekeyBeforeFirstServe requires that rekey creates the key file, but not if the database has
// secrets of another key.
func TestRekeyBeforeFirstServe(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "TestRekeyWithSealKeyFlag changes the key")
	flags, path := database(t)
	keyFile := strings.TrimSuffix(path, ".db") + ".key"
	rekey := append([]string{"rekey"}, flags...)
	mustRun(t, append([]string{"import", demoShop}, flags...)...)
	require.NoFileExists(t, keyFile)
	require.Equal(t, "the database has no secrets yet; created the key file "+keyFile+"\n", mustRun(t, rekey...))
	first, err := os.ReadFile(keyFile)
	require.NoError(t, err)
	s := startServer(t, flags...)
	_, token := s.client(t, flags...)
	require.Equal(t, 200, s.reads(t, token))
	require.Contains(t, mustRun(t, rekey...), "encrypted 1 signing key and 0 passwords")
	require.Equal(t, 200, s.reads(t, token))
	require.Zero(t, s.stop())
	former, err := os.ReadFile(keyFile + ".former")
	require.NoError(t, err)
	require.Equal(t, string(first), string(former))

	require.NoError(t, os.Remove(keyFile))
	code, _, stderr := portico(t, rekey...)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, keyFile+" is missing, and the database has secrets that only its key decrypts.")
	require.NoFileExists(t, keyFile)
}

// TestRekeyResumesAfterInterruption starts with both keys in the file, as an interruption leaves
// it.
func TestRekeyResumesAfterInterruption(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "TestRekeyWithSealKeyFlag changes the key")
	flags, path := database(t)
	keyFile := strings.TrimSuffix(path, ".db") + ".key"
	s := startServer(t, flags...)
	_, token := s.client(t, flags...)
	present, err := os.ReadFile(keyFile)
	require.NoError(t, err)
	for _, content := range []string{keyOf('n') + "\n" + string(present), keyOf('n') + "\n" + string(present)} {
		require.NoError(t, os.WriteFile(keyFile, []byte(content), 0o600))
		mustRun(t, append([]string{"rekey"}, flags...)...)
		now, err := os.ReadFile(keyFile)
		require.NoError(t, err)
		require.Equal(t, keyOf('n')+"\n", string(now))
		response, _ := s.send(t, "GET", "/v2/gateways", "", "Authorization", "Bearer "+token)
		require.Equal(t, 200, response.StatusCode)
	}
}

func TestRekeyWithSealKeyFlag(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		flags := []string{"--database-url", e.URL(t)}
		with := func(keys ...string) []string { return append(flags, "--seal-key", strings.Join(keys, ",")) }
		before, after := keyOf('b'), keyOf('a')
		startServer(t, with(before)...).stop()
		s := startServer(t, slices.Concat(with(after, before), unlimited)...) // the new key, before rekey
		client, token := s.client(t, flags...)
		response, answer := s.send(t, "PUT", "/v2/gateways/card_processor",
			`{"data":{"enabled":true,"merchant_id":"m","username":"u","password":"first"}}`, "Authorization", "Bearer "+token)
		require.Equal(t, 200, response.StatusCode, answer)

		code, _, stderr := portico(t, append([]string{"rekey"}, with(after)...)...)
		require.Equal(t, 2, code)
		require.Contains(t, stderr, "rekey needs two keys, the new one and then the current one")
		code, _, stderr = portico(t, append([]string{"rekey"}, with(after, keyOf('x'))...)...)
		require.Equal(t, 1, code)
		require.Contains(t, stderr, "Nothing was changed")
		require.NotContains(t, stderr, after)

		old := startServer(t, with(before)...) // a server with the old key only
		require.Zero(t, old.stop())
		s.underLoad(t, client, token, func() {
			require.Contains(t, mustRun(t, append([]string{"rekey"}, with(after, before)...)...), "encrypted 1 signing key and 1 password")
			require.Contains(t, mustRun(t, append([]string{"rekey"}, with(after, before)...)...), "encrypted 0 signing keys and 0 passwords")
		})
		require.Zero(t, s.stop())
		code, _, stderr = portico(t, append([]string{"serve", "--addr", "127.0.0.1:0"}, with(before)...)...)
		require.Equal(t, 1, code, stderr)
		require.Zero(t, startServer(t, with(after)...).stop())
	})
}
