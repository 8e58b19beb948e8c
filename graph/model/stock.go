package model

import (
	"time"

	"portico/store"
)

// Stock is a stock record among the siblings it came with.
type Stock struct {
	*store.Stock
	Sibling[*Stock]
}

// OfProduct is the product's id.
func (s *Stock) OfProduct() string { return s.ProductID }

// NewStocks puts stock records side by side.
func NewStocks(list []*store.Stock) []*Stock {
	return NewSiblings(list, func(row *Stock, s *store.Stock, place Sibling[*Stock]) { *row = Stock{s, place} })
}

// StockTimestamps are the times of a whole list; nil while it is empty.
type StockTimestamps struct{ CreatedAt, UpdatedAt *time.Time }

// StockTransaction is a line of the ledger.
type StockTransaction struct {
	*store.StockTransaction
	Sibling[*StockTransaction]
	Stock *Stock // the balance after the mutation that wrote it; nil when read from the ledger
}

// NewStockTransactions puts lines of the ledger side by side.
func NewStockTransactions(list []*store.StockTransaction) []*StockTransaction {
	return NewSiblings(list, func(row *StockTransaction, l *store.StockTransaction, place Sibling[*StockTransaction]) {
		*row = StockTransaction{StockTransaction: l, Sibling: place}
	})
}

// ActorName tells who did it.
func (t *StockTransaction) ActorName() string { return string(t.Actor) }
