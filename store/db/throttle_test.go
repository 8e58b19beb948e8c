package db

import (
	"context"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestThrottlePause: a job pauses only while requests arrive and wait for a processor.
func TestThrottlePause(t *testing.T) {
	t.Parallel()
	c := &throttle{resumed: time.Unix(0, 0), lastRequests: 7}
	const ms = time.Millisecond
	for _, step := range []struct {
		name     string
		after    time.Duration // since the last pause or check
		requests uint64
		delay    time.Duration
		rest     time.Duration
	}{
		{"no requests", 50 * ms, 7, 50 * ms, 0},
		{"requests, but little work", ms, 8, 50 * ms, 0},
		{"requests that do not wait", 5 * ms, 9, 0, 0},
		{"requests that wait", 5 * ms, 10, 2 * ms, 5 * ms},
		{"they wait still", 5 * ms, 11, 9 * ms, 10 * ms},
		{"the longest pause of short work", 5 * ms, 12, 9 * ms, 20 * ms},
		{"it grows no more", 5 * ms, 13, 9 * ms, 20 * ms},
		{"a short wait", 5 * ms, 14, 3 * ms / 2, 20 * ms},
		{"hardly a wait", 5 * ms, 15, ms / 2, 10 * ms},
		{"no requests since", 5 * ms, 15, 9 * ms, 0},
		{"long work", time.Minute, 16, 9 * ms, maxPause},
	} {
		now := c.resumed.Add(step.after)
		require.Equal(t, step.rest, c.pause(now, step.requests, step.delay), step.name)
		if step.rest > 0 {
			c.resumed = now.Add(step.rest)
		}
	}
}

// TestThrottleShare counts the time that a job works in batches of 5 ms while requests arrive all the time:
// all of it if they do not wait, a fifth if they do, and soon all of it again.
func TestThrottleShare(t *testing.T) {
	t.Parallel()
	c := &throttle{resumed: time.Unix(0, 0)}
	now, requests := c.resumed, uint64(0)
	work := func(batches int, delay time.Duration) (pauses, longest time.Duration) {
		for range batches {
			requests++
			now = now.Add(5 * time.Millisecond)
			rest := c.pause(now, requests, delay)
			if now = now.Add(rest); rest > 0 {
				c.resumed = now
			}
			pauses, longest = pauses+rest, max(longest, rest)
		}
		return pauses, longest
	}
	pauses, _ := work(1000, 100*time.Microsecond)
	require.Zero(t, pauses)
	pauses, longest := work(1000, 10*time.Millisecond)
	require.Equal(t, 20*time.Millisecond, longest)
	require.Equal(t, (5+10+998*20)*time.Millisecond, pauses, "backs off at the first slow request")
	pauses, _ = work(1000, 0)
	require.Equal(t, 18750*time.Microsecond, pauses, "10, 5, 2.5 and 1.25 ms, then none")
}

// TestThrottleYields: a job yields once a millisecond from the first request on, until a second after the last.
func TestThrottleYields(t *testing.T) {
	t.Parallel()
	var requests atomic.Uint64
	c := &throttle{requests: &requests}
	begin := time.Unix(1000, 0)
	for _, step := range []struct {
		at       time.Duration
		requests uint64
		due      bool
	}{
		{0, 0, false},
		{5 * time.Millisecond, 1, true},
		{5*time.Millisecond + workSlice - 1, 2, false},
		{5*time.Millisecond + workSlice, 2, true},
		{20 * time.Millisecond, 2, true},
		{time.Second, 2, true},
		{2 * time.Second, 2, false},
		{3 * time.Second, 3, true},
	} {
		requests.Store(step.requests)
		require.Equal(t, step.due, c.due(begin.Add(step.at)), "at %s", step.at)
	}
	requests.Add(1)
	c.yieldAt.Store(0)
	c.yield()
	require.GreaterOrEqual(t, time.Duration(c.yielded.Load()), yieldTime)
	require.Greater(t, c.yieldAt.Load(), time.Now().Add(-time.Minute).UnixNano())
	(*throttle)(nil).yield()
}

// TestYieldLetsAllRun: on one processor, all goroutines that wait run before a job goes on, though each takes longer than the
// sleep of a yield. Now and then the runtime resumes the job before some of them.
func TestYieldLetsAllRun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // not parallel
	const rounds, waiting = 20, 16
	var requests atomic.Uint64
	before := 0
	for range rounds {
		var ran atomic.Int32
		start := make(chan struct{})
		var group, ready sync.WaitGroup
		for range waiting {
			ready.Add(1)
			group.Go(func() {
				ready.Done()
				<-start
				for begun := time.Now(); time.Since(begun) < 5*yieldTime; {
				}
				ran.Add(1)
			})
		}
		ready.Wait()
		time.Sleep(time.Millisecond) // until all wait
		requests.Add(1)
		c := &throttle{requests: &requests}
		close(start)
		c.yield()
		before += int(ran.Load())
		group.Wait()
	}
	require.Greater(t, before, rounds*waiting/2)
}

// TestJobsYieldBetweenRows: a job yields while it reads rows and between statements, and no other reader does.
func TestJobsYieldBetweenRows(t *testing.T) {
	t.Parallel()
	d, err := openFile(t, Config{URL: "file:" + filepath.Join(t.TempDir(), "shop.db"), Synchronous: "OFF"})
	require.NoError(t, err)
	require.NoError(t, d.Follow(t.Context(), Hooks{}))
	t.Cleanup(func() { _ = d.Close() })
	ctx := d.WithThrottle(t.Context())
	c := throttleOf(ctx)
	read := func(ctx context.Context) {
		_, err := Collect(ctx, d.Reader, Scalar[int], `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i FROM n`)
		require.NoError(t, err)
	}
	d.requests.Add(1)
	read(t.Context())
	require.Zero(t, c.yielded.Load())
	read(ctx)
	require.Positive(t, c.yielded.Load())
	c.yielded.Store(0)
	c.yieldAt.Store(0)
	d.requests.Add(1)
	require.NoError(t, d.Update(ctx, "", func(ctx context.Context, t *Tx) error {
		_, err := t.Exec(ctx, `UPDATE settings SET page_length = page_length`)
		return err
	}))
	require.Positive(t, c.yielded.Load(), "in a write")
	require.NoError(t, ctx.Err())
	c.resumed = time.Now().Add(-minWork)
	before := c.resumed
	c.yielded.Store(int64(minWork))
	c.requests.Add(1)
	Throttle(ctx)
	require.True(t, c.resumed.After(before), "the time of yields is no work")
}

// TestDelayProbe: a byte under way counts by its age, one that has arrived by the time that it took.
func TestDelayProbe(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	p := &delayProbe{sentAt: now, last: time.Second}
	require.Equal(t, time.Second, p.delay(now))
	require.Equal(t, time.Minute, p.delay(now.Add(time.Minute)))
	p.arrived(now.Add(3 * time.Millisecond))
	require.Equal(t, 3*time.Millisecond, p.delay(now.Add(time.Hour)))

	p = &delayProbe{}
	for range 3 {
		p.send(time.Now())
		for p.underWay() {
			time.Sleep(time.Millisecond)
		}
		require.Positive(t, p.delay(time.Now()))
	}
	p.close()
	p.close()
	p.send(time.Now())
	require.False(t, p.underWay(), "closed")
	require.Equal(t, slowDelay, (&delayProbe{failed: true}).delay(now))
}

func (p *delayProbe) underWay() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.sentAt.IsZero()
}
