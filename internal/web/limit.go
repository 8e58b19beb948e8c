package web

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/go-chi/httprate"

	"portico/internal/incoming"
	"portico/store"
)

const (
	rateWindow = time.Minute

	// ratePlaces bounds the memory of a limit: callers are counted in so many
	// places at most, and further ones share them.
	ratePlaces = 1 << 16
)

// Limit allows so many uses of something a minute to each client, and to each
// address. It counts in this process, over the last minute.
type Limit struct {
	what               string
	perClient, perFrom *httprate.RateLimiter // nil for no limit

	mu sync.Mutex // an answer's header is written by one at a time
}

// NewLimit limits what ("asking for tokens"); 0 is no limit.
func NewLimit(what string, perClient, perAddress int) *Limit {
	return &Limit{what: what, perClient: newRate(perClient), perFrom: newRate(perAddress)}
}

func newRate(limit int) *httprate.RateLimiter {
	if limit == 0 {
		return nil
	}
	return httprate.NewRateLimiter(limit, rateWindow, httprate.WithLimitCounter(&places{
		LimitCounter: httprate.NewLocalLimitCounter(rateWindow), seed: maphash.MakeSeed(),
	}))
}

// Use counts a use by a client, unless its id is empty, and by the address
// that the request of ctx came from. RATE_LIMITED when either has had its
// share; the answer then says by Retry-After when to come again.
func (l *Limit) Use(ctx context.Context, clientID string) error {
	from := cmp.Or(incoming.From(ctx), &incoming.Request{})
	l.mu.Lock()
	defer l.mu.Unlock()
	answer := discard{http.Header{}}
	r := (&http.Request{}).WithContext(ctx)
	over := ""
	switch {
	case l.perFrom != nil && from.Address.IsValid() && l.perFrom.OnLimit(answer, r, network(from.Address)):
		over = "this address"
	case l.perClient != nil && clientID != "" && l.perClient.OnLimit(answer, r, clientID):
		over = "this client"
	}
	for _, name := range rateHeaders {
		if value := answer.Header().Get(name); value != "" && from.Answer != nil {
			from.Answer.Set(name, value)
		}
	}
	if over == "" {
		return nil
	}
	return &store.Error{Code: store.RateLimited, Detail: fmt.Sprintf(
		"There is too much %s from %s: at most %s a minute; try again in %s seconds.", l.what, over, answer.Header().Get("X-RateLimit-Limit"), answer.Header().Get("Retry-After"))}
}

// rateHeaders tell a caller about the limit that was looked at last.
var rateHeaders = []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After"}

// network is what counts as one address: of IPv6 the /64, all of which one
// host may have.
func network(at netip.Addr) string {
	if at.Is4() {
		return at.String()
	}
	prefix, _ := at.Prefix(64) // an address of IPv6 has one
	return prefix.String()
}

// places counts callers in a bounded number of places. Which of them share
// one cannot be told from outside.
type places struct {
	httprate.LimitCounter
	seed maphash.Seed
}

func (p *places) place(key string) string {
	return strconv.FormatUint(maphash.String(p.seed, key)%ratePlaces, 36)
}

// IncrementBy implements httprate.LimitCounter.
func (p *places) IncrementBy(key string, window time.Time, amount int) error {
	return p.LimitCounter.IncrementBy(p.place(key), window, amount)
}

// Increment implements httprate.LimitCounter.
func (p *places) Increment(key string, window time.Time) error { return p.IncrementBy(key, window, 1) }

// Get implements httprate.LimitCounter.
func (p *places) Get(key string, window, before time.Time) (current, previous int, err error) {
	return p.LimitCounter.Get(p.place(key), window, before)
}

// discard takes the headers that httprate sets.
type discard struct{ header http.Header }

func (d discard) Header() http.Header       { return d.header }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}
