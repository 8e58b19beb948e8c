//go:build linux

package db

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkRequestsBesideJob measures the time from the arrival of a request to its response, on one processor and with
// 16 clients that each send the next at once, without and beside a throttled job. It is CPU time of this process, so that
// other processes change little.
func BenchmarkRequestsBesideJob(b *testing.B) {
	for _, beside := range []bool{false, true} {
		b.Run(fmt.Sprintf("job=%v", beside), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			for b.Loop() {
				var requests atomic.Uint64
				probe := &delayProbe{}
				ctx, stop := context.WithCancel(context.WithValue(b.Context(), throttleKey{}, &throttle{requests: &requests, probe: probe, resumed: time.Now()}))
				var job sync.WaitGroup
				var worked time.Duration
				if beside {
					job.Go(func() { worked = workUntil(ctx) })
				}
				begin := processTime()
				latencies := answerClients(b, 16, time.Second, &requests)
				share := func(d time.Duration) float64 { return d.Seconds() / (processTime() - begin).Seconds() }
				stop()
				job.Wait()
				probe.close()
				slices.Sort(latencies)
				for name, part := range map[string]int{"p50-ms": 500, "p99-ms": 990, "p99.9-ms": 999} {
					b.ReportMetric(latencies[(len(latencies)-1)*part/1000].Seconds()*1000, name)
				}
				b.ReportMetric(share(worked), "job-share")
			}
		})
	}
}

// workUntil is a job that works until ctx ends, and throttles as a publication does. It returns its work.
func workUntil(ctx context.Context) (worked time.Duration) {
	const step = 50 * time.Microsecond
	for n := 0; ctx.Err() == nil; n++ {
		spend(step)
		worked += step
		if throttleOf(ctx).yield(); n%100 == 99 {
			Throttle(ctx)
		}
	}
	return worked
}

// answerClients answers clients for some time and returns the latencies. A request is the time at which it was sent.
func answerClients(b *testing.B, clients int, d time.Duration, requests *atomic.Uint64) (latencies []time.Duration) {
	listener, err := net.Listen("unix", filepath.Join(b.TempDir(), "socket"))
	if err != nil {
		b.Fatal(err)
	}
	defer listener.Close()
	var group sync.WaitGroup
	var mu sync.Mutex
	for end := processTime() + d; clients > 0; clients-- {
		client, err := net.Dial("unix", listener.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		server, err := listener.Accept()
		if err != nil {
			b.Fatal(err)
		}
		group.Go(func() {
			defer client.Close()
			for message := make([]byte, 8); processTime() < end; {
				binary.LittleEndian.PutUint64(message, uint64(processTime()))
				if _, err := client.Write(message); err != nil {
					return
				}
				if _, err := client.Read(message); err != nil {
					return
				}
			}
		})
		group.Go(func() {
			defer server.Close()
			var own []time.Duration
			for message := make([]byte, 8); ; {
				if _, err := server.Read(message); err != nil {
					break
				}
				requests.Add(1)
				spend(40 * time.Microsecond) // a response from a cache
				own = append(own, processTime()-time.Duration(binary.LittleEndian.Uint64(message)))
				if _, err := server.Write(message); err != nil {
					break
				}
			}
			mu.Lock()
			defer mu.Unlock()
			latencies = append(latencies, own...)
		})
	}
	group.Wait()
	return latencies
}

// spend uses the processor.
func spend(d time.Duration) {
	for end := processTime() + d; processTime() < end; {
	}
}

// processTime returns the CPU time of this process.
func processTime() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
	return time.Duration(t.Nano())
}
