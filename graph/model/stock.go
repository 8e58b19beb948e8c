package model

import (
	"time"

	"portico/store/stock"
)

// Stock is a stock record, in a group.
type Stock struct {
	*stock.Stock
	Sibling[*Stock]
}

// OfProduct returns the product's id.
func (s *Stock) OfProduct() string { return s.ProductID }

// Place implements Row.
func (s *Stock) Place(of *stock.Stock, place Sibling[*Stock]) { s.Stock, s.Sibling = of, place }

// StockTimestamps are the times of a whole list. They are nil if it is empty.
type StockTimestamps struct{ CreatedAt, UpdatedAt *time.Time }

// StockTransaction is an entry of the stock ledger.
type StockTransaction struct {
	*stock.StockTransaction
	Sibling[*StockTransaction]
	Stock *Stock // the balance after the mutation that wrote it; nil when read from the ledger
}

// Place implements Row.
func (t *StockTransaction) Place(of *stock.StockTransaction, place Sibling[*StockTransaction]) {
	t.StockTransaction, t.Sibling = of, place
}

// ActorName returns who made the change.
func (t *StockTransaction) ActorName() string { return string(t.Actor) }
