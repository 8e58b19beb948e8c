// Package purgehook calls a URL after each change of what shoppers see, so that a CDN purges what it
// stored. Hook makes the calls that store/purge queues, signed by Standard Webhooks, until they succeed.
// It must not import the APIs.
package purgehook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"portico/internal/httpcache"
	"portico/store"
	"portico/store/purge"
)

// Config configures a Hook.
type Config struct {
	URL       string
	Keys      [][]byte // that sign calls; at least one
	TagHeader string   // header of the call with the tags to purge, as on responses; empty for none
	Log       *slog.Logger
	Count     func(outcome string) // called with the outcome of each call; may be nil
}

// The outcomes of a call.
const (
	Succeeded = "ok"
	Failed    = "error"
)

const (
	timeout      = 10 * time.Second // of a call, with its response; below purge.Lease, so that no other server makes it meanwhile
	maxAnswer    = 4 << 10          // bytes that are read of a response
	shownAnswer  = 200              // bytes of it in the log
	firstRetry   = time.Second
	maxRetry     = 5 * time.Minute
	idleInterval = time.Minute // between two looks for calls that other servers left
	errorPause   = 5 * time.Second
)

// Hook makes calls. Any number of servers of a database may run one.
type Hook struct {
	Config
	shop   Shop
	purges *purge.Service
	client *http.Client
	target string // the URL in the log, without its query, which may hold a secret
}

// Shop is the database that a hook follows.
type Shop interface {
	// WatchCatalogs returns a channel that receives after changes of what shoppers see. Call end to unsubscribe.
	WatchCatalogs() (changed <-chan struct{}, end func())
	// ReadOnly reports whether the database rejects writes.
	ReadOnly() bool
}

// New returns a hook that makes the calls in purges. The URL must be valid.
func New(shop Shop, purges *purge.Service, config Config) *Hook {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxResponseHeaderBytes = 64 << 10
	h := &Hook{Config: config, shop: shop, purges: purges, client: &http.Client{
		Timeout: timeout, Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if at, err := url.Parse(config.URL); err == nil {
		h.target = at.Scheme + "://" + at.Host + at.EscapedPath()
	}
	if h.Count == nil {
		h.Count = func(string) {}
	}
	return h
}

// Run makes calls until ctx ends.
func (h *Hook) Run(ctx context.Context) {
	changed, end := h.shop.WatchCatalogs()
	defer end()
	defer h.client.CloseIdleConnections()
	for ctx.Err() == nil {
		wait, err := h.makeDueCalls(ctx)
		if err != nil {
			wait = errorPause
			if ctx.Err() == nil && store.AsErrors(err)[0].Code != store.Unavailable { // those are logged already
				h.Log.Warn("could not look for changes to purge", "error", err)
			}
		}
		next := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-changed:
		case <-next.C:
		}
		next.Stop()
	}
}

// makeDueCalls queues the calls for what changed, makes those that are due, and returns how long to wait
// for the next one.
func (h *Hook) makeDueCalls(ctx context.Context) (wait time.Duration, err error) {
	if h.shop.ReadOnly() {
		return errorPause, nil
	}
	if err := h.purges.Collect(ctx); err != nil {
		return 0, err
	}
	for {
		wait, found, err := h.purges.Next(ctx)
		switch {
		case err != nil:
			return 0, err
		case !found:
			return idleInterval, nil
		case wait > 0:
			return min(wait, idleInterval), nil
		}
		call, err := h.purges.Claim(ctx)
		if err != nil {
			return 0, err
		}
		if call == nil { // another server was faster
			continue
		}
		if err := h.makeCall(ctx, call); err != nil {
			return 0, err
		}
	}
}

// makeCall makes a call, counts and records its outcome. A call that failed because ctx ended is left to other servers, and not
// counted. The error is of the database.
func (h *Hook) makeCall(ctx context.Context, call *purge.Call) error {
	err := h.send(ctx, call)
	after := context.WithoutCancel(ctx) // the outcome is recorded during shutdown too
	switch {
	case err == nil:
		h.Count(Succeeded)
		if call.Attempt > 0 {
			h.Log.Info("the purge hook succeeded again", "url", h.target, "catalog", call.CatalogID, "attempt", call.Attempt+1)
		}
		return h.purges.Finish(after, call)
	case ctx.Err() != nil:
		return h.purges.Retry(after, call, 0)
	}
	h.Count(Failed)
	pause := retryPause(call.Attempt)
	h.Log.Warn("the purge hook failed, so the CDN may send old responses; the call is retried", "url", h.target, "catalog", call.CatalogID,
		"attempt", call.Attempt+1, "retry_in", pause.String(), "error", err)
	return h.purges.Retry(after, call, pause)
}

// retryPause doubles with each attempt, up to maxRetry, and adds up to a fifth at random.
func retryPause(attempt int) time.Duration {
	pause := min(firstRetry<<min(attempt, 20), maxRetry)
	return (pause + time.Duration(rand.Int64N(int64(pause/5)))).Round(time.Millisecond)
}

// message is the body of a call.
type message struct {
	Catalog *string  `json:"catalog"` // null for all
	Release *string  `json:"release"` // that the catalog serves; null for all
	Tags    []string `json:"tags"`    // to purge
	All     bool     `json:"all"`
	Repeat  bool     `json:"repeat"` // the second call for one change (docs/cdn.md)
}

// newMessage returns the body of a call, which is for all catalogs if it has no CatalogID.
func newMessage(call *purge.Call) message {
	if call.CatalogID == "" {
		return message{Tags: []string{httpcache.AllTag}, All: true, Repeat: call.Repeat}
	}
	number := strconv.FormatInt(call.ReleaseID, 10)
	return message{Catalog: &call.CatalogID, Release: &number, Tags: httpcache.PurgedTags(call.CatalogID, call.Changed), Repeat: call.Repeat}
}

// send sends a call. It succeeds with a status from 200 to 299.
func (h *Hook) send(ctx context.Context, call *purge.Call) error {
	content := newMessage(call)
	body := store.Encode(content)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, strings.NewReader(string(body)))
	if err != nil {
		return err
	}
	now := strconv.FormatInt(time.Now().Unix(), 10)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "portico")
	request.Header.Set("Webhook-Id", call.ID)
	request.Header.Set("Webhook-Timestamp", now)
	request.Header.Set("Webhook-Signature", sign(h.Keys, call.ID, now, body))
	if h.TagHeader != "" {
		request.Header.Set(h.TagHeader, httpcache.JoinTags(h.TagHeader, content.Tags))
	}
	response, err := h.client.Do(request)
	if err != nil {
		if failed := new(url.Error); errors.As(err, &failed) {
			err = failed.Err // without the URL
		}
		return err
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer)) // only for the log
	switch {
	case response.StatusCode >= 300 && response.StatusCode < 400:
		return fmt.Errorf("it redirects with status %d, which is not followed: set --purge-url to the URL that answers", response.StatusCode)
	case response.StatusCode < 200 || response.StatusCode >= 300:
		return fmt.Errorf("it returned status %d: %q", response.StatusCode, answer[:min(len(answer), shownAnswer)])
	}
	return nil
}

// sign returns the signatures of a call by the Standard Webhooks, one for each key.
func sign(keys [][]byte, id, timestamp string, body []byte) string {
	signatures := make([]string, len(keys))
	for i, key := range keys {
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(signatures, " ")
}
