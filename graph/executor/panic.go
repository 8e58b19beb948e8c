package executor

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"portico/graph/plan"
	"portico/store"
)

// panicError is the error of a panic. Clients see its Error, logs its value and stack.
type panicError struct {
	reason any
	stack  []byte
}

func (*panicError) Error() string { return "An internal error has occurred." }

// LogValue implements slog.LogValuer.
func (e *panicError) LogValue() slog.Value {
	return slog.StringValue(fmt.Sprintf("panic in a resolver: %v\n%s", e.reason, e.stack))
}

// recovered implements graphql.RecoverFunc. Call it where the panic was recovered: it takes the stack.
func recovered(_ context.Context, reason any) error { return &panicError{reason, debug.Stack()} }

// catch calls run. If run panics, it returns the error for the client: that of a *plan.Stopped, or INTERNAL for any other panic,
// which it logs. All that Execute does for an operation runs within catch, so that a panic ends
// one operation of a connection and nothing of it reaches the client.
func (e *Executor) catch(ctx context.Context, run func()) (err *store.Error) {
	defer func() {
		reason := recover()
		if reason == nil {
			return
		}
		if reason == http.ErrAbortHandler { // closes the connection
			panic(reason)
		}
		if stopped, is := reason.(*plan.Stopped); is {
			err = e.stoppedError(stopped)
			return
		}
		failure := recovered(ctx, reason)
		e.log.ErrorContext(ctx, "an operation failed", "error", failure)
		err = store.AsErrors(failure)[0]
	}()
	run()
	return nil
}
