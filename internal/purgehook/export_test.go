package purgehook

import (
	"context"
	"time"
)

// MakeDueCalls is one round of Run.
func (h *Hook) MakeDueCalls(ctx context.Context) (time.Duration, error) { return h.makeDueCalls(ctx) }

// SetTimeout replaces the timeout of a call.
func (h *Hook) SetTimeout(timeout time.Duration) { h.client.Timeout = timeout }

// RetryPause is the pause after a failed attempt.
func RetryPause(attempt int) time.Duration { return retryPause(attempt) }
