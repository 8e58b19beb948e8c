package responsecache_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"portico/internal/cachekey"
	"portico/internal/dependency"
	"portico/internal/responsecache"
)

var noon = time.Date(2026, 5, 30, 12, 0, 0, 0, time.UTC)

func answer(text string) *responsecache.Response {
	return responsecache.NewResponse([]byte(text), http.Header{"Content-Type": {"application/json"}})
}

// made counts how often an answer was made.
type made struct {
	sync.Mutex
	count int
}

func (m *made) write(text string) func() (*responsecache.Response, error) {
	return func() (*responsecache.Response, error) {
		m.Lock()
		defer m.Unlock()
		m.count++
		return answer(text), nil
	}
}

func TestDoCachesResponse(t *testing.T) {
	t.Parallel()
	room, m := responsecache.NewCache(1<<20), &made{}
	for range 3 {
		got, err := room.Do(t.Context(), cachekey.New("a"), responsecache.Moment{Time: noon}, m.write("A"))
		require.NoError(t, err)
		require.Equal(t, "A", string(got.Body))
	}
	require.Equal(t, 1, m.count)
	require.NotNil(t, room.Get(cachekey.New("a"), responsecache.Moment{Time: noon}))
	require.Nil(t, room.Get(cachekey.New("b"), responsecache.Moment{Time: noon}))
	stats := room.Stats()
	require.EqualValues(t, 3, stats.Hits)
	require.EqualValues(t, 1, stats.Misses)
	require.NotZero(t, stats.Bytes)
}

func TestCacheWithoutBytes(t *testing.T) {
	t.Parallel()
	room, m := responsecache.NewCache(0), &made{}
	for range 3 {
		_, err := room.Do(t.Context(), cachekey.New("a"), responsecache.Moment{Time: noon}, m.write("A"))
		require.NoError(t, err)
	}
	require.Equal(t, 3, m.count)
	require.Nil(t, room.Get(cachekey.New("a"), responsecache.Moment{Time: noon}))
	require.Zero(t, room.Stats())
}

// TestValidity requires that a response is valid from its first instant until just before its end,
// and not before, since clocks can be set back.
func TestValidity(t *testing.T) {
	t.Parallel()
	room, m := responsecache.NewCache(1<<20), &made{}
	sale := func() (*responsecache.Response, error) {
		a, err := m.write("sale")()
		return a.SetValidity(noon, noon.Add(time.Second)), err
	}
	for _, step := range []struct {
		at   time.Time
		made int
	}{
		{noon, 1}, {noon.Add(time.Second - 1), 1},
		{noon.Add(time.Second), 2}, {noon.Add(-1), 3},
	} {
		_, err := room.Do(t.Context(), cachekey.New("a"), responsecache.Moment{Time: step.at}, sale)
		require.NoError(t, err)
		require.Equal(t, step.made, m.count, step.at)
	}
}

func TestConcurrentCallsShareResponse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		room, m := responsecache.NewCache(1<<20), &made{}
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				got, err := room.Do(t.Context(), cachekey.New("a"), responsecache.Moment{Time: noon}, func() (*responsecache.Response, error) {
					time.Sleep(time.Second)
					return m.write("A")()
				})
				require.NoError(t, err)
				require.Equal(t, "A", string(got.Body))
			})
		}
		all.Wait()
		require.Equal(t, 1, m.count)
	})
}

func TestErrorsAreNotCached(t *testing.T) {
	t.Parallel()
	room, m := responsecache.NewCache(1<<20), &made{}
	broken := errors.New("broken")
	_, err := room.Do(t.Context(), cachekey.New("a"), responsecache.Moment{Time: noon}, func() (*responsecache.Response, error) { return nil, broken })
	require.ErrorIs(t, err, broken)
	got, err := room.Do(t.Context(), cachekey.New("a"), responsecache.Moment{Time: noon}, m.write("A"))
	require.NoError(t, err)
	require.Equal(t, "A", string(got.Body))
}

// TestWaitersRetryAfterCancelOrPanic requires that a call gets a response when the call it waits
// for is canceled or panics.
func TestWaitersRetryAfterCancelOrPanic(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(){
		"gone":  nil,
		"panic": func() { panic("a leaf") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				room, m := responsecache.NewCache(1<<20), &made{}
				go func() {
					defer func() { _ = recover() }()
					_, err := room.Do(t.Context(), cachekey.New("a"), responsecache.Moment{Time: noon}, func() (*responsecache.Response, error) {
						time.Sleep(time.Second)
						if end != nil {
							end()
						}
						return nil, fmt.Errorf("SELECT: %w", context.Canceled)
					})
					require.ErrorIs(t, err, context.Canceled)
				}()
				synctest.Wait()
				got, err := room.Do(t.Context(), cachekey.New("a"), responsecache.Moment{Time: noon}, m.write("A"))
				require.NoError(t, err)
				require.Equal(t, "A", string(got.Body))
			})
		})
	}
}

func TestCanceledWaiterReturns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		room, m := responsecache.NewCache(1<<20), &made{}
		go room.Do(t.Context(), cachekey.New("a"), responsecache.Moment{Time: noon}, func() (*responsecache.Response, error) {
			time.Sleep(time.Hour)
			return m.write("A")()
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := room.Do(ctx, cachekey.New("a"), responsecache.Moment{Time: noon}, m.write("A"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(start))
		time.Sleep(time.Hour)
	})
}

func TestBudget(t *testing.T) {
	t.Parallel()
	const budget = 1 << 20
	room := responsecache.NewCache(budget)
	for i := range 100 {
		_, err := room.Do(t.Context(), cachekey.New(fmt.Sprint(i)), responsecache.Moment{Time: noon}, func() (*responsecache.Response, error) {
			return responsecache.NewResponse(make([]byte, 64<<10), nil), nil
		})
		require.NoError(t, err)
	}
	held := room.Stats().Bytes
	require.NotZero(t, held)
	require.LessOrEqual(t, held, uint64(budget))
}

// TestLongResponseIsSharedNotCached requires that concurrent calls share a response that is too
// large to cache.
func TestLongResponseIsSharedNotCached(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		room, m := responsecache.NewCache(1<<30), &made{}
		for length, times := range map[int]int{1 << 20: 1, 1<<20 + 1: 2} {
			text := strings.Repeat("x", length)
			m.count = 0
			for range 2 {
				var all sync.WaitGroup
				for range 10 {
					all.Go(func() {
						got, err := room.Do(t.Context(), cachekey.New(text[:length-1]), responsecache.Moment{Time: noon}, func() (*responsecache.Response, error) {
							time.Sleep(time.Second)
							return m.write(text)()
						})
						require.NoError(t, err)
						require.Len(t, got.Body, length)
						require.Equal(t, length <= 1<<20, ask(got, "Accept-Encoding", "gzip").Header.Get("Content-Encoding") == "gzip",
							"else it is compressed on its way")
					})
				}
				all.Wait()
			}
			require.Equal(t, times, m.count, length)
		}
	})
}

// TestChangesMakeResponsesInvalid requires that a response is made again once something that it was made
// from changes, and only then. Requests of an earlier state do not get the response of a later one.
func TestChangesMakeResponsesInvalid(t *testing.T) {
	t.Parallel()
	room, m := responsecache.NewCache(1<<20), &made{}
	history, before := dependency.NewHistory()
	tea, cup := dependency.NewKey('p', "tea"), dependency.NewKey('p', "cup")
	get := func(text string, state dependency.State) string {
		got, err := room.Do(t.Context(), cachekey.New("a"), responsecache.Moment{Time: noon, State: state}, func() (*responsecache.Response, error) {
			resp, err := m.write(text)()
			reads := &dependency.Recorder{}
			reads.Add(tea)
			resp.MadeFrom = reads.Dependencies(state)
			return resp, err
		})
		require.NoError(t, err)
		return string(got.Body)
	}
	changed := func(key dependency.Key) dependency.State {
		changes := &dependency.Changes{}
		changes.Add(key)
		return history.Advance(changes)
	}
	require.Equal(t, "first", get("first", before))
	require.Equal(t, "first", get("second", changed(cup)))
	after := changed(tea)
	require.Equal(t, "third", get("third", after))
	require.Equal(t, "third", get("fourth", after))
	require.Equal(t, "fifth", get("fifth", before), "a request that began before the change")
	require.Equal(t, 3, m.count)
}

// TestHitAllocations allows one allocation per hit, for the key.
func TestHitAllocations(t *testing.T) {
	room, m := responsecache.NewCache(1<<20), &made{}
	_, err := room.Do(t.Context(), cachekey.New("a"), responsecache.Moment{Time: noon}, m.write("A"))
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(100, func() { room.Get(cachekey.New("a"), responsecache.Moment{Time: noon}) }))
}

// TestCompressedBodiesAreCountedOnceTheyExist requires that a response takes memory for a compressed body from the first client on
// that accepts it.
func TestCompressedBodiesAreCountedOnceTheyExist(t *testing.T) {
	t.Parallel()
	room := responsecache.NewCache(1 << 20)
	_, state := dependency.NewHistory()
	random := rand.New(rand.NewPCG(1, 1))
	text := make([]byte, 4<<10)
	for i := range text {
		text[i] = "0123456789abcdef"[random.IntN(8)] // three bits each
	}
	made := responsecache.NewResponse(text, nil)
	_, err := room.Do(t.Context(), cachekey.New("page"), responsecache.Moment{Time: time.Now(), State: state}, func() (*responsecache.Response, error) { return made, nil })
	require.NoError(t, err)
	bare := int(room.Stats().Bytes)
	require.Less(t, bare, len(text)+1<<10)
	for range 2 {
		got := ask(made, "Accept-Encoding", "gzip")
		require.Equal(t, "gzip", got.Header.Get("Content-Encoding"))
		packed := len(body(t, got))
		require.Greater(t, packed, len(text)/3)
		require.Equal(t, bare+packed+192, int(room.Stats().Bytes))
	}
}
