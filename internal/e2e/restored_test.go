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

	"portico/store/storetest/dbtest"
	"portico/store/storetest/testkit"
)

// restoreCluster is a PostgreSQL cluster with a shop, a dump of it, and three servers.
type restoreCluster struct {
	*dbtest.Cluster
	url, dump string
	servers   []*serverProcess
	token     string
}

const restoredProduct = "prod-americano"

// newRestoreCluster dumps the demo shop and then changes a stock, so that the dump is older than
// the database.
func newRestoreCluster(t *testing.T) (r *restoreCluster, before, after int) {
	t.Helper()
	r = &restoreCluster{Cluster: dbtest.NewCluster(t)}
	r.run(t, "createdb", r.URL("postgres", "postgres"), "shop")
	r.url = r.URL("postgres", "shop")
	o := openDemo(t, r.url)
	_, r.token = o.issue(t)
	before = 400
	if stock, err := o.Stock.Get(t.Context(), restoredProduct); err == nil {
		before = stock.Available
	}
	r.dump = "shop.dump" // relative to the folder of the programs
	r.run(t, "pg_dump", "", "--format=custom", "--file="+r.dump, r.url)
	o.sell(t, restoredProduct)
	for range 3 {
		r.servers = append(r.servers, o.serve(t))
	}
	require.NoError(t, o.Close())
	return r, before, before - 1
}

// run runs a program of PostgreSQL. maintenance is the database to connect to, for programs that
// need one.
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

// state returns the status of the product, the status of its stock, and the available units, from
// one server.
func (r *restoreCluster) state(t *testing.T, s *serverProcess) string {
	product, _ := s.send(t, "GET", "/catalog/products/"+restoredProduct, "", "Authorization", "Bearer "+r.token)
	stock, body := s.send(t, "GET", "/v2/inventories/"+restoredProduct, "", "Authorization", "Bearer "+r.token)
	answer := fmt.Sprint(product.StatusCode, stock.StatusCode)
	if match := availableIs.FindStringSubmatch(body); match != nil {
		answer += " " + match[1]
	}
	return answer
}

func units(n int) string { return fmt.Sprint(200, 200, n) }

// requireStateDuring runs a restore under requests to all servers. Each response must be 503 or
// have the stock before or after, never 404.
func (r *restoreCluster) requireStateDuring(t *testing.T, before, after int, restore func(noticed func())) {
	t.Helper()
	for _, s := range r.servers {
		testkit.Eventually(t, units(before), func() string { return r.state(t, s) })
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
				answer := r.state(t, s)
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
	restore(func() { // ignores responses until all servers have noticed
		r.allNotReady(t)
		mu.Lock()
		defer mu.Unlock()
		clear(seen)
	})
	for _, s := range r.servers {
		testkit.Eventually(t, units(after), func() string { return r.state(t, s) }, "what was restored")
		testkit.Eventually(t, http.StatusOK, func() int {
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

// TestRestoreUnderRunningServers restores a dump in each way of PostgreSQL under running servers.
func TestRestoreUnderRunningServers(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "it restores a database under three servers")
	if _, err := exec.LookPath("psql"); err != nil {
		testkit.SkipMissing(t, "postgres", "psql is not there")
	}
	r, restored, served := newRestoreCluster(t)
	admin := r.URL("postgres", "postgres")

	t.Run("drop, create, pg_restore", func(t *testing.T) {
		r.requireStateDuring(t, served, restored, func(func()) {
			r.run(t, "dropdb", admin, "--force", "shop")
			r.run(t, "createdb", admin, "shop")
			r.allNotReady(t)
			r.run(t, "pg_restore", "", "--dbname="+r.url, "--section=pre-data", r.dump)
			r.allNotReady(t) // the tables exist and are empty
			r.run(t, "pg_restore", "", "--dbname="+r.url, "--section=data", r.dump)
			r.run(t, "pg_restore", "", "--dbname="+r.url, "--section=post-data", r.dump)
		})
	})
	served = restored - 2
	t.Run("truncate, pg_restore --data-only", func(t *testing.T) {
		r.sell(t, 2)
		r.requireStateDuring(t, served, restored, func(noticed func()) {
			r.psql(t, `DO $$ DECLARE tables text; BEGIN
				SELECT string_agg(quote_ident(tablename), ', ') INTO tables FROM pg_tables WHERE schemaname = 'public';
				EXECUTE 'TRUNCATE ' || tables; END $$`)
			noticed() // connections survive, so only the next check notices
			r.run(t, "pg_restore", "", "--data-only", "--disable-triggers", "--dbname="+r.url, r.dump)
		})
	})
	t.Run("stock table by COPY", func(t *testing.T) {
		file := "stock.csv"
		r.psql(t, `UPDATE stock SET available = available + 7 WHERE product_id = '`+restoredProduct+`'`, `\copy stock TO '`+file+`'`,
			`UPDATE stock SET available = available - 7 WHERE product_id = '`+restoredProduct+`'`)
		testkit.FullTestsOnly(t, "servers look every 30 s for what nobody told them")
		r.psql(t, `BEGIN`, `TRUNCATE stock`, `\copy stock FROM '`+file+`'`, `COMMIT`)
		for _, s := range r.servers {
			testkit.Eventually(t, units(restored+7), func() string { return r.state(t, s) })
		}
	})
}

// sell decrements the stock of the product through a server.
func (r *restoreCluster) sell(t *testing.T, units int) {
	t.Helper()
	body := fmt.Sprintf(`{"data":{"type":"stock-transaction","action":"decrement","quantity":%d}}`, units)
	response, text := r.servers[0].send(t, "POST", "/v2/inventories/"+restoredProduct+"/transactions", body, "Authorization",
		"Bearer "+r.token)
	require.Equal(t, http.StatusCreated, response.StatusCode, text)
}

// allNotReady waits until /readyz of all servers returns 503.
func (r *restoreCluster) allNotReady(t *testing.T) {
	t.Helper()
	for _, s := range r.servers {
		testkit.Eventually(t, http.StatusServiceUnavailable, func() int {
			response, _ := s.send(t, "GET", "/readyz", "")
			return response.StatusCode
		})
	}
}
