package catalog

import (
	"strings"

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

func (r *RedirectSource) Check(f *authoring.Validator) {
	f.ID("id", &r.ID)
	own := &r.Attributes
	own.From = strings.Trim(own.From, "/")
	f.Required("attributes.from", own.From, authoring.MaxName)
	if strings.ContainsAny(own.From, "?#") || strings.Contains(own.From, "://") {
		f.Add("attributes.from", "must be a path without scheme, query and fragment, such as old/road-bikes")
	}
	if !IsURL(own.To) {
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
	if target := r.Relationships.Target; target != nil {
		k.Use(authoring.KeyKind(target.Data.Type), target.Data.ID, "relationships.target.data.id", 0)
	}
}

// IsURL reports whether a redirect leads to another site rather than to a path.
func IsURL(to string) bool {
	return strings.HasPrefix(to, "https://") || strings.HasPrefix(to, "http://")
}
