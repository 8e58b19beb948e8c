package job

import (
	"context"
	"errors"
	"time"
)

// underLease does work, and renews its lease by beat meanwhile. Where beat finds
// that the lease is lost, or that the work is to end, the work's context ends;
// why tells which of both it was, and is nil otherwise. A beat that fails for
// another reason is made again. Work does not panic (db.Guard).
func underLease(ctx context.Context, beat, work func(context.Context) error) (why, err error) {
	running, end := context.WithCancelCause(ctx)
	defer end(nil)
	beats := make(chan struct{})
	go func() {
		defer close(beats)
		ticker := time.NewTicker(jobBeat)
		defer ticker.Stop()
		for {
			select {
			case <-running.Done():
				return
			case <-ticker.C:
			}
			if err := beat(running); endsWork(err) {
				end(err)
				return
			}
		}
	}()
	err = work(running)
	if cause := context.Cause(running); endsWork(cause) {
		why = cause
	}
	end(nil)
	<-beats
	return why, err
}

func endsWork(err error) bool { return errors.Is(err, errCanceled) || errors.Is(err, errTakenOver) }
