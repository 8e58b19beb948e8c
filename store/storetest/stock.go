package storetest

import (
	"context"

	"github.com/stretchr/testify/require"

	"portico/store/shop"
	"portico/store/stock"
)

func ReadStock(t require.TestingT, s *shop.Store, product string) *stock.Stock {
	stock, err := s.Stock(context.Background(), product)
	require.NoError(t, err)
	return stock
}
