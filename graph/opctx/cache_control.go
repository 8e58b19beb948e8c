package opctx

import (
	"net/http"
	"strings"
	"time"

	"portico/internal/auth"
	"portico/internal/httpcache"
	"portico/internal/responsecache"
	"portico/store/release"
	"portico/store/release/routing"
)

// Values of Cache-Control, allocated once.
var (
	publicCache  = []string{"public, no-cache"}
	privateCache = []string{"private, no-cache"}

	// NoStore is for responses that depend on more than a release, such as stock, and for errors.
	NoStore = []string{"no-store"}
)

// CachePolicy decides the headers by which HTTP caches store catalog responses. The zero value has
// caches ask the server each time.
type CachePolicy struct {
	Control   httpcache.CacheControl // of public responses
	TagHeader string                 // httpcache.SurrogateKey or CacheTag; empty for no tags
	Anonymous bool                   // requests without a token are answered: auth.Service.AnswerAnonymously
}

// SetTags sets the tags of a response, after everything in it was read from the view. They are the same
// for all requests that share the response.
func (p *CachePolicy) SetTags(resp *responsecache.Response, view *release.View) {
	if p.TagHeader == "" {
		return
	}
	tags := httpcache.Tags(view.Release.CatalogID, view.Release.UUID(), view.Reads)
	resp.AddHeader(p.TagHeader, httpcache.JoinTags(p.TagHeader, tags))
}

// SetCaching sets Cache-Control and Vary of a response that depends on a release alone. Its caller has set Vary to all headers
// that an error may depend on: SetCaching replaces the last value by that of variant. again, unless it is nil, sets what
// depends on the time and on when the caller's token expires, for requests that repeat this one.
//
// Caches may share the response among requests with the same token, unless the token is an account's. With
// Control they may send it without asking, until a sale or a rule's schedule starts or ends, or the token
// expires.
func (p *CachePolicy) SetCaching(to http.Header, r *http.Request, resp *responsecache.Response, variant *VaryVariant) (again func(to http.Header, expires time.Time)) {
	view := From(r.Context()).CurrentView()
	if view == nil { // the handler runs without Middleware
		to["Cache-Control"] = privateCache
		return nil
	}
	basis := view.Routing().Basis()
	byToken := basis.Identity || !p.Anonymous
	if vary := to["Vary"]; len(vary) > 0 {
		vary[len(vary)-1] = variant.value(basis, byToken)
	}
	principal := auth.PrincipalFrom(r.Context())
	switch {
	case principal == nil || principal.HasShopper() || r.Header[releaseHeader] != nil:
		to["Cache-Control"] = privateCache
		return nil
	case !p.Control.Enabled() || r.Header["Prefer"] != nil:
		to["Cache-Control"] = publicCache
		return nil
	}
	until, ruleUntil := resp.ValidUntil, view.Routing().HoldsUntil(view.Now())
	set := func(to http.Header, now, expires time.Time) {
		if !byToken {
			expires = time.Time{}
		}
		to["Cache-Control"] = p.Control.Value(holds(now, until, ruleUntil, expires))
	}
	set(to, view.Now(), principal.Expires)
	clock := view.Clock()
	return func(to http.Header, expires time.Time) { set(to, clock(), expires) }
}

// holds returns the time from now until the first of several ends. A zero time is no end; unbounded means that all are.
func holds(now time.Time, ends ...time.Time) (left time.Duration, unbounded bool) {
	unbounded = true
	for _, end := range ends {
		if end.IsZero() {
			continue
		}
		if until := end.Sub(now); unbounded || until < left {
			left, unbounded = until, false
		}
	}
	return left, unbounded
}

// VaryVariant has the values of Vary for responses of one API. The index has a bit for each thing that they may depend on: 1 the
// token, 2 the channel, 4 the context tags.
type VaryVariant [1 << 3]string

// NewVaryVariant returns the values with headers that the API looks at besides those of the shopper.
func NewVaryVariant(headers string) *VaryVariant {
	v := &VaryVariant{}
	for i := range v {
		names := []string{headers, "Accept-Language"}
		if i&1 != 0 {
			names = append(names, "Authorization")
		}
		if i&2 != 0 {
			names = append(names, "EP-Channel, Store-Channel")
		}
		if i&4 != 0 {
			names = append(names, "EP-Context-Tag, Store-Context-Tag")
		}
		v[i] = strings.Join(append(names, releaseHeader+", X-Moltin-Currency, X-Moltin-Language"), ", ")
	}
	return v
}

// value returns the value for a response whose catalog was chosen by basis.
func (v *VaryVariant) value(basis routing.Basis, byToken bool) string {
	i := 0
	for bit, decides := range []bool{byToken, basis.Channel, basis.Tag} {
		if decides {
			i |= 1 << bit
		}
	}
	return v[i]
}
