package catalog

import (
	"strings"

	"portico/store"
	"portico/store/db"
)

// AuthoredRedirect is a redirect as authored. One of To, ProductID and NodeID is set.
type AuthoredRedirect struct {
	ID, From              string
	To, ProductID, NodeID *string
	sourceSize
}

// GlobalID returns the global id of the authored redirect.
func (r *AuthoredRedirect) GlobalID() string {
	return store.GlobalID(store.TypeAuthoredRedirect, r.ID)
}

// RedirectFilter selects authored redirects. Both members must match.
type RedirectFilter struct {
	From []string // of one of these paths; nil is any
	To   []string // to one of these paths or URLs; nil is any
}

// Conditions returns the filter for a list. Slashes around paths do not count, as in redirects.
func (f RedirectFilter) Conditions() (conditions []db.Condition) {
	for _, member := range []struct {
		column string
		paths  []string
	}{{"from_path", f.From}, {"to_path", f.To}} {
		if member.paths == nil {
			continue
		}
		paths := storable(member.paths)
		for i, path := range paths {
			if !IsURL(path) {
				paths[i] = strings.Trim(path, "/")
			}
		}
		conditions = append(conditions, db.OneOf(member.column, paths), db.Condition{Clause: member.column + " <> ''"})
	}
	return conditions
}

// RedirectList lists authored redirects.
var RedirectList = authoredListing("redirect", authoredRedirectOf, func(r *AuthoredRedirect) string { return r.ID })

func authoredRedirectOf(s *RedirectSource, size sourceSize) *AuthoredRedirect {
	r := &AuthoredRedirect{ID: s.ID, From: s.Attributes.From, To: store.NonEmpty(s.Attributes.To), sourceSize: size}
	if target := s.Relationships.Target; target.ID() != "" {
		if target.Data.Type == RedirectProduct {
			r.ProductID = &target.Data.ID
		} else {
			r.NodeID = &target.Data.ID
		}
	}
	return r
}
