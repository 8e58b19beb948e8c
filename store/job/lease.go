package job

import (
	"context"
	"errors"
	"time"
)

// runLeased runs work and renews its lease with beat. If beat finds that the lease is lost
// or the work canceled, the context of work ends and why is that error, else nil. Other
// errors of beat are ignored until the next one. work must not panic (db.RecoverPanic).
func runLeased(ctx context.Context, beat, work func(context.Context) error) (why, err error) {
	running, end := context.WithCancelCause(ctx)
	defer end(nil)
	beats := make(chan struct{})
	go func() {
		defer close(beats)
		ticker := time.NewTicker(heartbeatEvery)
		defer ticker.Stop()
		for {
			select {
			case <-running.Done():
				return
			case <-ticker.C:
			}
			if err := beat(running); endsLease(err) {
				end(err)
				return
			}
		}
	}()
	err = work(running)
	if cause := context.Cause(running); endsLease(cause) {
		why = cause
	}
	end(nil)
	<-beats
	return why, err
}

func endsLease(err error) bool { return errors.Is(err, errCanceled) || errors.Is(err, errLeaseLost) }

// A worker holds a job by a lease, which it renews. Leases use the database's clock, so that
// wrong server clocks do not matter.
const (
	heartbeatEvery = time.Second      // interval of lease renewals
	leaseExpiry    = 10 * time.Second // age at which a lease expires
	maxTurn        = 10 * time.Second // longest run while other jobs wait
)

// Reasons why a job ends early.
var (
	errCanceled  = errors.New("the job was canceled")
	errLeaseLost = errors.New("another worker has taken the job over")
	errYield     = errors.New("other jobs wait for a worker")
)
