package release

import "portico/store/db"

// ReleaseService reads releases, each the way a shopper sees it.
type ReleaseService struct {
	db      *db.DB
	routing db.Watched[*routing]
}

// NewReleaseService reads them from a database.
func NewReleaseService(d *db.DB) *ReleaseService { return &ReleaseService{db: d} }
