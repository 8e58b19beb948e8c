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

	// maxBuckets bounds the memory of a limit: callers are counted in so many
	// places at most, and further ones share them.
	maxBuckets = 1 << 16
)

// The headers that tell a caller about a limit.
const (
	limitHeader     = "X-RateLimit-Limit"
	remainingHeader = "X-RateLimit-Remaining"
	resetHeader     = "X-RateLimit-Reset" // when nothing is used any more, in seconds since 1970
	retryHeader     = "Retry-After"       // seconds
)

var rateHeaders = []string{limitHeader, remainingHeader, resetHeader, retryHeader}

// RateLimit allows so many uses of something a minute to each client, and to each
// address: as many at once, which come back evenly. It counts in this process.
type RateLimit struct {
	what                  string
	mu                    sync.Mutex // also for an answer's header, which is written by one at a time
	perClient, perAddress *buckets   // nil for no limit
}

// NewRateLimit limits what ("asking for tokens"); 0 is no limit.
func NewRateLimit(what string, perClient, perAddress int) *RateLimit {
	return &RateLimit{what: what, perClient: newBuckets(perClient), perAddress: newBuckets(perAddress)}
}

// Use counts a use by a client, unless its id is empty, and by the address
// that the request of ctx came from. RATE_LIMITED when either has had its
// share; the answer then says by Retry-After when to come again.
func (l *RateLimit) Use(ctx context.Context, clientID string) error {
	from, now := cmp.Or(reqctx.From(ctx), &reqctx.Request{}), monotonicNow()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.perAddress != nil && from.Address.IsValid() {
		if err := l.use(l.perAddress, reqctx.Network(from.Address), "this address", from, now); err != nil {
			return err
		}
	}
	if l.perClient != nil && clientID != "" {
		return l.use(l.perClient, clientID, "this client", from, now)
	}
	return nil
}

// monotonicNow is the time of a clock that nobody sets: that of time.Now, whose
// differences heed no step of the wall clock, as long as nothing is rounded or
// converted on the way. With any other, a step back would refuse callers for as
// long as it was.
func monotonicNow() time.Time { return time.Now() }

// use counts a use by a caller, and tells in the answer's header how much is
// left: of the limit that was looked at last.
func (l *RateLimit) use(callers *buckets, key, who string, from *reqctx.Request, now time.Time) error {
	bucket := callers.get(key, now)
	allowed := bucket.AllowN(now, 1)
	left := max(0, bucket.TokensAt(now))
	after := func(tokens float64) time.Duration { // until there are so many
		return time.Duration((tokens - left) / float64(bucket.Limit()) * float64(time.Second))
	}
	if from.ResponseHeader != nil {
		from.ResponseHeader.Set(limitHeader, strconv.Itoa(callers.limit))
		from.ResponseHeader.Set(remainingHeader, strconv.Itoa(int(left)))
		from.ResponseHeader.Set(resetHeader, strconv.FormatInt(now.Add(after(float64(callers.limit))).Unix(), 10))
	}
	if allowed {
		return nil
	}
	seconds := max(1, int(math.Ceil(after(1).Seconds())))
	if from.ResponseHeader != nil {
		from.ResponseHeader.Set(retryHeader, strconv.Itoa(seconds))
	}
	unit := "seconds"
	if seconds == 1 {
		unit = "second"
	}
	return &store.Error{Code: store.RateLimited, Detail: fmt.Sprintf(
		"There is too much %s from %s: at most %d a minute; try again in %d %s.", l.what, who, callers.limit, seconds, unit)}
}

// buckets have a bucket of uses each, in a bounded number of places. Which of
// them share one cannot be told from outside.
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

// get is a caller's. One that is full again is as good as none, and is not
// kept.
func (c *buckets) get(key string, now time.Time) *rate.Limiter {
	if now.Sub(c.sweptAt) >= rateWindow {
		for place, bucket := range c.limiters {
			if bucket.TokensAt(now) >= float64(c.limit) {
				delete(c.limiters, place)
			}
		}
		c.sweptAt = now
	}
	place := maphash.String(c.seed, key) % maxBuckets
	if c.limiters[place] == nil {
		c.limiters[place] = rate.NewLimiter(rate.Limit(float64(c.limit)/rateWindow.Seconds()), c.limit)
	}
	return c.limiters[place]
}
