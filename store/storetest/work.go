package storetest

import (
	"context"
	"testing"

	"portico/store/shop"
)

// RunWorker runs a store's worker until the test, or stop, ends it.
func RunWorker(t testing.TB, s *shop.Store) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); s.Work(ctx) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}
