package storetest

import (
	"context"

	"portico/store/shop"
	"portico/store/stock"
)

func Increment(ctx context.Context, s *shop.Store, products ...string) error {
	var batch []stock.StockChange
	for _, product := range products {
		batch = append(batch, stock.StockChange{ProductID: product, Action: stock.StockIncrement, Quantity: 1})
	}
	_, err := s.TransactStock(ctx, Actor, batch)
	return err
}

// asked is a context that tells when its state is first looked at.
type ObservedContext struct {
	context.Context
	Checked chan struct{}
}

func (a *ObservedContext) Err() error {
	err := a.Context.Err()
	select {
	case a.Checked <- struct{}{}:
	default:
	}
	return err
}
