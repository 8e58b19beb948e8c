package catalog

import (
	"net/url"
	"strings"
	"unicode"

	"portico/store"
	"portico/store/authoring"
)

// RedirectSource is a redirect in an import file: a path of a storefront leads elsewhere. Either
// attributes.to or the target is set.
type RedirectSource struct {
	Type       string `json:"type"`
	ID         string `json:"id"`
	Attributes struct {
		From string `json:"from"`         // a path without slashes around it
		To   string `json:"to,omitempty"` // a path, or a URL with a scheme
	} `json:"attributes"`
	Relationships struct {
		Target *authoring.LinkSource `json:"target,omitempty"` // a product or a node
	} `json:"relationships"`
}

// MaxRedirects is the largest number of imported redirects of a shop.
const MaxRedirects = 10_000

// The types of a redirect's target.
const (
	RedirectProduct = "product"
	RedirectNode    = "node"
)

func (r *RedirectSource) Key() string { return r.ID }

// Check implements authoring.Source. It takes the slashes around paths away.
func (r *RedirectSource) Check(f *authoring.Validator) {
	f.ID("id", &r.ID)
	own := &r.Attributes
	own.From = strings.Trim(own.From, "/")
	f.Required("attributes.from", own.From, authoring.MaxName)
	if strings.ContainsAny(own.From, "?#") || strings.Contains(own.From, "://") || strings.ContainsFunc(own.From, unicode.IsControl) {
		f.Add("attributes.from", "must be a path without scheme, query, fragment and control characters, such as old/road-bikes")
	}
	if wrong := wrongDestination(own.To); wrong != "" {
		f.Add("attributes.to", "must be a path such as sale/bikes, or a URL with a host that begins with https:// or http://; it %s, got %q", wrong, store.Abbreviate(own.To))
	} else if !IsURL(own.To) {
		own.To = strings.Trim(own.To, "/")
	}
	f.Text("attributes.to", own.To, authoring.MaxName)
	target := r.Relationships.Target
	if target != nil && target.Data == nil {
		r.Relationships.Target, target = nil, nil
	}
	if (own.To == "") == (target == nil) {
		f.Add("attributes.to", "or a target is required, and not both")
	}
	if target != nil {
		f.OneOf("relationships.target.data.type", target.Data.Type, RedirectProduct, RedirectNode)
		f.ID("relationships.target.data.id", &target.Data.ID)
	}
	if own.To == own.From && own.From != "" {
		f.Add("attributes.to", "must be another path than the one that it is for, %q", store.Abbreviate(own.From))
	}
}

// Keys implements authoring.KeyedSource.
func (r *RedirectSource) Keys(k authoring.KeyRecorder) {
	k.Define(authoring.KeyPath, r.Attributes.From, "attributes.from")
	if target := r.Relationships.Target; target != nil {
		kind := authoring.KeyTarget
		if target.Data.Type == RedirectProduct {
			kind = authoring.KeyProduct
		}
		k.Use(kind, target.Data.ID, "relationships.target.data.id", 0)
	}
}

// wrongDestination returns why browsers must not be sent to a destination; "" for a path of the shop, and for a
// URL of HTTP with a host.
func wrongDestination(to string) string {
	switch {
	case strings.ContainsFunc(to, unicode.IsControl):
		return "has a control character"
	case strings.Contains(to, `\`):
		return "has a backslash, which browsers read as a slash"
	case IsURL(to):
		if u, err := url.Parse(to); err != nil {
			return "is not a valid URL"
		} else if u.Hostname() == "" {
			return "has no host"
		}
	case strings.HasPrefix(to, "//"):
		return "begins with //, which leads to another site"
	default:
		first, _, _ := strings.Cut(strings.TrimLeft(to, "/"), "/")
		if at := strings.IndexAny(first, ":?#"); at >= 0 && first[at] == ':' {
			return "has a scheme or a colon before the first slash"
		}
	}
	return ""
}

// IsURL reports whether a redirect leads to another site rather than to a path.
func IsURL(to string) bool {
	return strings.HasPrefix(to, "https://") || strings.HasPrefix(to, "http://")
}
