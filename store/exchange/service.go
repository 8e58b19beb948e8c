// Package exchange imports and exports all authored resources as NDJSON, one resource a
// line. ExchangeService runs both; ImportReport and ImportErrors are the results. It may
// import store, authoring, db and the packages of the resources.
package exchange

import (
	"portico/store/db"
	"portico/store/stock"
)

// ExchangeService imports and exports authored resources.
type ExchangeService struct {
	db    *db.DB
	stock *stock.StockService
}

// NewExchangeService returns the service of a database. Imports of stock notify the
// watchers of stock.
func NewExchangeService(d *db.DB, stockService *stock.StockService) *ExchangeService {
	return &ExchangeService{db: d, stock: stockService}
}
