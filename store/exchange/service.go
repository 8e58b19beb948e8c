// Package exchange imports and exports all authored resources as NDJSON, one resource a
// line. Service runs both; ImportReport and ImportErrors are the results. It may
// import store, authoring, db and the packages of the resources.
package exchange

import (
	"portico/store/db"
	"portico/store/stock"
)

// Service imports and exports authored resources.
type Service struct {
	db    *db.DB
	stock *stock.Service
}

// NewService returns the service of a database. Imports of stock notify the
// watchers of stock.
func NewService(d *db.DB, stockService *stock.Service) *Service {
	return &Service{db: d, stock: stockService}
}
