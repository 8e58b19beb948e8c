package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/testkit"
)

// durationFromEnv returns the duration in an environment variable; 0 if unset.
func durationFromEnv(t testing.TB, variable string) time.Duration {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	require.NoError(t, err, variable)
	return d
}

// latencies are the durations of requests, by outcome.
type latencies struct {
	mu sync.Mutex
	by map[string][]time.Duration
}

func (l *latencies) add(what string, began time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[string][]time.Duration{}
	}
	l.by[what] = append(l.by[what], time.Since(began))
}

// log logs how many there were, and how long they took.
func (l *latencies) log(t testing.TB) {
	for what, took := range l.by {
		slices.Sort(took)
		at := func(share int) time.Duration { return took[(len(took)-1)*share/100].Round(time.Millisecond) }
		t.Logf("%s: %d, half within %v, 99 of 100 within %v, the longest %v", what, len(took), at(50), at(99), at(100))
	}
}

// TestOverloadAnswersOrRefuses requires that an overloaded server answers each request or refuses it
// with Retry-After. To measure the capacity with default flags, and then send twice as much:
//
//	PORTICO_TEST_OVERLOAD=20s go test ./internal/e2e -run OverloadAnswersOrRefuses -v
func TestOverloadAnswersOrRefuses(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "the tests of internal/web/server refuse requests above the limit")
	measures, flags := durationFromEnv(t, "PORTICO_TEST_OVERLOAD"), []string(nil)
	if measures == 0 {
		flags = []string{"--requests", "1", "--requests-waiting", "5", "--request-wait", "20ms"}
	}
	a := startAttackTarget(t, flags...)
	crowd := newLoadGenerator(a)
	if measures == 0 {
		crowd.runClosedLoop(40, func(n int) bool { return n < 10 })
	} else {
		began := time.Now()
		crowd.runClosedLoop(2*runtime.NumCPU(), func(int) bool { return time.Since(began) < measures/4 })
		can := len(crowd.took.by["200 OK"]) * int(time.Second) / int(time.Since(began))
		t.Logf("it answers %d a second, and is asked for %d", can, 2*can)
		crowd.log(t)
		t.Logf("%d times all of %d were asking", crowd.runOpenLoop(2*can, measures), maxInFlight)
	}
	crowd.log(t)
	require.Empty(t, crowd.wrong)
	require.GreaterOrEqual(t, crowd.ended["200 OK"], 10, "answers up to its capacity")
	require.Equal(t, float64(crowd.ended["503 Service Unavailable"]), a.metric(t, `portico_requests_refused_total{kind="read"}`))
	crowd.client.CloseIdleConnections()
	a.requireRecovered(t)
}

// loadGenerator sends queries that the server has not seen before.
type loadGenerator struct {
	*attackTarget
	client *http.Client
	asked  atomic.Int64
	took   latencies
	ended  map[string]int // number of requests by outcome

	mu    sync.Mutex
	wrong []string
}

func newLoadGenerator(a *attackTarget) *loadGenerator {
	return &loadGenerator{attackTarget: a, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}},
		ended: map[string]int{}}
}

// runClosedLoop runs clients that each send the next request after the response.
func (c *loadGenerator) runClosedLoop(clients int, more func(n int) bool) {
	var asking sync.WaitGroup
	for range clients {
		asking.Go(func() {
			for n := 0; more(n); n++ {
				c.ask()
			}
		})
	}
	asking.Wait()
}

// maxInFlight limits concurrent requests, below the connection limit of one address.
const maxInFlight = 900

// runOpenLoop sends requests at a rate per second, without waiting for responses. unasked counts
// the requests that maxInFlight prevented.
func (c *loadGenerator) runOpenLoop(rate int, lasts time.Duration) (unasked int) {
	var asking sync.WaitGroup
	var now atomic.Int64
	began := time.Now()
	for n := range int(lasts.Seconds() * float64(rate)) {
		time.Sleep(time.Until(began.Add(time.Duration(n) * time.Second / time.Duration(rate))))
		if now.Load() >= maxInFlight {
			unasked++
			continue
		}
		now.Add(1)
		asking.Go(func() { c.ask(); now.Add(-1) })
	}
	asking.Wait()
	return unasked
}

func (c *loadGenerator) ask() {
	n, began := c.asked.Add(1), time.Now()
	query := fmt.Sprintf(`{ products(first: 100, offset: 0) { nodes { id b%d: name sku slug description stock { available } mainImage { fileName } } } }`, n)
	request, err := http.NewRequest("POST", c.url+"/graphql", strings.NewReader(graphQL(query)))
	if err != nil {
		c.fails(err.Error())
		return
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := c.client.Do(request)
	if err != nil {
		c.fails(err.Error())
		return
	}
	_, err = io.Copy(io.Discard, response.Body)
	response.Body.Close()
	if err != nil {
		c.fails(err.Error())
	}
	if response.StatusCode != 200 && (response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "") {
		c.fails(fmt.Sprintf("is answered %s, with Retry-After %q", response.Status, response.Header.Get("Retry-After")))
	}
	c.took.add(response.Status, began)
}

func (c *loadGenerator) fails(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrong = append(c.wrong, why)
}

// log logs what was answered since it last did.
func (c *loadGenerator) log(t testing.TB) {
	c.took.log(t)
	for what, list := range c.took.by {
		c.ended[what] += len(list)
	}
	c.took.by = nil
}
