package model

import (
	"portico/store/release"
	"portico/store/release/segment"
)

// Redirect is where a path of the past leads now.
type Redirect struct {
	Path        string       // now
	Product     *Product     // nil if it leads elsewhere
	CatalogNode *CatalogNode // nil if it leads elsewhere
}

// NewRedirect returns the redirect of the store; nil for none.
func NewRedirect(r *release.Redirect, err error) (*Redirect, error) {
	if r == nil || err != nil {
		return nil, err
	}
	redirect := &Redirect{Path: r.Path}
	if r.Product != nil {
		redirect.Product = NewBatch[Product]([]*release.Product{r.Product})[0]
	}
	if r.Node != nil {
		redirect.CatalogNode = NewBatch[CatalogNode]([]*segment.CatalogNode{r.Node})[0]
	}
	return redirect, nil
}
