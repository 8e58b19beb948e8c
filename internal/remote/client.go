package remote

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/time/rate"
)

// Bounds of what a server can make the client keep or wait for.
const (
	maxResponseBytes = 32 << 20 // of one response; a page has at most 100 resources
	requestTime      = time.Minute
	maxTries         = 8 // of one request
	maxElapsed       = 15 * time.Minute
)

// Credentials are an API client of the server. Without a secret, the client gets an implicit token, which reads catalogs
// and stock only.
type Credentials struct {
	ID, Secret string
}

// apiClient sends requests to one server, one at a time. It limits their rate, retries those that may succeed later, and
// renews its token.
type apiClient struct {
	base        *url.URL
	credentials Credentials
	shopper     http.Header // headers that choose the catalog
	http        *http.Client
	limiter     *rate.Limiter
	firstWait   time.Duration               // before the first retry, without Retry-After
	token       string                      // empty until login
	renewAt     time.Time                   // of the token
	waiting     func(string, time.Duration) // called before each retry; nil for nobody
}

// newClient returns a client that has not logged in yet: do does so.
func newClient(c Config) (*apiClient, error) {
	base, err := url.Parse(strings.TrimRight(c.URL, "/"))
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("the address of a server is a URL without user, query and fragment, such as https://shop.example")
	}
	perSecond := c.Rate
	if perSecond <= 0 {
		perSecond = DefaultRate
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	transport.MaxResponseHeaderBytes = 1 << 20
	return &apiClient{base: base, credentials: c.Credentials, shopper: shopperHeader(c), limiter: rate.NewLimiter(rate.Limit(perSecond), 1), firstWait: cmp.Or(c.firstWait, time.Second),
		waiting: c.Waiting,
		http: &http.Client{Transport: transport, Timeout: requestTime,
			// A redirect could take the token, or the secret, to another server.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

// shopperHeader returns the headers that choose the catalog. Servers read them by the name of the contract, or by that of
// the hosted service.
func shopperHeader(c Config) http.Header {
	header := http.Header{}
	for _, prefix := range []string{"Store-", "Ep-"} {
		if c.Channel != "" {
			header.Set(prefix+"Channel", c.Channel)
		}
		if len(c.Tags) > 0 {
			header.Set(prefix+"Context-Tag", strings.Join(c.Tags, ","))
		}
	}
	return header
}

// request is a request for JSON that changes nothing.
type request struct {
	path, query        string
	language, currency string // empty for the server's
	body               any    // encoded as JSON for a POST; nil for GET
}

func (r request) method() string {
	if r.body != nil {
		return http.MethodPost
	}
	return http.MethodGet
}

func (r request) String() string {
	if r.query == "" {
		return r.method() + " " + r.path
	}
	return r.method() + " " + r.path + "?" + abbreviate(r.query)
}

// do sends a request, logging in before if it must, and decodes the response. It retries connection errors, 408, 429 and 5xx.
func (c *apiClient) do(ctx context.Context, r request, into any) error {
	renewed := false // a second 401 is final
	return c.retry(ctx, func() error {
		if err := c.login(ctx); err != nil {
			return err
		}
		err := c.send(ctx, r.String(), func() (*http.Request, error) { return c.newRequest(ctx, r) }, into)
		if status(err) == http.StatusUnauthorized && !renewed { // the token may have been revoked
			renewed, c.token = true, ""
			if err = c.login(ctx); err == nil {
				err = c.send(ctx, r.String(), func() (*http.Request, error) { return c.newRequest(ctx, r) }, into)
			}
		}
		return err
	})
}

// newRequest returns a request with the token of the client and the headers that choose catalog, language and currency.
func (c *apiClient) newRequest(ctx context.Context, r request) (*http.Request, error) {
	var body io.Reader = http.NoBody
	if r.body != nil {
		text, err := json.Marshal(r.body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, r.method(), c.base.String()+r.path, body)
	if err != nil {
		return nil, err
	}
	req.URL.RawQuery = r.query
	req.Header = c.shopper.Clone()
	req.Header.Set("Authorization", "Bearer "+c.token)
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.language != "" {
		req.Header.Set("Accept-Language", r.language)
	}
	if r.currency != "" {
		req.Header.Set("X-Moltin-Currency", r.currency)
	}
	return req, nil
}

// login gets a token unless there is one, and renews it after nine tenths of its lifetime.
func (c *apiClient) login(ctx context.Context) error {
	if c.token != "" && time.Now().Before(c.renewAt) {
		return nil
	}
	form := url.Values{"grant_type": {"implicit"}, "client_id": {c.credentials.ID}}
	if c.credentials.Secret != "" {
		form.Set("grant_type", "client_credentials")
		form.Set("client_secret", c.credentials.Secret)
	}
	var answer struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int64  `json:"expires_in"`
	}
	const path = "/oauth/access_token"
	err := c.send(ctx, "POST "+path, func() (*http.Request, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.String()+path, strings.NewReader(form.Encode()))
		if err == nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		return req, err
	}, &answer)
	switch refused := (*HTTPError)(nil); {
	case errors.As(err, &refused) && (refused.Status == 400 || refused.Status == 401 || refused.Status == 403):
		refused.Advice = "Check the client id and the secret: the server does not accept them."
	case err == nil && answer.AccessToken == "":
		err = permanent(fmt.Errorf("POST %s: the response has no access_token. Is %s the base address of a commerce service?", path, c.base))
	}
	if err != nil {
		return err
	}
	lifetime := time.Duration(min(max(answer.ExpiresIn, 60), 86400)) * time.Second
	c.token, c.renewAt = answer.AccessToken, time.Now().Add(lifetime*9/10)
	return nil
}

// send waits until the rate allows a request, sends it once and decodes the response. Errors that retry must not repeat are
// permanent: of ctx, an unknown host, a certificate, the content of a response, and most statuses (newHTTPError).
func (c *apiClient) send(ctx context.Context, name string, build func() (*http.Request, error), into any) error {
	if err := c.limiter.Wait(ctx); err != nil {
		return permanent(err)
	}
	req, err := build()
	if err != nil {
		return permanent(fmt.Errorf("%s: %w", name, err))
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "portico-import")
	response, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return permanent(ctx.Err())
		}
		if unknown := new(net.DNSError); errors.As(err, &unknown) && unknown.IsNotFound || errors.As(err, new(*tls.CertificateVerificationError)) {
			return permanent(&connectionError{name, err})
		}
		return &connectionError{name, err}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxResponseBytes+1))
	switch {
	case err != nil && ctx.Err() != nil:
		return permanent(ctx.Err())
	case err != nil:
		return &connectionError{name, err}
	case len(body) > maxResponseBytes:
		return permanent(fmt.Errorf("%s: the response has more than %d MiB. Is %s the base address of a commerce service?", name, maxResponseBytes>>20, c.base))
	case response.StatusCode >= 300:
		return c.newHTTPError(name, response, body)
	}
	return c.decode(name, body, into)
}

// decode decodes a response. It ignores unknown members.
func (c *apiClient) decode(name string, body []byte, into any) error {
	err := json.Unmarshal(body, into)
	mistyped := new(json.UnmarshalTypeError)
	switch {
	case errors.As(err, &mistyped) && mistyped.Field != "":
		return permanent(fmt.Errorf("%s: the member %s of the response has a wrong type: %s. Is %s the base address of a commerce service?", name, mistyped.Field, mistyped.Value, c.base))
	case err != nil:
		return permanent(fmt.Errorf("%s: the response is not the JSON of a commerce service; it begins with %q. Is %s its base address?",
			name, abbreviate(c.redact(string(bytes.TrimSpace(body[:min(len(body), 4096)])))), c.base))
	}
	return nil
}

// retry calls a function until it succeeds, fails for good, or has been tried too often.
func (c *apiClient) retry(ctx context.Context, do func() error) error {
	pace := backoff.NewExponentialBackOff()
	pace.InitialInterval = c.firstWait
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := do()
		if after := retryAfter(err); after > 0 {
			return struct{}{}, errors.Join(err, backoff.RetryAfter(after))
		}
		return struct{}{}, err
	}, backoff.WithBackOff(pace), backoff.WithMaxTries(maxTries), backoff.WithMaxElapsedTime(maxElapsed), backoff.WithNotify(func(err error, wait time.Duration) {
		if c.waiting != nil {
			c.waiting(cause(err), wait)
		}
	}))
	return plain(err)
}

// plain returns the HTTPError in an error, without the RetryAfter that retry joined to it; else the error itself.
func plain(err error) error {
	if refused := (*HTTPError)(nil); errors.As(err, &refused) {
		return refused
	}
	return err
}

// permanent marks an error that retry must not repeat.
func permanent(err error) error { return backoff.Permanent(err) }

// retryAfter returns how many seconds the server asks to wait; 0 if it does not say.
func retryAfter(err error) int {
	refused := (*HTTPError)(nil)
	if !errors.As(err, &refused) {
		return 0
	}
	return refused.retryAfter
}

// parseRetryAfter returns the seconds of a Retry-After, a number or a date: 0 to a day, 0 if it is neither.
func parseRetryAfter(text string) int {
	seconds, err := strconv.Atoi(text)
	if at, noDate := http.ParseTime(text); err != nil && noDate == nil {
		seconds = int(time.Until(at).Seconds()) + 1
	}
	return min(max(seconds, 0), int(24*time.Hour/time.Second))
}
