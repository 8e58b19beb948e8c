package responsecache_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/internal/cachekey"
	"portico/internal/dependency"
	"portico/internal/responsecache"
)

// TestStatsMatchMemory requires that the reported bytes are within a factor of 1.5 of the heap.
func TestStatsMatchMemory(t *testing.T) { // not in parallel: others allocate too
	_, state := dependency.NewHistory()
	header := func() http.Header {
		return http.Header{"Content-Type": {"application/json"}, "Content-Language": {"de"}}
	}
	keep := func(room *responsecache.Cache, name string, made *responsecache.Response) {
		_, err := room.Do(t.Context(), cachekey.New(name), responsecache.Moment{Time: time.Now(), State: state}, func() (*responsecache.Response, error) { return made, nil })
		require.NoError(t, err)
	}
	for name, class := range map[string]struct {
		n    int
		keep func(room *responsecache.Cache, i int)
	}{
		"small answers": {5_000, func(room *responsecache.Cache, i int) {
			keep(room, fmt.Sprint("a name of some length ", i), responsecache.NewResponse(fmt.Appendf(nil, `{"data":{"n":%d}}`, i), nil))
		}},
		"small answers with headers": {5_000, func(room *responsecache.Cache, i int) {
			keep(room, fmt.Sprint("a name of some length ", i), responsecache.NewResponse(fmt.Appendf(nil, `{"data":{"n":%d}}`, i), header()))
		}},
		"long names": {2_000, func(room *responsecache.Cache, i int) {
			keep(room, fmt.Sprint(strings.Repeat("x", 3000), i), responsecache.NewResponse([]byte("{}"), header()))
		}},
		"pages": {300, func(room *responsecache.Cache, i int) {
			keep(room, fmt.Sprint(i), responsecache.NewResponse([]byte(fmt.Sprint(strings.Repeat(`{"name":"Chair"},`, 1000), i)), header()))
		}},
		"pages that were compressed": {300, func(room *responsecache.Cache, i int) {
			made := responsecache.NewResponse([]byte(fmt.Sprint(strings.Repeat(fmt.Sprintf(`{"name":"Chair %d"},`, i), 1000), i)), header())
			keep(room, fmt.Sprint(i), made)
			ask(made, "Accept-Encoding", "gzip")
			ask(made, "Accept-Encoding", "zstd")
		}},
		"small bodies made from much": {5_000, func(room *responsecache.Cache, i int) {
			made := responsecache.NewResponse([]byte(fmt.Sprint(`{"name":"Chair"}`, i)), header())
			reads := &dependency.Recorder{}
			for n := range 200 {
				reads.Add(dependency.Key(n))
			}
			made.MadeFrom = reads.Dependencies(state)
			keep(room, fmt.Sprint(i), made)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			room := responsecache.NewCache(1 << 30)
			measured := func() (heap, told int) {
				told = int(room.Stats().Bytes)
				for range 2 {
					runtime.GC()
				}
				var memory runtime.MemStats
				runtime.ReadMemStats(&memory)
				return int(memory.HeapAlloc), told
			}
			for i := range 100 {
				class.keep(room, -1-i)
			}
			heapBefore, toldBefore := measured()
			for i := range class.n {
				class.keep(room, i)
			}
			heap, told := measured()
			heap, told = heap-heapBefore, told-toldBefore
			t.Logf("%d bytes are held, %d told", heap, told)
			require.Less(t, float64(heap), 1.5*float64(told))
			require.Less(t, float64(told), 1.5*float64(heap))
			runtime.KeepAlive(room)
		})
	}
}
