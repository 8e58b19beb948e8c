package model

import (
	"time"

	"portico/store"
)

// Stock is a stock record among the siblings it came with.
type Stock struct {
	*store.Stock
	Group *Group[*Stock]
}

// NewStocks puts stock records side by side.
func NewStocks(list []*store.Stock) []*Stock {
	stocks := make([]*Stock, len(list))
	for i, s := range list {
		stocks[i] = &Stock{Stock: s}
	}
	group := NewGroup(stocks, func(s *Stock) string { return s.ProductID })
	for _, s := range stocks {
		s.Group = group
	}
	return stocks
}

// StockTimestamps are the times of a whole list; nil while it is empty.
type StockTimestamps struct{ CreatedAt, UpdatedAt *time.Time }

// StockTransaction is a line of the ledger.
type StockTransaction struct {
	*store.StockTransaction
	Group *Group[*StockTransaction]
	Stock *Stock // the balance after the mutation that wrote it; nil when read from the ledger
}

// NewStockTransactions puts lines of the ledger side by side.
func NewStockTransactions(list []*store.StockTransaction) []*StockTransaction {
	lines := make([]*StockTransaction, len(list))
	for i, l := range list {
		lines[i] = &StockTransaction{StockTransaction: l}
	}
	group := NewGroup(lines, func(l *StockTransaction) string { return l.ID })
	for _, l := range lines {
		l.Group = group
	}
	return lines
}

// ActorName tells who did it.
func (t *StockTransaction) ActorName() string { return string(t.Actor) }
