package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/graph/document"
	"portico/graph/limits"
	"portico/graph/model"
	"portico/graph/opctx"
	"portico/graph/plan"
	"portico/store"
)

// errorPresenter returns the function that makes each error of a field the client's. It counts the error, and returns nil if the
// response has too many. An error of the library keeps its message, with its code or else INVALID. Any other gets message and
// code of the first store.Error, and extensions.argument if it is about an input. The message of an opctx.Refusal begins with the field. Internal errors are logged, and their cause is
// hidden from the client.
func errorPresenter(log *slog.Logger) graphql.ErrorPresenterFunc {
	return func(ctx context.Context, err error) *gqlerror.Error {
		if tooManyErrors(ctx) {
			return nil
		}
		shown := graphql.DefaultErrorPresenter(ctx, err)
		var library *gqlerror.Error
		if errors.As(err, &library) && library.Unwrap() == nil { // about the request; else it wraps an error of a resolver
			shown.Message = shorten(shown.Message)
			if _, ok := library.Extensions["code"].(store.Code); !ok {
				shown.Extensions = map[string]any{"code": store.Invalid}
			}
			return shown
		}
		first := store.AsErrors(err)[0]
		if first.Code == store.Internal {
			var panicked *panicError
			if errors.As(err, &panicked) {
				err = panicked
			}
			log.ErrorContext(ctx, "a resolver failed", "error", err, "path", shown.Path.String())
		}
		message := model.Message(first)
		var refused *opctx.Refusal
		if field := graphql.GetFieldContext(ctx); field != nil && errors.As(err, &refused) {
			message = limits.FieldAsSent(field.Field.Field) + ": " + message
		}
		shown.Message = shorten(message)
		shown.Extensions = map[string]any{"code": first.Code}
		if len(first.Path) > 0 {
			shown.Extensions["argument"] = model.ArgumentPath(first.Path)
		} else if argument := argumentIn(ctx, shown); argument != nil && first.Code != store.Internal {
			document.NameArgument(shown, first.Code, argument)
		}
		return shown
	}
}

// argumentIn returns the argument path of a field's error: the part of the error's path below the field, which the library appends
// for an argument that does not decode. It sets the error's path and location to those of the field. It returns nil for other errors.
func argumentIn(ctx context.Context, err *gqlerror.Error) (argument []string) {
	field := graphql.GetFieldContext(ctx)
	if field == nil {
		return nil
	}
	path := field.Path()
	if len(err.Path) <= len(path) || !slices.Equal(err.Path[:len(path)], path) {
		return nil
	}
	for _, step := range err.Path[len(path):] {
		argument = append(argument, fmt.Sprint(step))
	}
	err.Path = path
	if position := field.Field.Position; position != nil {
		err.Locations = []gqlerror.Location{{Line: position.Line, Column: position.Column}}
	}
	return argument
}

const (
	maxErrorBytes = 32 << 10 // of all errors of a response as JSON
	maxMessage    = 1000     // bytes
	moreErrors    = "There are more errors. Fix these first."
)

// limitErrors shortens the errors of a response to limits.MaxErrors and 32 KiB. If it leaves out some,
// the last error says so.
func limitErrors(errs gqlerror.List) gqlerror.List {
	written := 0
	for i, err := range errs {
		err.Message = shorten(err.Message)
		text, _ := json.Marshal(err)
		written += len(text)
		if written > maxErrorBytes-len(moreErrors)-100 /* room for the last error */ || i == limits.MaxErrors-1 && len(errs) > limits.MaxErrors {
			code := err.Extensions["code"]
			return append(errs[:i:i], &gqlerror.Error{Message: moreErrors, Extensions: map[string]any{"code": code}})
		}
	}
	return errs
}

// tooManyErrors counts an error of the operation. It reports whether the response has too many.
func tooManyErrors(ctx context.Context) bool {
	op := opctx.From(ctx)
	return op != nil && op.CountError() > limits.MaxErrors+1 // one more shows that errors are left out
}

// shorten cuts a message to maxMessage bytes, between characters.
func shorten(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	cut := maxMessage
	for !utf8.RuneStart(message[cut]) {
		cut--
	}
	return strings.Clone(message[:cut]) + "…"
}

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
