package db

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A job rests as long as it worked where somebody asked meanwhile or during the
// rest before, and not at all where nobody did.
func TestAJobRestsAsLongAsItWorkedWhileRequestsCome(t *testing.T) {
	t.Parallel()
	began := time.Unix(0, 0)
	c := &throttle{resumed: began, lastRequests: 7}
	for _, step := range []struct {
		name  string
		after time.Duration // since the last rest, or look
		asked uint64
		rest  time.Duration
	}{
		{"nobody asks", 50 * time.Millisecond, 7, 0},
		{"somebody asks, and it has hardly begun", time.Millisecond, 8, 0},
		{"somebody asks", 5 * time.Millisecond, 9, 5 * time.Millisecond},
		{"others came during the rest", 3 * time.Millisecond, 20, 3 * time.Millisecond},
		{"nobody came since", 3 * time.Millisecond, 20, 0},
		{"it worked for long", time.Minute, 21, maxPause},
	} {
		now := c.resumed.Add(step.after)
		require.Equal(t, step.rest, c.pause(now, step.asked), step.name)
		if step.rest > 0 {
			c.resumed = now.Add(step.rest)
		}
	}
}
