package e2e

import (
	"fmt"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
)

// restoreCluster is a cluster with a shop, its dump, and three servers on it.
type restoreCluster struct {
	*storetest.Cluster
	url, dump string
	servers   []*serverProcess
	token     string
}

const restoredProduct = "prod-americano"

// newRestoreCluster dumps the demo shop with 4 units of a product more than a
// decrement of 1 leaves, so that the dump is older than what is served.
func newRestoreCluster(t *testing.T) (r *restoreCluster, before, after int) {
	t.Helper()
	r = &restoreCluster{Cluster: storetest.NewCluster(t)}
	r.run(t, "createdb", r.URL("postgres", "postgres"), "shop")
	r.url = r.URL("postgres", "shop")
	o := openDemo(t, r.url)
	_, r.token = o.issue(t)
	before = 400
	if stock, err := o.Stock(t.Context(), restoredProduct); err == nil {
		before = stock.Available
	}
	r.dump = "shop.dump" // in the folder where its programs run
	r.run(t, "pg_dump", "", "--format=custom", "--file="+r.dump, r.url)
	o.sell(t, restoredProduct)
	for range 3 {
		r.servers = append(r.servers, o.serve(t))
	}
	require.NoError(t, o.Close())
	return r, before, before - 1
}

// run runs one of PostgreSQL's programs; maintenance is the database to
// connect to where the program wants to know that.
func (r *restoreCluster) run(t *testing.T, program, maintenance string, args ...string) {
	t.Helper()
	if maintenance != "" {
		args = append([]string{"--maintenance-db=" + maintenance}, args...)
	}
	out, err := r.Command(program, args...).CombinedOutput()
	require.NoError(t, err, "%s: %s", program, out)
}

func (r *restoreCluster) psql(t *testing.T, statements ...string) {
	t.Helper()
	args := []string{"--quiet", "--set=ON_ERROR_STOP=1", "--dbname=" + r.url}
	for _, statement := range statements {
		args = append(args, "--command="+statement)
	}
	r.run(t, "psql", "", args...)
}

var availableIs = regexp.MustCompile(`"available":(\d+)`)

// look is what a server answers of the product: its status, that of its stock,
// and the units that are available.
func (r *restoreCluster) look(t *testing.T, s *serverProcess) string {
	product, _ := s.send(t, "GET", "/catalog/products/"+restoredProduct, "", "Authorization", "Bearer "+r.token)
	stock, body := s.send(t, "GET", "/v2/inventories/"+restoredProduct, "", "Authorization", "Bearer "+r.token)
	answer := fmt.Sprint(product.StatusCode, stock.StatusCode)
	if match := availableIs.FindStringSubmatch(body); match != nil {
		answer += " " + match[1]
	}
	return answer
}

func units(n int) string { return fmt.Sprint(200, 200, n) }

// during runs a restore while every server is asked. Each answer is 503, or has
// the stock of before or after it: never 404, never another number.
func (r *restoreCluster) during(t *testing.T, before, after int, restore func(noticed func())) {
	t.Helper()
	for _, s := range r.servers {
		storetest.Eventually(t, units(before), func() string { return r.look(t, s) })
	}
	stop := make(chan struct{})
	var group sync.WaitGroup
	end := sync.OnceFunc(func() { close(stop); group.Wait() })
	defer end()
	var mu sync.Mutex
	seen := map[string]int{}
	for _, s := range r.servers {
		group.Go(func() {
			for {
				answer := r.look(t, s)
				mu.Lock()
				seen[answer]++
				mu.Unlock()
				select {
				case <-stop:
					return
				case <-time.After(5 * time.Millisecond):
				}
			}
		})
	}
	restore(func() { // what was answered until all servers noticed does not count
		r.allNotReady(t)
		mu.Lock()
		defer mu.Unlock()
		clear(seen)
	})
	for _, s := range r.servers {
		storetest.Eventually(t, units(after), func() string { return r.look(t, s) }, "what was restored")
		storetest.Eventually(t, http.StatusOK, func() int {
			response, _ := s.send(t, "GET", "/readyz", "")
			return response.StatusCode
		})
	}
	end()
	t.Log(seen)
	for answer := range seen {
		parts := strings.Fields(answer)
		require.Contains(t, []string{"200", "503"}, parts[0], "the product: %v", seen)
		require.Contains(t, []string{"200", "503"}, parts[1], "the stock: %v", seen)
		if len(parts) > 2 {
			require.Contains(t, []string{fmt.Sprint(before), fmt.Sprint(after)}, parts[2], "units: %v", seen)
		}
	}
}

// TestRestoreUnderRunningServers restores a dump in each of the ways that
// PostgreSQL has, beneath servers that go on.
func TestRestoreUnderRunningServers(t *testing.T) {
	t.Parallel()
	storetest.FullTestsOnly(t, "it restores a database under three servers")
	if _, err := exec.LookPath("psql"); err != nil {
		storetest.SkipMissing(t, "postgres", "psql is not there")
	}
	r, restored, served := newRestoreCluster(t)
	admin := r.URL("postgres", "postgres")

	t.Run("dropped, created, restored", func(t *testing.T) {
		r.during(t, served, restored, func(func()) {
			r.run(t, "dropdb", admin, "--force", "shop")
			r.run(t, "createdb", admin, "shop")
			r.allNotReady(t)
			r.run(t, "pg_restore", "", "--dbname="+r.url, "--section=pre-data", r.dump)
			r.allNotReady(t) // its tables are there, and empty
			r.run(t, "pg_restore", "", "--dbname="+r.url, "--section=data", r.dump)
			r.run(t, "pg_restore", "", "--dbname="+r.url, "--section=post-data", r.dump)
		})
	})
	served = restored - 2
	t.Run("truncated, and copied", func(t *testing.T) {
		r.sell(t, 2)
		r.during(t, served, restored, func(noticed func()) {
			r.psql(t, `DO $$ DECLARE tables text; BEGIN
				SELECT string_agg(quote_ident(tablename), ', ') INTO tables FROM pg_tables WHERE schemaname = 'public';
				EXECUTE 'TRUNCATE ' || tables; END $$`)
			noticed() // connections live on, so that only the next look tells
			r.run(t, "pg_restore", "", "--data-only", "--disable-triggers", "--dbname="+r.url, r.dump)
		})
	})
	t.Run("the stock alone, copied by itself", func(t *testing.T) {
		file := "stock.csv"
		r.psql(t, `UPDATE stock SET available = available + 7 WHERE product_id = '`+restoredProduct+`'`, `\copy stock TO '`+file+`'`,
			`UPDATE stock SET available = available - 7 WHERE product_id = '`+restoredProduct+`'`)
		storetest.FullTestsOnly(t, "servers look every 30 s for what nobody told them")
		r.psql(t, `BEGIN`, `TRUNCATE stock`, `\copy stock FROM '`+file+`'`, `COMMIT`)
		for _, s := range r.servers {
			storetest.Eventually(t, units(restored+7), func() string { return r.look(t, s) })
		}
	})
}

// sell takes units of the product, by one of the servers.
func (r *restoreCluster) sell(t *testing.T, units int) {
	t.Helper()
	body := fmt.Sprintf(`{"data":{"type":"stock-transaction","action":"decrement","quantity":%d}}`, units)
	response, text := r.servers[0].send(t, "POST", "/v2/inventories/"+restoredProduct+"/transactions", body, "Authorization", "Bearer "+r.token)
	require.Equal(t, http.StatusCreated, response.StatusCode, text)
}

// allNotReady waits until every server says that requests should not be sent to
// it.
func (r *restoreCluster) allNotReady(t *testing.T) {
	t.Helper()
	for _, s := range r.servers {
		storetest.Eventually(t, http.StatusServiceUnavailable, func() int {
			response, _ := s.send(t, "GET", "/readyz", "")
			return response.StatusCode
		})
	}
}
