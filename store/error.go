package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Code is the closed set of ways an operation can fail. Each surface maps
// every code through one table of its own (DESIGN: Errors).
type Code string

// The codes, with the HTTP status REST gives each.
const (
	Invalid         Code = "INVALID"         // 400: malformed
	Unauthenticated Code = "UNAUTHENTICATED" // 401: no token, or not a good one
	Forbidden       Code = "FORBIDDEN"       // 403: a good token without the scope
	NotFound        Code = "NOT_FOUND"       // 404: unknown, or nothing published
	Conflict        Code = "CONFLICT"        // 409: a write raced
	CursorMismatch  Code = "CURSOR_MISMATCH" // 400: a cursor of another list, sort or filter
	CursorExpired   Code = "CURSOR_EXPIRED"  // 410: a cursor into a release that is gone
	Unprocessable   Code = "UNPROCESSABLE"   // 422: well formed, against a rule
	RateLimited     Code = "RATE_LIMITED"    // 429
	Unavailable     Code = "UNAVAILABLE"     // 503: shutting down, database away
	Internal        Code = "INTERNAL"        // 500: anything else
)

// Codes lists every code, in the order above.
func Codes() []Code {
	return []Code{Invalid, Unauthenticated, Forbidden, NotFound, Conflict, CursorMismatch, CursorExpired,
		Unprocessable, RateLimited, Unavailable, Internal}
}

// Error is a failure in the caller's terms. Nothing internal (SQL, paths,
// secrets) is ever in it.
//
// Path names the member at fault, outermost first, in snake case, as resource
// files and REST have it ("first", "changes", "0", "expected_available");
// graph/model spells it for GraphQL. It is empty when no one member is at
// fault. Detail goes on where the member's name stops ("must be between 1 and
// 100, not 101"), and names no other member, for only paths are spelled;
// without a path it is a whole sentence.
type Error struct {
	Code   Code
	Title  string // a short summary; empty means the surface's own for the code
	Detail string
	Path   []string

	// Documented is set where the contract or its clients give the detail word
	// for word: it is shown as it stands, whatever the path is.
	Documented bool

	// Reason tells apart failures of one code that are mended in different
	// ways; empty where the code says all.
	Reason Reason
}

// Reason is the closed set of what a code is told apart by.
type Reason string

// The reasons, all of them UNPROCESSABLE.
const (
	DuplicateCode   Reason = "DUPLICATE_CODE"    // a promotion that has not ended holds the code
	CodesNotAllowed Reason = "CODES_NOT_ALLOWED" // the promotion takes no codes
)

// Error is the member and the detail in one sentence.
func (e *Error) Error() string { return e.Sentence(strings.Join(e.Path, ".")) }

// Sentence is the detail as a sentence, with the member spelled as given.
func (e *Error) Sentence(member string) string {
	sentence := e.Detail
	if e.Documented {
		return sentence
	}
	if len(e.Path) > 0 && member != "" {
		sentence = member + " " + sentence
	}
	if !strings.HasSuffix(sentence, ".") {
		sentence += "."
	}
	return sentence
}

// At returns the error with its path put under a longer one.
func (e *Error) At(prefix ...string) *Error {
	moved := *e
	moved.Path = append(append([]string{}, prefix...), e.Path...)
	return &moved
}

// Errors are several failures of one operation; at least one.
type Errors []*Error

func (list Errors) Error() string {
	sentences := make([]string, len(list))
	for i, e := range list {
		sentences[i] = e.Error()
	}
	return strings.Join(sentences, "; ")
}

// maxFaults bounds the faults of a batch that are named.
const maxFaults = 20

// Bounded are at most maxFaults of the failures, and how many more there are.
func (list Errors) Bounded() Errors {
	if len(list) <= maxFaults {
		return list
	}
	more := &Error{Code: list[0].Code, Detail: fmt.Sprintf("%d more faults like these are not named; mend the first %d, and send it again.", len(list)-maxFaults, maxFaults)}
	return append(slices.Clone(list[:maxFaults]), more)
}

// RefusedRows is the error of a batch with these faults, in the order of its
// rows; nil for none.
func RefusedRows(faults Errors) error {
	if len(faults) == 0 {
		return nil
	}
	return faults.byIndex().Bounded()
}

// byIndex sorts failures by the index of the row that each is of, those of no
// row first.
func (list Errors) byIndex() Errors {
	index := func(e *Error) int {
		if len(e.Path) < 2 {
			return -1
		}
		n, _ := strconv.Atoi(e.Path[1]) // which was a number
		return n
	}
	slices.SortStableFunc(list, func(a, b *Error) int { return index(a) - index(b) })
	return list
}

// AsErrors is what err says to a caller: its own *Error or Errors, or one
// error by kind. An unexpected error becomes INTERNAL, whose cause is for the
// log alone.
func AsErrors(err error) Errors {
	var list Errors
	if errors.As(err, &list) {
		return list
	}
	var one *Error
	if errors.As(err, &one) {
		return Errors{one}
	}
	switch {
	case errors.Is(err, ErrClosed):
		return Errors{{Code: Unavailable, Detail: "The service is shutting down; try again in a moment."}}
	case errors.Is(err, ErrLeft):
		return Errors{{Code: Unavailable, Detail: "The database's file was moved away or replaced; the server must be restarted."}}
	case errors.Is(err, ErrReplaced):
		return Errors{{Code: Unavailable, Detail: "The database is being replaced or restored; try again in a moment."}}
	case errors.Is(err, ErrAway):
		return Errors{{Code: Unavailable, Detail: "The database does not answer; try again in a moment."}}
	case errors.Is(err, ErrSlow):
		return Errors{{Code: Unavailable, Detail: "The database took too long; try again in a moment."}}
	case errors.Is(err, ErrHeld):
		return Errors{{Code: Unavailable, Detail: "Another write holds what this one would change; nothing was written, try again in a moment."}}
	case errors.Is(err, ErrReadOnly), errors.Is(err, ErrNoSpace):
		return Errors{{Code: Unavailable, Detail: "The database takes no writes at present; what is there can be read. Try again later."}}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return Errors{{Code: Unavailable, Detail: "The request was given up before it was done; try again."}}
	}
	return Errors{{Code: Internal, Detail: "An internal error has occurred."}}
}

// HasCode tells whether err says code to its caller.
func HasCode(err error, code Code) bool {
	return err != nil && AsErrors(err)[0].Code == code
}

// What keeps the database from being asked: AsErrors makes UNAVAILABLE of each.
var (
	ErrClosed   = errors.New("the store is closed")
	ErrAway     = errors.New("the database is away")
	ErrSlow     = errors.New("the database took too long")
	ErrHeld     = errors.New("another transaction holds the rows")
	ErrReadOnly = errors.New("the database takes no writes")
	ErrNoSpace  = errors.New("the database has no room left")
	ErrReplaced = errors.New("the database is being replaced")                 // it may be another one than was read before
	ErrLeft     = errors.New("the database's file was moved away or replaced") // its name is another file's
)

// Invalidf is INVALID of the member at a path, which the detail goes on from.
func Invalidf(path []string, format string, args ...any) *Error {
	return &Error{Code: Invalid, Path: path, Detail: fmt.Sprintf(format, args...)}
}

// Unprocessablef is UNPROCESSABLE of the member at a path.
func Unprocessablef(path []string, format string, args ...any) *Error {
	return &Error{Code: Unprocessable, Path: path, Detail: fmt.Sprintf(format, args...)}
}

// NotFoundf is NOT_FOUND of the member at a path; nil is none.
func NotFoundf(path []string, format string, args ...any) *Error {
	return &Error{Code: NotFound, Path: path, Detail: fmt.Sprintf(format, args...)}
}
