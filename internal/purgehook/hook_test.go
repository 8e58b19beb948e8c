package purgehook_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/internal/dependency"
	"portico/internal/httpcache"
	"portico/internal/purgehook"
	"portico/store"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/dbtest"
	"portico/store/storetest/testkit"
)

func TestMain(m *testing.M) { dbtest.SQLiteMain(m) }

// receiver records calls. answer may replace its response.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	calls  []received
	answer http.HandlerFunc
}

type received struct {
	header http.Header
	body   []byte
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		r.mu.Lock()
		r.calls = append(r.calls, received{request.Header, body})
		answer := r.answer
		r.mu.Unlock()
		if answer != nil {
			answer(w, request)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// take returns the calls since the last time.
func (r *receiver) take() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = nil
	return calls
}

func (r *receiver) respond(answer http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

var keys = [][]byte{[]byte(strings.Repeat("n", 32)), []byte(strings.Repeat("o", 32))}

// fixture is a shop with a hook.
type fixture struct {
	*receiver
	t        *testing.T
	backend  storetest.Backend
	store    *shop.Store
	hook     *purgehook.Hook
	log      *testkit.LogBuffer
	outcomes map[string]int
}

func newFixture(t *testing.T, backend storetest.Backend) *fixture {
	t.Helper()
	f := &fixture{receiver: newReceiver(t), t: t, backend: backend, store: backend.Open(t), log: &testkit.LogBuffer{}, outcomes: map[string]int{}}
	storetest.Import(t, f.store, storetest.ShopFile)
	storetest.Publish(t, f.store, "main")
	f.hook = f.newHook(f.store)
	return f
}

func (f *fixture) newHook(s *shop.Store) *purgehook.Hook {
	return purgehook.New(s, s.Purges, purgehook.Config{URL: f.URL + "/purge?key=CanaryYellow", Keys: keys, TagHeader: httpcache.SurrogateKey,
		Log: slog.New(slog.NewTextHandler(f.log, nil)), Count: func(outcome string) { f.outcomes[outcome]++ }})
}

// round makes the calls that are due, and returns them and the wait for the next.
func (f *fixture) round(hook *purgehook.Hook) ([]received, time.Duration) {
	f.t.Helper()
	wait, err := hook.MakeDueCalls(f.t.Context())
	require.NoError(f.t, err)
	return f.take(), wait
}

// later makes all waits end.
func (f *fixture) later() {
	f.t.Helper()
	_, err := f.backend.SQL(f.t).Exec(`UPDATE purge_call SET due_at = 0, leased_until = 0`)
	require.NoError(f.t, err)
}

func (f *fixture) publish(version string) string {
	f.t.Helper()
	storetest.RenameProducts(f.t, f.store, version)
	made, err := f.store.Publisher.Publish(f.t.Context(), storetest.Actor, "main", nil)
	require.NoError(f.t, err)
	return made.UUID()
}

// requireSigned requires the signature of the Standard Webhooks by both keys.
func requireSigned(t *testing.T, call received) {
	t.Helper()
	id, timestamp := call.header.Get("Webhook-Id"), call.header.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), time.Unix(seconds, 0), time.Minute)
	var want []string
	for _, key := range keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + timestamp + "." + string(call.body)))
		want = append(want, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	require.Equal(t, strings.Join(want, " "), call.header.Get("Webhook-Signature"))
}

// TestCalls: each change is called twice, with the tags to purge: of what changed, or of the catalog if that is
// much or not known.
func TestCalls(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		f := newFixture(t, backend)
		ids := map[string]bool{}
		expect := func(tags, body string) {
			t.Helper()
			calls, wait := f.round(f.hook)
			require.Len(t, calls, 1)
			require.Equal(t, tags, calls[0].header.Get("Surrogate-Key"))
			require.Equal(t, "application/json", calls[0].header.Get("Content-Type"))
			require.JSONEq(t, body, string(calls[0].body))
			requireSigned(t, calls[0])
			ids[calls[0].header.Get("Webhook-Id")] = true
			require.Greater(t, wait, time.Second)
		}
		expect("portico", `{"catalog":null,"release":null,"tags":["portico"],"all":true,"repeat":false}`)
		f.later()
		expect("portico", `{"catalog":null,"release":null,"tags":["portico"],"all":true,"repeat":true}`)
		calls, _ := f.round(f.hook)
		require.Empty(t, calls)
		release := f.publish("One")
		require.NoError(t, f.store.Purges.Collect(t.Context()))
		var packed []byte
		require.NoError(t, backend.SQL(t).QueryRow(`SELECT changed FROM purge_call`).Scan(&packed))
		changed, err := dependency.UnpackChanges(packed)
		require.NoError(t, err)
		tags := httpcache.PurgedTags("main", changed)
		require.Greater(t, len(tags), 2)
		for _, repeat := range []string{"false", "true"} {
			expect(strings.Join(tags, " "), `{"catalog":"main","release":"`+release+`","tags":`+string(store.Encode(tags))+`,"all":false,"repeat":`+repeat+`}`)
			f.later()
		}
		release = f.publish("Two")
		_, err = backend.SQL(t).Exec(`DELETE FROM release_change`)
		require.NoError(t, err)
		for _, repeat := range []string{"false", "true"} {
			expect("catalog-main", `{"catalog":"main","release":"`+release+`","tags":["catalog-main"],"all":false,"repeat":`+repeat+`}`)
			f.later()
		}
		require.Len(t, ids, 6, "each call has its id")
		require.Equal(t, map[string]int{purgehook.Succeeded: 6}, f.outcomes)
		require.Empty(t, f.log.String())
	})
}

// TestFailures: a call is retried after any failure, by this server or the next.
func TestFailures(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		f := newFixture(t, backend)
		elsewhere := newReceiver(t)
		f.hook.SetTimeout(200 * time.Millisecond)
		hanging := make(chan struct{})
		defer close(hanging)
		failures := []struct {
			answer http.HandlerFunc
			logs   string
		}{
			{func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "busy", http.StatusServiceUnavailable) }, `it returned status 503: \"busy\\n\"`},
			{func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
			}, "it redirects with status 307, which is not followed"},
			{func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusNotFound)
				_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<20))
			}, `it returned status 404: \"` + strings.Repeat("x", 200) + `\"`},
			{func(w http.ResponseWriter, _ *http.Request) {
				panic(http.ErrAbortHandler)
			}, "EOF"},
			{func(http.ResponseWriter, *http.Request) { <-hanging }, "Client.Timeout exceeded"},
		}
		id := ""
		for i, failure := range failures {
			f.respond(failure.answer)
			calls, wait := f.round(f.hook)
			require.Len(t, calls, 1, failure.logs)
			require.Greater(t, wait, time.Duration(0), "the retry waits")
			require.Contains(t, f.log.String(), failure.logs)
			require.Contains(t, f.log.String(), "attempt="+strconv.Itoa(i+1)+" retry_in=")
			require.True(t, id == "" || id == calls[0].header.Get("Webhook-Id"), "each attempt has the same id")
			id = calls[0].header.Get("Webhook-Id")
			none, _ := f.round(f.hook)
			require.Empty(t, none, "not before its time")
			f.later()
		}
		require.Empty(t, elsewhere.take())
		require.NotContains(t, f.log.String(), "CanaryYellow", "a query may hold a secret")
		f.respond(nil)
		restarted := f.newHook(backend.Open(t))
		calls, _ := f.round(restarted)
		require.Len(t, calls, 1)
		require.Equal(t, id, calls[0].header.Get("Webhook-Id"))
		require.Contains(t, f.log.String(), "the purge hook succeeded again")
		require.Equal(t, map[string]int{purgehook.Succeeded: 1, purgehook.Failed: len(failures)}, f.outcomes)
	})
}

// TestStopDuringCall: a server that stops while it makes a call leaves it to another one at once.
func TestStopDuringCall(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		f := newFixture(t, backend)
		ctx, stop := context.WithCancel(t.Context())
		f.respond(func(_ http.ResponseWriter, r *http.Request) { stop(); <-r.Context().Done() })
		ended := make(chan struct{})
		go func() { defer close(ended); f.hook.Run(ctx) }()
		<-ended
		require.Len(t, f.take(), 1)
		f.respond(nil)
		calls, _ := f.round(f.newHook(backend.Open(t)))
		require.Len(t, calls, 1)
		require.Empty(t, f.log.String(), "a stop is no failure")
	})
}

// stopAfterResponse is a transport that stops a server when it has the response of a call.
type stopAfterResponse struct{ stop func() }

func (s stopAfterResponse) RoundTrip(request *http.Request) (*http.Response, error) {
	defer s.stop()
	return http.DefaultTransport.RoundTrip(request)
}

// TestStopAfterCall: a call that succeeds while its server stops is counted, and not made again.
func TestStopAfterCall(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		f := newFixture(t, backend)
		ctx, stop := context.WithCancel(t.Context())
		f.hook.SetTransport(stopAfterResponse{stop})
		f.hook.Run(ctx)
		require.Len(t, f.take(), 1)
		require.Equal(t, map[string]int{purgehook.Succeeded: 1}, f.outcomes)
		calls, _ := f.round(f.newHook(backend.Open(t)))
		require.Empty(t, calls)
	})
}

// TestServersShareCalls: of two servers that run, one makes each call, soon after a publication.
func TestServersShareCalls(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		f := newFixture(t, backend)
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		for _, hook := range []*purgehook.Hook{f.hook, f.newHook(backend.Open(t))} {
			hook.Count = func(string) {}
			running.Go(func() { hook.Run(ctx) })
		}
		seen := map[string]int{}
		last := ""
		collect := func() {
			for _, call := range f.take() {
				seen[call.header.Get("Webhook-Id")]++
				var body struct{ Release string }
				require.NoError(t, json.Unmarshal(call.body, &body))
				last = body.Release
			}
		}
		for _, version := range []string{"One", "Two", "Three"} {
			release := f.publish(version)
			testkit.Eventually(t, true, func() bool { collect(); return last == release })
		}
		stop()
		running.Wait()
		collect()
		require.GreaterOrEqual(t, len(seen), 4)
		for id, times := range seen {
			require.Equal(t, 1, times, id)
		}
	})
}

func TestRetryPause(t *testing.T) {
	t.Parallel()
	for attempt := range 100 {
		pause, least := purgehook.RetryPause(attempt), min(time.Second<<min(attempt, 20), 5*time.Minute)
		require.GreaterOrEqual(t, pause, least)
		require.LessOrEqual(t, pause, least*6/5)
	}
}
