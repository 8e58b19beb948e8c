package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/store"
	"portico/store/exchange"
	"portico/store/storetest/testkit"
)

// longShop writes an import file of products with long descriptions.
func longShop(t *testing.T, products, bytes int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"type":"hierarchy","id":"all","attributes":{"name":"All","slug":"all"}}
{"type":"pricebook","id":"prices","attributes":{"name":"Prices"}}
{"type":"catalog","id":"catalog","attributes":{"name":"Catalog","locale":"en","pricebook_ids":[{"id":"prices","priority":1}],"hierarchies":["all"]}}
`)
	var attached []string
	for i := range products {
		attached = append(attached, fmt.Sprintf(`{"type":"product","id":"p%d"}`, i))
		fmt.Fprintf(&b, `{"type":"product","id":"p%d","attributes":{"name":"Product %d","sku":"S%d","slug":"p%d","status":"live","commodity_type":"physical",`+
			`"created_at":"2025-03-01T08:00:00.000Z","updated_at":"2025-03-01T08:00:00.000Z","description":%s}}`+"\n",
			i, i, i, i, store.Encode(strings.Repeat(fmt.Sprintf("<p class=\"x\">Of the product %6d.</p>\n", i), bytes/40)))
	}
	fmt.Fprintf(&b, `{"type":"node","id":"node","attributes":{"name":"Node","slug":"node"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"all"}},"products":{"data":[%s]}}}`+"\n",
		strings.Join(attached, ","))
	path := filepath.Join(t.TempDir(), "shop.ndjson")
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
	return path
}

// peak returns the peak memory (VmHWM) of the process in bytes.
func (s *serverProcess) peak(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if os.IsNotExist(err) {
		t.Skip("this system does not tell the memory of a process")
	}
	require.NoError(t, err)
	_, text, _ := strings.Cut(string(status), "VmHWM:")
	text, _, _ = strings.Cut(strings.TrimSpace(text), " kB")
	kilobytes, err := strconv.Atoi(text)
	require.NoError(t, err)
	return kilobytes << 10
}

// TestConcurrentExpensiveRequests sends 100 of the most expensive requests that the public token
// allows. The server answers or refuses each within 512 MiB, and health checks work.
func TestConcurrentExpensiveRequests(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "it imports a large shop; the tests of graph bound each request")
	url := "file:" + t.TempDir() + "/expensive.db"
	o := openFixture(t, url)
	file := longShop(t, 200, 20_000)
	_, err := o.Exchange.Import(t.Context(), "test", func() (io.ReadCloser, error) { return os.Open(file) }, exchange.ImportOptions{})
	require.NoError(t, err)
	_, err = o.Publisher.Publish(t.Context(), "test", "catalog", nil)
	require.NoError(t, err)
	client, _ := o.issue(t, "catalog:read", "inventory:read")
	issued, err := o.tokens.Issue(t.Context(), auth.Grant{Type: auth.GrantImplicit, ClientID: client, Scopes: auth.ShopperScopes()})
	require.NoError(t, err)
	s := o.serve(t, "--admin-addr", "127.0.0.1:0")
	t.Logf("%d MiB at the start", s.peak(t)>>20)

	aliases := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "a%d:description ", i)
		}
		return b.String()
	}
	query := func(format string, args ...any) func(i int) *http.Request {
		return func(i int) *http.Request {
			body, err := json.Marshal(map[string]string{"query": strings.ReplaceAll(fmt.Sprintf(format, args...), "NUMBER", strconv.Itoa(i))})
			require.NoError(t, err)
			r, err := http.NewRequest(http.MethodPost, s.url+"/graphql", strings.NewReader(string(body)))
			require.NoError(t, err)
			r.Header.Set("Content-Type", "application/json")
			return r
		}
	}
	transport := &http.Transport{MaxConnsPerHost: 200, MaxIdleConnsPerHost: 200}
	defer transport.CloseIdleConnections()
	for _, attack := range []struct {
		name    string
		request func(i int) *http.Request
		says    string // part of the response
	}{
		{"far too large", query("{x_NUMBER:products(first:100){nodes{%s}}}", aliases(440)), "larger than 8388608 bytes"},
		{"far too large, with stock", query("{x_NUMBER:products(first:100){nodes{%s stock{available}}}}", aliases(440)),
			"larger than 8388608 bytes"},
		{"all the same", query("{products(first:100){nodes{%s}}}", aliases(440)), "larger than 8388608 bytes"},
		{"nearly too large", query("{x_NUMBER:products(first:20,offset:NUMBER){nodes{%s stock{available}}}}", aliases(18)), `{"data":{"x_`},
		{"large enough to be kept", query("{x_NUMBER:products(first:2,offset:NUMBER){nodes{%s}}}", aliases(20)), `{"data":{"x_`},
		{"introspection", query("{__schema{types{n_NUMBER:name description fields{name description}}}}"), `{"data":{"__schema"`},
		{"pages", func(i int) *http.Request {
			r, err := http.NewRequest(http.MethodGet, fmt.Sprintf("%s/catalog/products?page[limit]=100&page[offset]=%d", s.url, i), nil)
			require.NoError(t, err)
			return r
		}, `{"meta":`},
	} {
		t.Run(attack.name, func(t *testing.T) {
			ctx, end := context.WithCancel(t.Context())
			health := make(chan int)
			go func() {
				defer close(health)
				for ctx.Err() == nil {
					response, err := http.Get(s.url + "/healthz")
					if err != nil {
						health <- 0
						return
					}
					_ = response.Body.Close()
					health <- response.StatusCode
				}
			}()
			healthy := sync.WaitGroup{}
			healthy.Go(func() {
				for status := range health {
					if status != http.StatusOK {
						t.Errorf("/healthz is %d", status)
					}
				}
			})
			var mu sync.Mutex
			answered := 0
			var group sync.WaitGroup
			for i := range 100 {
				r := attack.request(i)
				r.Header.Set("Authorization", "Bearer "+issued.AccessToken)
				group.Go(func() {
					response, err := transport.RoundTrip(r)
					if err != nil {
						t.Error(err)
						return
					}
					defer response.Body.Close()
					begin := make([]byte, 200)
					n, _ := io.ReadFull(response.Body, begin)
					if _, err := io.Copy(io.Discard, response.Body); err != nil {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					switch text := string(begin[:n]); {
					case response.StatusCode == http.StatusServiceUnavailable && response.Header.Get("Retry-After") != "":
					case response.StatusCode == http.StatusOK && strings.Contains(text, attack.says):
						answered++
					default:
						t.Errorf("%d: %s", response.StatusCode, text)
					}
				})
			}
			group.Wait()
			end()
			healthy.Wait()
			require.NotZero(t, answered)
			t.Logf("%d answered, %d MiB at most so far", answered, s.peak(t)>>20)
			require.Less(t, s.peak(t), 512<<20)
		})
	}
	testkit.Eventually(t, 0, func() float64 { return s.metric(t, `portico_requests_in_work{kind="expensive"}`) },
		"every turn was given back")
}
