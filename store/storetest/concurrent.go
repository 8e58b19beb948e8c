package storetest

import (
	"context"
	"sync"
	"testing"

	"portico/store/shop"
)

// WriterCount is the number of concurrent writers in RunWriters.
const WriterCount = 32

// RunWriters calls write once for each writer, all at once, half of them on one store and half
// on another. It returns when all are done.
func RunWriters(t *testing.T, backend Backend, write func(s *shop.Store, writer int)) {
	t.Helper()
	stores := []*shop.Store{backend.Open(t), backend.Open(t)}
	var group sync.WaitGroup
	begin := make(chan struct{})
	for writer := range WriterCount {
		group.Go(func() {
			<-begin
			write(stores[writer%2], writer)
		})
	}
	close(begin)
	group.Wait()
}

// ObservedContext sends on Checked when somebody calls Err, unless nobody receives and its buffer is full.
type ObservedContext struct {
	context.Context
	Checked chan struct{}
}

// Err implements context.Context.
func (c *ObservedContext) Err() error {
	err := c.Context.Err()
	select {
	case c.Checked <- struct{}{}:
	default:
	}
	return err
}
