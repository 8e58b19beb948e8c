package model

import (
	"portico/store/stock"
)

// Stock is a stock record as a row of a response.
type Stock struct {
	*stock.Stock
	BatchRow[*Stock]
}

// OfProduct returns the product's id.
func (s *Stock) OfProduct() string { return s.ProductID }

// Init implements Row.
func (s *Stock) Init(source *stock.Stock, position BatchRow[*Stock]) {
	s.Stock, s.BatchRow = source, position
}

// StockTransaction is an entry of the stock ledger.
type StockTransaction struct {
	*stock.Transaction
	BatchRow[*StockTransaction]
	Stock *Stock // the balance after the mutation that wrote it; nil when read from the ledger
}

// Init implements Row.
func (t *StockTransaction) Init(source *stock.Transaction, position BatchRow[*StockTransaction]) {
	t.Transaction, t.BatchRow = source, position
}

// OfProduct returns the product's id.
func (t *StockTransaction) OfProduct() string { return t.ProductID }

// ActorName returns who made the change.
func (t *StockTransaction) ActorName() string { return string(t.Actor) }
