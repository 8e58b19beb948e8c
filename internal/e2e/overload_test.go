package e2e

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lasting is how long a measurement goes on that an environment variable asks
// for; 0 for a test that only counts.
func lasting(t testing.TB, variable string) time.Duration {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	require.NoError(t, err, variable)
	return d
}

// taken are how long requests took, by what they came to.
type taken struct {
	mu sync.Mutex
	by map[string][]time.Duration
}

func (l *taken) note(what string, began time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[string][]time.Duration{}
	}
	l.by[what] = append(l.by[what], time.Since(began))
}

// tell logs how many there were, and how long they took.
func (l *taken) tell(t testing.TB) {
	for what, took := range l.by {
		slices.Sort(took)
		at := func(share int) time.Duration { return took[(len(took)-1)*share/100].Round(time.Millisecond) }
		t.Logf("%s: %d, half within %v, 99 of 100 within %v, the longest %v", what, len(took), at(50), at(99), at(100))
	}
}

// A server that is asked for more than it can do answers each request, or
// refuses it with a word about when to come again.
//
//	PORTICO_OVERLOAD=20s go test ./internal/e2e -run AnsweredOrRefused -v
//
// measures that with 900 clients, and the flags as they are by default.
func TestEveryRequestIsAnsweredOrRefused(t *testing.T) {
	t.Parallel()
	measures, clients, flags := lasting(t, "PORTICO_OVERLOAD"), 900, []string(nil)
	if measures == 0 {
		clients, flags = 40, []string{"--requests", "1", "--requests-waiting", "5", "--request-wait", "20ms"}
	}
	a := attack(t, flags...)
	transport := &http.Transport{MaxIdleConnsPerHost: clients}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	var took taken
	var asking sync.WaitGroup
	ends := time.Now().Add(measures)
	for number := range clients {
		asking.Go(func() {
			for n := 0; n < 10 || time.Now().Before(ends); n++ {
				began := time.Now()
				query := fmt.Sprintf(`{ a%d: products(first: 100, offset: 0) { nodes { id b%d: name sku slug description stock { available } mainImage { fileName } } } }`, number, n)
				request, err := http.NewRequest("POST", a.url+"/graphql", strings.NewReader(graphQL(query)))
				if err != nil {
					t.Error(err)
					return
				}
				request.Header.Set("Authorization", "Bearer "+a.token)
				request.Header.Set("Content-Type", "application/json")
				response, err := client.Do(request)
				if err != nil {
					t.Error(err)
					return
				}
				response.Body.Close()
				if response.StatusCode != 200 && (response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "") {
					t.Errorf("is answered %s, with Retry-After %q", response.Status, response.Header.Get("Retry-After"))
				}
				took.note(response.Status, began)
			}
		})
	}
	asking.Wait()
	took.tell(t)
	require.GreaterOrEqual(t, len(took.by["200 OK"]), 10, "what it can do, it does")
	require.Equal(t, float64(len(took.by["503 Service Unavailable"])), a.metric(t, `portico_requests_refused_total{kind="read"}`))
	transport.CloseIdleConnections()
	a.recovered(t)
}
