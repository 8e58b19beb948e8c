package e2e

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/store/storetest"
	"portico/store/storetest/dbtest"
	"portico/store/storetest/testkit"
)

// findVarnish returns the path of varnishd, which is often not in PATH. It skips the test without.
func findVarnish(t *testing.T) (path string) {
	t.Helper()
	for _, name := range []string{"varnishd", "/usr/sbin/varnishd"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	testkit.SkipMissing(t, "varnish", "varnishd is not installed")
	return ""
}

// startVarnish starts Varnish with packaging/varnish.vcl in front of servers, and returns its URL.
func startVarnish(t *testing.T, varnishd, port string, servers ...*serverProcess) string {
	t.Helper()
	text, err := os.ReadFile("packaging/varnish.vcl")
	require.NoError(t, err)
	config := string(text)
	for i, server := range servers {
		address, err := url.Parse(server.url)
		require.NoError(t, err)
		template := `.port = "808` + string(rune('1'+i)) + `"`
		require.Equal(t, 1, strings.Count(config, template))
		config = strings.Replace(config, template, `.port = "`+address.Port()+`"`, 1)
	}
	folder, err := os.MkdirTemp("", "portico-varnish-*") // a short path, for its socket
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	file := filepath.Join(folder, "shop.vcl")
	require.NoError(t, os.WriteFile(file, []byte(config), 0o644))
	process := exec.Command(varnishd, "-F", "-j", "none", "-n", filepath.Join(folder, "work"), "-a", "127.0.0.1:"+port, "-f", file, "-s", "malloc,32m")
	dbtest.EndWithTests(process)
	var log testkit.LogBuffer
	process.Stdout, process.Stderr = &log, &log
	require.NoError(t, process.Start())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = process.Wait() }()
	t.Cleanup(func() {
		_ = process.Process.Signal(os.Interrupt)
		<-ended
		if t.Failed() {
			t.Log(log.String())
		}
	})
	at := "http://127.0.0.1:" + port
	testkit.Eventually(t, true, func() bool {
		select {
		case <-ended:
			require.FailNow(t, "varnishd ended", log.String())
		default:
		}
		response, err := http.Get(at + "/readyz")
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	return at
}

// cdnPage is a page of a storefront.
type cdnPage struct {
	path    string
	headers []string
}

func cdnPages() []cdnPage {
	query := "/graphql?query=" + url.QueryEscape(`{ product(by: {id: "anvil"}) { name breadcrumbs { catalogNode { name } } } }`)
	return []cdnPage{
		{"/catalog/products/anvil", nil}, {"/catalog/products?page[limit]=5", nil}, {"/catalog/nodes/tools/relationships/products?include=main_image", nil},
		{"/catalog/products/anvil", []string{"Accept-Language", "de"}}, {"/catalog/products/anvil", []string{"X-Moltin-Currency", "EUR"}},
		{"/catalog/products/anvil", []string{"Store-Channel", "night"}}, {"/catalog/hierarchies", nil}, {query, nil},
	}
}

// get requests a page, and returns its body, and whether Varnish had stored it.
func (p cdnPage) get(ctx context.Context, at string, headers ...string) (body string, hit bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at+p.path, nil)
	if err != nil {
		return "", false, err
	}
	for headers = append(headers, p.headers...); len(headers) > 0; headers = headers[2:] {
		request.Header.Set(headers[0], headers[1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", false, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.Status + "\n" + string(text), response.Header.Get("X-Cache") == "hit", err
}

// TestVarnish puts Varnish in front of two servers, and reads pages while catalogs are published. After the
// purges of a change no page is old.
func TestVarnish(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "TestPurgeRelay sends the same tags without Varnish")
	varnishd := findVarnish(t)
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		o := openFixture(t, e.URL(t))
		o.importLines(t, storetest.ShopFile)
		storetest.Publish(t, o.Store, "main", "outlet")
		anonymous, _, err := o.Access.CreateClient(t.Context(), "test", "anonymous", []string{"catalog:read"})
		require.NoError(t, err)
		port := testkit.FreePort(t)
		flags := []string{"--anonymous-client", anonymous.ID, "--cache-control", "public, s-maxage=3600, stale-while-revalidate=60",
			"--cache-tags", "Surrogate-Key", "--purge-url", "http://127.0.0.1:" + port + "/.purge", "--purge-secret", keyOf('p')}
		servers := []*serverProcess{o.serve(t, flags...), o.serve(t, flags...)}
		varnish := startVarnish(t, varnishd, port, servers...)
		purged := func() {
			require.NoError(t, o.Purges.Collect(t.Context()))
			testkit.Eventually(t, true, func() bool {
				calls, _, err := o.Purges.Pending(t.Context())
				require.NoError(t, err)
				return calls == 0
			})
		}
		requireCurrent := func(change string) {
			for _, page := range cdnPages() {
				got, _, err := page.get(t.Context(), varnish)
				require.NoError(t, err)
				require.Contains(t, got, "200 OK\n")
				for _, server := range servers {
					want, _, err := page.get(t.Context(), server.url)
					require.NoError(t, err)
					require.Equal(t, want, got, "%s: %s %s", change, page.path, page.headers)
				}
				again, hit, err := page.get(t.Context(), varnish)
				require.NoError(t, err)
				require.Equal(t, []any{got, true}, []any{again, hit}, "the next request does not reach a server: %s %s", page.path, page.headers)
			}
		}
		purged()
		requireCurrent("the start")

		ctx, stop := context.WithCancel(t.Context())
		var hits, requests atomic.Int64
		var readers sync.WaitGroup
		for i := range 4 {
			readers.Go(func() {
				for n := i; ctx.Err() == nil; n++ {
					_, hit, err := cdnPages()[n%len(cdnPages())].get(ctx, varnish)
					if err == nil {
						requests.Add(1)
						hits.Add(int64(one(hit)))
					}
					time.Sleep(5 * time.Millisecond)
				}
			})
		}
		publish := func(version string) string {
			storetest.RenameProducts(t, o.Store, version)
			made, err := o.Publisher.Publish(t.Context(), storetest.Actor, "main", nil)
			require.NoError(t, err)
			return made.UUID()
		}
		first := ""
		changes := []struct {
			name   string
			change func()
		}{
			{"a publication", func() { first = publish("One") }},
			{"two publications, and a roll-back", func() {
				publish("Two")
				publish("Three")
				_, err := o.Releases.Serve(t.Context(), storetest.Actor, first)
				require.NoError(t, err)
			}},
			{"a rule", func() { o.importLines(t, storetest.OutletRuleLine("night", `"channels":["night"],`)) }},
		}
		for _, change := range changes[:testkit.QuickOrFull(1, len(changes))] {
			change.change()
			purged()
			requireCurrent(change.name)
		}
		stop()
		readers.Wait()
		t.Logf("%d of %d requests were hits, %.1f %%", hits.Load(), requests.Load(), 100*float64(hits.Load())/float64(requests.Load()))
		require.Greater(t, hits.Load(), requests.Load()/2)

		page := cdnPages()[0]
		token, err := o.tokens.Issue(t.Context(), auth.Grant{Type: auth.GrantImplicit, ClientID: anonymous.ID, Scopes: []string{"catalog:read"}})
		require.NoError(t, err)
		for range 2 {
			_, hit, err := page.get(t.Context(), varnish, "Authorization", "Bearer "+token.AccessToken)
			require.NoError(t, err)
			require.False(t, hit, "requests with a token go to a server")
		}
		for _, refused := range []string{"", "a|b", "a) || true"} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, varnish+"/.purge", nil)
			require.NoError(t, err)
			request.Header.Set("Surrogate-Key", refused)
			response, err := http.DefaultClient.Do(request)
			require.NoError(t, err)
			response.Body.Close()
			require.Equal(t, http.StatusBadRequest, response.StatusCode, refused)
		}
	})
}
