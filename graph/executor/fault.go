package executor

import (
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/graph/limits"
	"portico/graph/opctx"
)

// The bounds of what an answer says of errors: a list of a thousand rows may
// fail a thousand times, and a message quote what is large.
const (
	maxErrorBytes = 32 << 10 // of all errors as they are written
	maxMessage    = 1000     // bytes of one message
)

const moreErrors = "There are more errors than these; mend them first."

// LimitErrors are the first errors of an answer. Where some are left out, the last
// one says so.
func LimitErrors(faults gqlerror.List) gqlerror.List {
	written := 0
	for i, fault := range faults {
		fault.Message = shorten(fault.Message)
		text, _ := json.Marshal(fault)
		written += len(text)
		if written > maxErrorBytes-len(moreErrors)-100 || i == limits.MaxErrors-1 && len(faults) > limits.MaxErrors {
			code := fault.Extensions["code"]
			return append(faults[:i:i], &gqlerror.Error{Message: moreErrors, Extensions: map[string]any{"code": code}})
		}
	}
	return faults
}

// tooManyErrors counts an error of the operation. It returns true if the response has no place for it.
func tooManyErrors(ctx context.Context) bool {
	op := opctx.From(ctx)
	return op != nil && op.CountError() > limits.MaxErrors+1 // one more shows that there are more
}

// shorten cuts a message that is too long, between characters.
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
