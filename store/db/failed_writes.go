package db

import (
	"errors"
	"sync/atomic"
	"time"

	"portico/store"
)

// failedWriteCauses are the reasons for which a database takes no writes.
var failedWriteCauses = [...]struct {
	name string
	err  error
}{{"full", store.ErrDiskFull}, {"read_only", store.ErrReadOnly}, {"connection", store.ErrUnavailable}}

// failedWrites counts the writes that the database did not take, by cause.
type failedWrites struct {
	counts [len(failedWriteCauses)]atomic.Int64
	last   atomic.Pointer[failedWrite] // nil until a write failed
}

type failedWrite struct {
	cause error
	at    time.Time
}

// record counts a write that failed, if its error has one of the causes.
func (f *failedWrites) record(err error) {
	for i, cause := range failedWriteCauses {
		if errors.Is(err, cause.err) {
			f.counts[i].Add(1)
			f.last.Store(&failedWrite{cause.err, time.Now()})
			return
		}
	}
}
