package server_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/internal/web"
	"portico/internal/web/middleware"
	"portico/internal/web/server"
	"portico/store"
)

// limitedServer is a server with a ConcurrencyLimiter, whose requests run until the test ends them.
type limitedServer struct {
	*running
	turns *server.ConcurrencyLimiter
	begun chan string   // paths of running requests
	leave chan struct{} // ends one request
}

func takeTurns(t *testing.T, bounds server.Limits) *limitedServer {
	t.Helper()
	s := &limitedServer{turns: server.NewConcurrencyLimiter(bounds), begun: make(chan string, 1000), leave: make(chan struct{})}
	writeError := func(w http.ResponseWriter, _ *http.Request, err error) {
		status := http.StatusTeapot
		if refused := new(auth.StatusError); errors.As(err, &refused) {
			status = refused.Status
		} else if store.HasCode(err, store.Unavailable) {
			status = http.StatusServiceUnavailable
		}
		http.Error(w, err.Error(), status)
	}
	work := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := auth.ReadBody(w, r, 1<<20, nil); err != nil {
			writeError(w, r, err)
			return
		}
		if r.URL.Path == "/mutation" {
			if err := s.turns.SwitchToWrite(w, r); err != nil {
				writeError(w, r, err)
				return
			}
		}
		if r.URL.Path == "/v2/locked" {
			store.NotifyLockWait(r.Context())
			store.NotifyLockWait(r.Context()) // like a second write of the request
		}
		s.begun <- r.URL.Path
		if r.URL.Path == "/stream" {
			_, _ = io.WriteString(w, "begun\n")
			_ = http.NewResponseController(w).Flush()
		}
		if r.URL.Path != web.HealthPath {
			<-s.leave
		}
	})
	s.running = start(t, middleware.Compress(s.turns.Middleware(writeError)(work)), server.WithLimits(bounds))
	t.Cleanup(func() { close(s.leave) })
	return s
}

// asks sends a request in the background and returns a channel with its status.
func (s *limitedServer) asks(t *testing.T, ctx context.Context, path string) (status chan int) {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, "POST", s.url+path, strings.NewReader("x"))
	require.NoError(t, err)
	status = make(chan int, 1)
	go func() {
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			status <- 0
			return
		}
		response.Body.Close()
		status <- response.StatusCode
	}()
	return status
}

// waits waits until the queue has a number of requests.
func (s *limitedServer) waits(t *testing.T, kind string, want int) {
	t.Helper()
	require.Eventually(t, func() bool { _, waiting, _ := s.turns.Stats(kind); return waiting == want }, time.Minute, time.Millisecond)
}

func (s *limitedServer) idle(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		reads, _, _ := s.turns.Stats(server.ReadRequests)
		writes, _, _ := s.turns.Stats(server.WriteRequests)
		return reads+writes == 0
	}, time.Minute, time.Millisecond)
}

func TestConcurrencyLimit(t *testing.T) {
	t.Parallel()
	s := takeTurns(t, server.Limits{Requests: 2, RequestsWaiting: 3, RequestWait: ever})
	var answers []chan int
	for range 2 {
		answers = append(answers, s.asks(t, t.Context(), "/read"))
		<-s.begun
	}
	for waiting := range 3 {
		answers = append(answers, s.asks(t, t.Context(), "/read"))
		s.waits(t, server.ReadRequests, waiting+1)
	}
	for range 5 {
		require.Equal(t, 503, <-s.asks(t, t.Context(), "/read"), "the line is full")
	}
	_, _, refused := s.turns.Stats(server.ReadRequests)
	require.Equal(t, uint64(5), refused)
	require.Equal(t, 503, <-s.asks(t, t.Context(), "/v2/inventories/multiple"), "which only reads")
	require.Equal(t, 200, <-s.asks(t, t.Context(), web.HealthPath), "health waits for nobody")
	require.Equal(t, web.HealthPath, <-s.begun)
	written := s.asks(t, t.Context(), "/v2/write")
	require.Equal(t, "/v2/write", <-s.begun, "writes have their own turns")
	require.Empty(t, s.begun, "nobody else has begun")
	for range 6 {
		s.leave <- struct{}{}
	}
	for _, answer := range append(answers, written) {
		require.Equal(t, 200, <-answer)
	}
	s.idle(t)
}

// TestAllSlotsAreReleased runs, cancels and times out random requests. The limit is never exceeded,
// and all slots are free at the end.
func TestAllSlotsAreReleased(t *testing.T) {
	t.Parallel()
	turns := server.NewConcurrencyLimiter(server.Limits{Requests: 3, RequestsWaiting: 20, RequestWait: time.Millisecond})
	var group sync.WaitGroup
	var mu sync.Mutex
	var at, most, done, refused int
	for worker := range 40 {
		group.Go(func() {
			for i := range 50 {
				ctx, cancel := context.WithCancel(t.Context())
				if (worker+i)%3 == 0 {
					time.AfterFunc(time.Duration(i)*10*time.Microsecond, cancel)
				}
				end, err := turns.AcquireRead(ctx)
				mu.Lock()
				if err == nil {
					at, done = at+1, done+1
					most = max(most, at)
					mu.Unlock()
					time.Sleep(time.Duration(i%4) * 100 * time.Microsecond)
					mu.Lock()
					at--
				} else {
					refused++
				}
				mu.Unlock()
				end()
				end() // only the first call counts
				cancel()
			}
		})
	}
	group.Wait()
	require.LessOrEqual(t, most, 3)
	busy, waiting, counted := turns.Stats(server.ReadRequests)
	require.Equal(t, []int{0, 0, 2000}, []int{busy, waiting, done + int(counted)})
	require.Equal(t, refused, int(counted))
}

func TestRequestWaitTimesOut(t *testing.T) {
	t.Parallel()
	s := takeTurns(t, server.Limits{Requests: 1, RequestsWaiting: 3, RequestWait: time.Millisecond})
	first := s.asks(t, t.Context(), "/read")
	<-s.begun
	for range 10 {
		require.Equal(t, 503, <-s.asks(t, t.Context(), "/read"))
	}
	mutation := s.asks(t, t.Context(), "/mutation")
	require.Equal(t, 503, <-mutation, "it is read first, and then waits among writes")
	s.leave <- struct{}{}
	require.Equal(t, 200, <-first)
	mutation = s.asks(t, t.Context(), "/mutation")
	require.Equal(t, "/mutation", <-s.begun)
	reads := s.asks(t, t.Context(), "/read")
	require.Equal(t, "/read", <-s.begun, "it holds no reader")
	require.Equal(t, 503, <-s.asks(t, t.Context(), "/v2/write"))
	s.leave <- struct{}{}
	s.leave <- struct{}{}
	require.Equal(t, []int{200, 200}, []int{<-mutation, <-reads})
	s.idle(t)
}

// TestSlowClientsHoldNoSlot requires that slow or disconnected clients and streams hold no slot.
func TestSlowClientsHoldNoSlot(t *testing.T) {
	t.Parallel()
	s := takeTurns(t, server.Limits{Requests: 1, RequestsWaiting: 5, RequestWait: ever})
	for range 10 { // unfinished bodies
		dial(t, s.running, "POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nx")
	}
	for range 5 { // started streams
		from := bufio.NewReader(dial(t, s.running, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n"))
		_, err := http.ReadResponse(from, nil)
		require.NoError(t, err)
		require.Equal(t, "/stream", <-s.begun)
	}
	s.idle(t)
	first := s.asks(t, t.Context(), "/read")
	<-s.begun
	ctx, goAway := context.WithCancel(t.Context())
	gone := s.asks(t, ctx, "/read")
	s.waits(t, server.ReadRequests, 1)
	goAway()
	require.Zero(t, <-gone)
	s.waits(t, server.ReadRequests, 0)
	require.Equal(t, []string(nil), s.worked())
	for range 6 { // including the streams
		s.leave <- struct{}{}
	}
	require.Equal(t, 200, <-first)
	s.idle(t)
}

// worked returns the paths of requests that have begun since the last call.
func (s *limitedServer) worked() (paths []string) {
	for {
		select {
		case path := <-s.begun:
			paths = append(paths, path)
		default:
			return paths
		}
	}
}

// TestLockWaitReleasesSlot requires that a write that waits for a lock releases its slot and
// completes normally.
func TestLockWaitReleasesSlot(t *testing.T) {
	t.Parallel()
	s := takeTurns(t, server.Limits{Requests: 1, RequestsWaiting: 0})
	first := s.asks(t, t.Context(), "/v2/locked")
	require.Equal(t, "/v2/locked", <-s.begun)
	s.idle(t)
	second := s.asks(t, t.Context(), "/v2/x")
	require.Equal(t, "/v2/x", <-s.begun)
	require.Equal(t, http.StatusServiceUnavailable, <-s.asks(t, t.Context(), "/v2/y"), "the second has the only turn")
	s.leave <- struct{}{}
	s.leave <- struct{}{}
	require.Equal(t, http.StatusOK, <-first)
	require.Equal(t, http.StatusOK, <-second)
	s.idle(t)
}

// TestExpensiveLimit requires that expensive requests hold one of few slots until the response is
// written, and no read slot. A slow reader loses its connection once others wait.
func TestExpensiveLimit(t *testing.T) {
	t.Parallel()
	turns := server.NewConcurrencyLimiter(server.Limits{Requests: 1, RequestsExpensive: 1, RequestsWaiting: 10, RequestWait: ever})
	refused := func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
	begun, leave := make(chan string, 10), make(chan struct{})
	work := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/expensive") {
			for range 2 { // only the first call counts
				if _, err := turns.AcquireExpensive(r.Context(), r.URL.Path == "/expensive/running"); err != nil {
					refused(w, r, err)
					return
				}
			}
		}
		begun <- r.URL.Path
		if r.URL.Path == "/expensive/long" {
			_, _ = w.Write(make([]byte, 64<<20)) // more than socket buffers hold
			return
		}
		<-leave
	})
	s := start(t, turns.Middleware(refused)(work), server.WithLimits(server.Limits{}))
	ask := func(path string) chan int {
		status := make(chan int, 1)
		go func() {
			response, err := http.Get(s.url + path)
			if err != nil {
				status <- 0
				return
			}
			response.Body.Close()
			status <- response.StatusCode
		}()
		return status
	}
	busy := func(kind string, busy, waiting int) {
		t.Helper()
		require.Eventually(t, func() bool { b, w, _ := turns.Stats(kind); return b == busy && w == waiting }, time.Minute, time.Millisecond, kind)
	}
	first := ask("/expensive")
	require.Equal(t, "/expensive", <-begun)
	busy(server.ExpensiveRequests, 1, 0)
	busy(server.ReadRequests, 0, 0)
	cheap := ask("/cheap")
	require.Equal(t, "/cheap", <-begun, "others are answered beside it")
	leave <- struct{}{}
	leave <- struct{}{}
	require.Equal(t, []int{200, 200}, []int{<-first, <-cheap})
	busy(server.ExpensiveRequests, 0, 0)

	held := ask("/expensive")
	<-begun
	var waiting []chan int
	for i := range 4 { // per slot, with a part of the response in memory
		waiting = append(waiting, ask("/expensive/running"))
		busy(server.ExpensiveRequests, 1, i+1)
	}
	require.Equal(t, 503, <-ask("/expensive/running"))
	for range 5 {
		leave <- struct{}{}
	}
	for _, answer := range append(waiting, held) {
		require.Equal(t, 200, <-answer)
	}
	busy(server.ExpensiveRequests, 0, 0)
	for len(begun) > 0 {
		<-begun
	}

	dial(t, s, "GET /expensive/long HTTP/1.1\r\nHost: x\r\n\r\n") // does not read
	require.Equal(t, "/expensive/long", <-begun)
	busy(server.ExpensiveRequests, 1, 0)
	next := ask("/expensive")
	require.Equal(t, "/expensive", <-begun, "the slow reader was cut off")
	leave <- struct{}{}
	require.Equal(t, 200, <-next)

	for range 2 { // streams have slots of their own and release them
		end, err := turns.AcquireExpensive(t.Context(), false)
		require.NoError(t, err)
		busy(server.ExpensiveRequests, 1, 0)
		end()
		end()
		busy(server.ExpensiveRequests, 0, 0)
	}
}
