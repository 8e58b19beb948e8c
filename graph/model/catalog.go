package model

import (
	"time"

	"portico/store/catalog"
	"portico/store/release/segment"
)

// Catalog is a catalog, published or not, as a row of a response.
type Catalog struct {
	*catalog.Catalog
	BatchRow[*Catalog]
}

// Init implements Row.
func (c *Catalog) Init(source *catalog.Catalog, position BatchRow[*Catalog]) {
	c.Catalog, c.BatchRow = source, position
}

// CatalogPricebook is a price book of a catalog.
type CatalogPricebook struct {
	Pricebook *catalog.Pricebook
	Priority  int
}

// CatalogRule is a rule as a row of a response.
type CatalogRule struct {
	*catalog.Rule
	BatchRow[*CatalogRule]
}

// Init implements Row.
func (r *CatalogRule) Init(source *catalog.Rule, position BatchRow[*CatalogRule]) {
	r.Rule, r.BatchRow = source, position
}

// OfCatalog returns the id of the catalog that the rule leads to.
func (r *CatalogRule) OfCatalog() string { return r.CatalogID }

// CatalogRelease is a release as a row of a response.
type CatalogRelease struct {
	*segment.Release
	BatchRow[*CatalogRelease]
}

// Init implements Row.
func (r *CatalogRelease) Init(source *segment.Release, position BatchRow[*CatalogRelease]) {
	r.Release, r.BatchRow = source, position
}

// OfCatalog returns the id of the catalog that the release shows.
func (r *CatalogRelease) OfCatalog() string { return r.CatalogID }

// ServedTime returns when shoppers began to see it, or nil.
func (r *CatalogRelease) ServedTime() *time.Time { return NonZeroTime(r.ServedAt) }
