// Package catalog holds products, files, prices, hierarchies, nodes, catalogs and rules as
// they are authored, and builds the product documents of releases. Its main types are
// CatalogService and the *Source types of import files. It may import store, authoring, db
// and index.
package catalog

import "portico/store/db"

// CatalogService reads and writes catalogs, rules, hierarchies and nodes.
type CatalogService struct{ db *db.DB }

// NewCatalogService returns the service of a database.
func NewCatalogService(d *db.DB) *CatalogService { return &CatalogService{db: d} }
