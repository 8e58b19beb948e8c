package limits

import (
	"fmt"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/store"
)

// limitCheck compares a count of a document or request with its limit. message is a format with one %d
// for the count, hint says how to stay below the limit.
type limitCheck struct {
	message    string
	count, max int
	hint       string
}

// describe returns the message of an exceeded limit, with something as its subject.
func (l limitCheck) describe(something string) string {
	return fmt.Sprintf("%s %s; at most %d are allowed: %s.", something, fmt.Sprintf(l.message, l.count), l.max, l.hint)
}

// check returns an error if the count exceeds the limit.
func (l limitCheck) check() *gqlerror.Error {
	if l.count <= l.max {
		return nil
	}
	return &gqlerror.Error{Message: l.describe("The document"), Extensions: map[string]any{"code": store.Unprocessable}}
}

// checkAll returns the error of the first exceeded limit.
func checkAll(checks ...limitCheck) *gqlerror.Error {
	for _, l := range checks {
		if err := l.check(); err != nil {
			return err
		}
	}
	return nil
}

// CheckText checks the source of a document before it is parsed: its length and the escapes of its strings.
func CheckText(query string, config Config) *gqlerror.Error {
	if err := (limitCheck{"is %d bytes long", len(query), config.Bytes, "send values as variables"}).check(); err != nil {
		return err
	}
	return checkEscapes(query)
}

// TooManyTokens is the error for a document that the parser stopped reading at its token limit. How many more it has is unknown:
// the count is the first that exceeds the limit.
func TooManyTokens(config Config) *gqlerror.Error {
	return limitCheck{"has %d tokens or more", config.Tokens + 1, config.Tokens, "send several operations, and values as variables"}.check()
}

// ResponseTooLarge is the error for a response of more than limit bytes.
func ResponseTooLarge(limit int) *store.Error {
	return &store.Error{Code: store.Unprocessable, Detail: fmt.Sprintf(
		"The response is larger than %d bytes, which the server allows; request fewer rows or fields at a time.", limit)}
}
