package accesslog

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"
)

// Mode says which requests an access log has.
type Mode string

// The modes.
const (
	Off    Mode = "off"
	Errors Mode = "errors" // those with status 400 and higher, at most maxErrors a minute, and the number of all once a minute
	All    Mode = "all"
)

// WithMode sets which requests are logged; the default is All.
func WithMode(mode Mode) Option { return func(a *AccessLog) { a.mode = mode } }

const (
	summaryEvery = time.Minute
	maxErrors    = 1000 // logged between two summaries in the mode Errors
)

// requestCounts are the requests since the last summary, in the mode Errors.
type requestCounts struct {
	byClass [6]atomic.Int64 // by the first digit of the status
	bytes   atomic.Int64
}

// selects reports whether to log a request. In the mode Errors it counts the request for the summary.
func (a *AccessLog) selects(status int, bytes int64) bool {
	if a.mode != Errors {
		return a.mode != Off
	}
	a.counts.bytes.Add(bytes)
	a.counts.byClass[min(max(status/100, 0), len(a.counts.byClass)-1)].Add(1)
	return status >= http.StatusBadRequest && a.errors.Add(1) <= maxErrors
}

// Run logs once a minute, and when ctx ends, how many requests there were, in the mode Errors.
func (a *AccessLog) Run(ctx context.Context) {
	if a.mode != Errors {
		return
	}
	for ended := false; !ended; a.summarize() {
		select {
		case <-time.After(summaryEvery):
		case <-ctx.Done():
			ended = true
		}
	}
}

// summarize logs the requests since the last summary, if there were any.
func (a *AccessLog) summarize() {
	var total int64
	attributes := []slog.Attr{}
	for class, name := range [...]string{1: "1xx", 2: "2xx", 3: "3xx", 4: "4xx", 5: "5xx"} {
		n := a.counts.byClass[class].Swap(0)
		total += n
		if n > 0 {
			attributes = append(attributes, slog.Int64(name, n))
		}
	}
	attributes = append(attributes, slog.Int64("total", total), slog.Int64("bytes", a.counts.bytes.Swap(0)))
	if more := a.errors.Swap(0) - maxErrors; more > 0 {
		attributes = append(attributes, slog.Int64("errors_not_logged", more))
	}
	if total > 0 {
		a.log.LogAttrs(context.Background(), slog.LevelInfo, "requests", attributes...)
	}
}
