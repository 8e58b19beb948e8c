package catalog

import "portico/store/db"

// CatalogService keeps catalogs, their rules, hierarchies and nodes as they are
// authored.
type CatalogService struct{ db *db.DB }

// NewCatalogService keeps them in a database.
func NewCatalogService(d *db.DB) *CatalogService { return &CatalogService{db: d} }
