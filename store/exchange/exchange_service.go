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
