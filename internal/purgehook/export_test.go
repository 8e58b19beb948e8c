package purgehook

import (
	"context"
	"net/http"
	"time"
)

// MakeDueCalls is one round of Run.
func (h *Hook) MakeDueCalls(ctx context.Context) (time.Duration, error) { return h.makeDueCalls(ctx) }

// SetTimeout replaces the timeout of a call.
func (h *Hook) SetTimeout(timeout time.Duration) { h.client.Timeout = timeout }

// SetTransport replaces the transport of calls.
func (h *Hook) SetTransport(transport http.RoundTripper) { h.client.Transport = transport }

// RetryPause is the pause after a failed attempt.
func RetryPause(attempt int) time.Duration { return retryPause(attempt) }
