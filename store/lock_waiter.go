package store

import "context"

// LockWaiter learns that a write under its context begins to wait for rows that
// another transaction holds, which can take seconds. So a server gives the
// request's place among writes to others meanwhile.
type LockWaiter interface{ WaitsForLock() }

// LockWaiterFunc is a function as a LockWaiter.
type LockWaiterFunc func()

// WaitsForLock implements LockWaiter.
func (f LockWaiterFunc) WaitsForLock() { f() }

type lockWaiterKey struct{}

// LockWaiterKey is what a context that holds a LockWaiter itself is asked for.
var LockWaiterKey any = lockWaiterKey{}

// WithLockWaiter tells w when a write under the context waits for a lock.
func WithLockWaiter(ctx context.Context, w LockWaiter) context.Context {
	return context.WithValue(ctx, LockWaiterKey, w)
}

// WaitsForLock tells the LockWaiter of a context, if there is one.
func WaitsForLock(ctx context.Context) {
	if w, _ := ctx.Value(LockWaiterKey).(LockWaiter); w != nil {
		w.WaitsForLock()
	}
}
