package storetest

import (
	"context"
	"sync/atomic"
	"testing"

	"portico/store"
	"portico/store/shop"
	"portico/store/stock"
)

// few keeps so many keys of a client, and so many bytes.
func WithKeyQuota(keys int, bytes int64) func(*shop.Config) {
	return func(config *shop.Config) { config.KeptKeys, config.KeptKeyBytes = keys, bytes }
}

// underKey is a write under a key, and whether it was a replay.
func IncrementWithKey(t *testing.T, s *shop.Store, by store.Actor, key string) (replayed bool, err error) {
	t.Helper()
	var replays atomic.Int64
	change := []stock.StockChange{{ProductID: "a", Action: stock.StockIncrement, Quantity: 1}}
	_, err = s.TransactStock(WithIdempotencyKey(t.Context(), key, "o", change, &replays), by, change)
	return replays.Load() > 0, err
}

// keyed is one use of a key; input is what the caller asks for.
func WithIdempotencyKey(ctx context.Context, key, operation string, input any, replayed *atomic.Int64) context.Context {
	return store.WithIdempotencyKey(ctx, &store.IdempotencyKey{Key: key, Operation: operation, Input: input, Replayed: func() { replayed.Add(1) }})
}
