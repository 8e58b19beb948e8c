// Package release is what a shopper reads: a view of a release, and in it
// products, nodes, prices, files, filters, facets and search; and which release
// the rules give a shopper. A release never changes. It may import the words of
// store, authoring, catalog, db and index.
package release

import "portico/store/db"

// ReleaseService reads releases, each the way a shopper sees it.
type ReleaseService struct {
	db      *db.DB
	routing db.TopicCache[*routingTable]
}

// NewReleaseService reads them from a database.
func NewReleaseService(d *db.DB) *ReleaseService { return &ReleaseService{db: d} }
