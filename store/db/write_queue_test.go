package db

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestGroupsDoNotSplit: the leader of a group waits for the callers of the previous one while they read
// their responses, but not longer than the previous write took, and never when it was alone.
func TestGroupsDoNotSplit(t *testing.T) {
	t.Parallel()
	type queue = WriteQueue[int, int]
	join := func(q *queue) *QueuedRequest[int, int] {
		r := &QueuedRequest[int, int]{Ctx: context.Background(), done: make(chan struct{}), lead: make(chan struct{})}
		q.join(r)
		return r
	}
	for _, c := range []struct {
		name    string
		callers int           // of the previous group
		took    time.Duration // the previous write
		every   time.Duration // time between the requests that follow it
		group   int
		waits   time.Duration
	}{
		{"32 callers, one core", 32, 6 * time.Millisecond, 100 * time.Microsecond, 32, 3100 * time.Microsecond},
		{"callers that stay away", 32, 6 * time.Millisecond, time.Minute, 1, maxGather},
		{"a short write", 32, time.Millisecond, 100 * time.Microsecond, 11, time.Millisecond},
		{"one caller", 1, 6 * time.Millisecond, time.Minute, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := &queue{Size: func(int) int { return 1 }, MaxSize: 4096}
				for range c.callers {
					join(q)
				}
				began := time.Now()
				require.Len(t, q.take(), c.callers)
				time.Sleep(c.took)
				q.stepDown(c.callers, began)
				ended := time.Now()
				leader := join(q)
				go func() {
					for range c.callers - 1 {
						time.Sleep(c.every)
						join(q)
					}
				}()
				<-leader.lead
				q.waitForGroup()
				require.Equal(t, c.waits, time.Since(ended))
				require.InDelta(t, c.group, len(q.take()), 1) // a request may come at the very moment
				synctest.Wait()
				time.Sleep(time.Hour)
			})
		})
	}
}
