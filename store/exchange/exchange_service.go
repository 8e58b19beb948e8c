// Package exchange imports and exports all that is authored, a resource a line,
// by the kinds of every noun. It may import the words of store, authoring, db and
// the rooms of the nouns.
package exchange

import (
	"portico/store/db"
	"portico/store/stock"
)

// ExchangeService imports and exports what is authored, of every noun.
type ExchangeService struct {
	db    *db.DB
	stock *stock.StockService
}

// NewExchangeService writes to a database and reads it; what is imported of
// stock is told to those who follow it.
func NewExchangeService(d *db.DB, stock *stock.StockService) *ExchangeService {
	return &ExchangeService{db: d, stock: stock}
}
