package middleware

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"math"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"portico/internal/reqctx"
	"portico/store"
)

const (
	rateWindow = time.Minute

	// maxBuckets bounds the memory of a limit. Above it callers share buckets.
	maxBuckets = 1 << 16
)

// The headers that report a limit.
const (
	limitHeader     = "X-RateLimit-Limit"
	remainingHeader = "X-RateLimit-Remaining"
	resetHeader     = "X-RateLimit-Reset" // when the full limit is available again, in Unix seconds
	retryHeader     = "Retry-After"       // seconds
)

var rateHeaders = []string{limitHeader, remainingHeader, resetHeader, retryHeader}

// RateLimit limits the uses of something per minute, by client and by address. The limit is also the burst. It counts in
// this process only.
type RateLimit struct {
	what                  string
	mu                    sync.Mutex // guards the buckets, and the response header, which fields of one operation set at once
	perClient, perAddress *buckets   // nil for no limit
}

// NewRateLimit returns a limit of what, such as "token requests"; 0 means no limit.
func NewRateLimit(what string, perClient, perAddress int) *RateLimit {
	return &RateLimit{what: what, perClient: newBuckets(perClient), perAddress: newBuckets(perAddress)}
}

// Use counts a use by a client, unless clientID is empty, and by the address of the request of ctx. It returns
// RATE_LIMITED if either is over its limit, and sets Retry-After.
func (l *RateLimit) Use(ctx context.Context, clientID string) error {
	req, now := cmp.Or(reqctx.From(ctx), &reqctx.Request{}), monotonicNow()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.perAddress != nil && req.Address.IsValid() {
		if err := l.use(l.perAddress, reqctx.Network(req.Address), "this address", req, now); err != nil {
			return err
		}
	}
	if l.perClient != nil && clientID != "" {
		return l.use(l.perClient, clientID, "this client", req, now)
	}
	return nil
}

// monotonicNow returns the time with its monotonic clock reading. Wall clock changes must not affect limits, so that
// the result must not be rounded or converted.
func monotonicNow() time.Time { return time.Now() }

// use counts a use by a caller and sets the headers of the limit that was checked last.
func (l *RateLimit) use(b *buckets, key, caller string, req *reqctx.Request, now time.Time) error {
	bucket := b.get(key, now)
	allowed := bucket.AllowN(now, 1)
	left := max(0, bucket.TokensAt(now))
	after := func(tokens float64) time.Duration { // until so many are available
		return time.Duration((tokens - left) / float64(bucket.Limit()) * float64(time.Second))
	}
	if req.ResponseHeader != nil {
		req.ResponseHeader.Set(limitHeader, strconv.Itoa(b.limit))
		req.ResponseHeader.Set(remainingHeader, strconv.Itoa(int(left)))
		req.ResponseHeader.Set(resetHeader, strconv.FormatInt(now.Add(after(float64(b.limit))).Unix(), 10))
	}
	if allowed {
		return nil
	}
	seconds := max(1, int(math.Ceil(after(1).Seconds())))
	if req.ResponseHeader != nil {
		req.ResponseHeader.Set(retryHeader, strconv.Itoa(seconds))
	}
	unit := "seconds"
	if seconds == 1 {
		unit = "second"
	}
	return &store.Error{Code: store.RateLimited, Detail: fmt.Sprintf(
		"Rate limit for %s exceeded by %s: at most %d per minute. Retry in %d %s.", l.what, caller, b.limit, seconds, unit)}
}

// buckets holds a token bucket for each caller, up to maxBuckets. Callers cannot predict with whom they share one.
type buckets struct {
	limit    int // a minute
	seed     maphash.Seed
	limiters map[uint64]*rate.Limiter
	sweptAt  time.Time
}

func newBuckets(uses int) *buckets {
	if uses == 0 {
		return nil
	}
	return &buckets{limit: uses, seed: maphash.MakeSeed(), limiters: map[uint64]*rate.Limiter{}}
}

// get returns the bucket of a caller. It drops full buckets once a minute.
func (b *buckets) get(key string, now time.Time) *rate.Limiter {
	if now.Sub(b.sweptAt) >= rateWindow {
		for key, bucket := range b.limiters {
			if bucket.TokensAt(now) >= float64(b.limit) {
				delete(b.limiters, key)
			}
		}
		b.sweptAt = now
	}
	bucket := maphash.String(b.seed, key) % maxBuckets
	if b.limiters[bucket] == nil {
		b.limiters[bucket] = rate.NewLimiter(rate.Limit(float64(b.limit)/rateWindow.Seconds()), b.limit)
	}
	return b.limiters[bucket]
}
