// Package catalog is what is authored of a catalog: products, files, prices,
// hierarchies and nodes, catalogs and the rules that lead to them; and the
// document that a release shows of a product. It may import the words of store,
// authoring, db and index.
package catalog

import "portico/store/db"

// CatalogService keeps catalogs, their rules, hierarchies and nodes as they are
// authored.
type CatalogService struct{ db *db.DB }

// NewCatalogService keeps them in a database.
func NewCatalogService(d *db.DB) *CatalogService { return &CatalogService{db: d} }
