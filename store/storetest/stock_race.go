package storetest

import (
	"sync"
	"testing"

	"portico/store/shop"
)

// writers is how many write at once.
const WriterCount = 32

// together runs write for each of the writers at once, half of them in one
// process and half in another, and returns when all are done.
func RunWriters(t *testing.T, e Backend, write func(s *shop.Store, writer int)) {
	t.Helper()
	stores := []*shop.Store{e.Open(t), e.Open(t)}
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
