package db

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestThrottlePause: a job pauses as long as it worked if requests arrived, and not at all
// otherwise.
func TestThrottlePause(t *testing.T) {
	t.Parallel()
	began := time.Unix(0, 0)
	c := &throttle{resumed: began, lastRequests: 7}
	for _, step := range []struct {
		name  string
		after time.Duration // since the last pause or check
		asked uint64
		rest  time.Duration
	}{
		{"no requests", 50 * time.Millisecond, 7, 0},
		{"requests, but little work", time.Millisecond, 8, 0},
		{"requests", 5 * time.Millisecond, 9, 5 * time.Millisecond},
		{"requests during the pause", 3 * time.Millisecond, 20, 3 * time.Millisecond},
		{"no requests since", 3 * time.Millisecond, 20, 0},
		{"long work", time.Minute, 21, maxPause},
	} {
		now := c.resumed.Add(step.after)
		require.Equal(t, step.rest, c.pause(now, step.asked), step.name)
		if step.rest > 0 {
			c.resumed = now.Add(step.rest)
		}
	}
}
