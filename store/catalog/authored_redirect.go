package catalog

import "portico/store"

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

func authoredRedirectOf(s *RedirectSource, size sourceSize) *AuthoredRedirect {
	r := &AuthoredRedirect{ID: s.ID, From: s.Attributes.From, To: textOrNil(s.Attributes.To), sourceSize: size}
	if target := s.Relationships.Target; target.ID() != "" {
		if target.Data.Type == RedirectProduct {
			r.ProductID = &target.Data.ID
		} else {
			r.NodeID = &target.Data.ID
		}
	}
	return r
}
