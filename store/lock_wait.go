package store

import "context"

// LockWaitListener is notified when a write under its context starts to wait for locked rows,
// which can take seconds. A server then lets other requests use its write slot.
type LockWaitListener interface{ OnLockWait() }

// LockWaitFunc is a function that implements LockWaitListener.
type LockWaitFunc func()

// OnLockWait implements LockWaitListener.
func (f LockWaitFunc) OnLockWait() { f() }

type lockWaitListenerKey struct{}

// LockWaitListenerKey is the context key of the LockWaitListener, exported as AllowanceKey is.
var LockWaitListenerKey any = lockWaitListenerKey{}

// WithLockWaitListener returns a context that notifies w.
func WithLockWaitListener(ctx context.Context, w LockWaitListener) context.Context {
	return context.WithValue(ctx, LockWaitListenerKey, w)
}

// NotifyLockWait notifies the context's LockWaitListener, if any.
func NotifyLockWait(ctx context.Context) {
	if w, _ := ctx.Value(LockWaitListenerKey).(LockWaitListener); w != nil {
		w.OnLockWait()
	}
}
