package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Code is the closed set of error codes. The table in internal/web/problem has the status
// and the title of each.
type Code string

// The codes, with their HTTP status in REST.
const (
	Invalid         Code = "INVALID"         // 400: malformed
	Unauthenticated Code = "UNAUTHENTICATED" // 401: no token, or an invalid one
	Forbidden       Code = "FORBIDDEN"       // 403: the token lacks the scope
	NotFound        Code = "NOT_FOUND"       // 404: unknown, or nothing published
	Conflict        Code = "CONFLICT"        // 409: a concurrent write won
	CursorMismatch  Code = "CURSOR_MISMATCH" // 400: cursor of another list, sort or filter
	CursorExpired   Code = "CURSOR_EXPIRED"  // 410: cursor into a deleted release
	Unprocessable   Code = "UNPROCESSABLE"   // 422: well formed, but breaks a rule
	RateLimited     Code = "RATE_LIMITED"    // 429
	Unavailable     Code = "UNAVAILABLE"     // 503: shutting down, or the database is unavailable
	Internal        Code = "INTERNAL"        // 500: anything else
)

// Codes lists every code, in the order above.
func Codes() []Code {
	return []Code{Invalid, Unauthenticated, Forbidden, NotFound, Conflict, CursorMismatch, CursorExpired,
		Unprocessable, RateLimited, Unavailable, Internal}
}

// Error is an error for clients. It never contains SQL, paths or secrets.
//
// Path names the wrong member, outermost first, in snake case as in import files and
// REST ("first", "changes", "0", "expected_available"); graph/model converts it for
// GraphQL. Detail continues after the member's name ("must be between 1 and 100, got
// 101") and names no other member, because only paths are converted. Without a path,
// Detail is a whole sentence.
type Error struct {
	Code   Code
	Title  string // short summary; empty means the default of REST or GraphQL for the code
	Detail string
	Path   []string

	// Documented means that clients rely on the exact detail: it is shown unchanged,
	// without the path.
	Documented bool

	// Reason tells apart errors of one code that clients handle differently; usually
	// empty.
	Reason Reason

	// Referrers are the resources that refer to what the error is about.
	Referrers Referrers `json:",omitzero"`
}

// Referrer is a resource that refers to another.
type Referrer struct {
	Kind AuditKind
	ID   string
}

// Reason refines a code.
type Reason string

// The reasons.
const (
	AlreadyExists    Reason = "ALREADY_EXISTS"    // another resource has the id; UNPROCESSABLE, of stock CONFLICT as REST has it
	InUse            Reason = "IN_USE"            // Referrers need the resource
	DuplicateCode    Reason = "DUPLICATE_CODE"    // a promotion that has not ended has the code
	CodesNotAllowed  Reason = "CODES_NOT_ALLOWED" // the promotion has no codes
	UnknownReference Reason = "UNKNOWN_REFERENCE" // the member names another resource, which does not exist
)

// Error returns the member and the detail as one sentence.
func (e *Error) Error() string { return e.Sentence(strings.Join(e.Path, ".")) }

// Sentence returns the detail as a sentence that begins with member.
func (e *Error) Sentence(member string) string {
	sentence := e.Detail
	if e.Documented {
		return sentence
	}
	if len(e.Path) > 0 && member != "" {
		sentence = member + " " + sentence
	}
	if !strings.HasSuffix(sentence, ".") && !strings.HasSuffix(sentence, "?") {
		sentence += "."
	}
	return sentence
}

// At returns a copy with prefix before its path.
func (e *Error) At(prefix ...string) *Error {
	moved := *e
	moved.Path = append(append([]string{}, prefix...), e.Path...)
	return &moved
}

// Errors are the errors of one operation; never empty.
type Errors []*Error

// Unwrap returns each error.
func (list Errors) Unwrap() []error {
	errs := make([]error, len(list))
	for i, e := range list {
		errs[i] = e
	}
	return errs
}

func (list Errors) Error() string {
	sentences := make([]string, len(list))
	for i, e := range list {
		sentences[i] = e.Error()
	}
	return strings.Join(sentences, "; ")
}

// maxListedErrors bounds the listed errors of a batch.
const maxListedErrors = 20

// Truncated returns at most maxListedErrors errors, and one that counts the others.
func (list Errors) Truncated() Errors {
	if len(list) <= maxListedErrors {
		return list
	}
	more := &Error{Code: list[0].Code, Detail: fmt.Sprintf("%d more errors are not listed. Fix the first %d, then send the request again.", len(list)-maxListedErrors, maxListedErrors)}
	return append(slices.Clone(list[:maxListedErrors]), more)
}

// BatchError returns the errors of a batch in the order of its rows; nil for none.
func BatchError(faults Errors) error {
	if len(faults) == 0 {
		return nil
	}
	return faults.ByIndex().Truncated()
}

// ByIndex sorts by the index of the row, the second part of the path; errors without a row come first.
func (list Errors) ByIndex() Errors {
	index := func(e *Error) int {
		if len(e.Path) < 2 {
			return -1
		}
		n, _ := strconv.Atoi(e.Path[1]) // always a number
		return n
	}
	slices.SortStableFunc(list, func(a, b *Error) int { return index(a) - index(b) })
	return list
}

// AsErrors converts err for clients: an *Error or Errors as they are, known errors by
// kind, and any other to INTERNAL, whose cause only the log shows.
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
		return Errors{{Code: Unavailable, Detail: "The server is shutting down. Retry in a moment."}}
	case errors.Is(err, ErrFileReplaced):
		return Errors{{Code: Unavailable, Detail: "The database file was moved, replaced or overwritten. The server must be restarted."}}
	case errors.Is(err, ErrReplaced):
		return Errors{{Code: Unavailable, Detail: "The database is being replaced or restored. Retry in a moment."}}
	case errors.Is(err, ErrUnavailable):
		return Errors{{Code: Unavailable, Detail: "The database is not responding. Retry in a moment."}}
	case errors.Is(err, ErrTimeout):
		return Errors{{Code: Unavailable, Detail: "The database took too long to respond. Retry in a moment."}}
	case errors.Is(err, ErrLockTimeout):
		return Errors{{Code: Unavailable, Detail: "Another write has locked the same rows. Nothing was written. Retry in a moment."}}
	case errors.Is(err, ErrReadOnly), errors.Is(err, ErrDiskFull):
		return Errors{{Code: Unavailable, Detail: "The database is read-only at the moment: reads work, writes fail. Retry later."}}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return Errors{{Code: Unavailable, Detail: "The request was cancelled or timed out. Retry it."}}
	}
	return Errors{{Code: Internal, Detail: "An internal error has occurred."}}
}

// HasCode reports whether clients see code as the first error of err.
func HasCode(err error, code Code) bool {
	return err != nil && AsErrors(err)[0].Code == code
}

// Errors of the database. AsErrors converts each to UNAVAILABLE.
var (
	ErrClosed       = errors.New("the store is closed")
	ErrUnavailable  = errors.New("the database is not responding")
	ErrTimeout      = errors.New("the database took too long")
	ErrLockTimeout  = errors.New("another transaction has locked the rows")
	ErrReadOnly     = errors.New("the database is read-only")
	ErrDiskFull     = errors.New("the database's disk is full")
	ErrReplaced     = errors.New("the database is being replaced") // it may be a different one than before
	ErrFileReplaced = errors.New("the database file was moved, replaced or overwritten")
)

// Invalidf returns INVALID for the member at path.
func Invalidf(path []string, format string, args ...any) *Error {
	return &Error{Code: Invalid, Path: path, Detail: fmt.Sprintf(format, args...)}
}

// Unprocessablef returns UNPROCESSABLE for the member at path.
func Unprocessablef(path []string, format string, args ...any) *Error {
	return &Error{Code: Unprocessable, Path: path, Detail: fmt.Sprintf(format, args...)}
}

// UnknownReferencef returns UNPROCESSABLE for the member at path, which names another resource that does not exist. What an
// operation itself is about is NOT_FOUND.
func UnknownReferencef(path []string, format string, args ...any) *Error {
	e := Unprocessablef(path, format, args...)
	e.Reason = UnknownReference
	return e
}

// AlreadyExistsf returns UNPROCESSABLE for the member at path, whose id another resource has.
func AlreadyExistsf(path []string, format string, args ...any) *Error {
	e := Unprocessablef(path, format, args...)
	e.Reason = AlreadyExists
	return e
}

// NotFoundf returns NOT_FOUND for the member at path, which may be nil.
func NotFoundf(path []string, format string, args ...any) *Error {
	return &Error{Code: NotFound, Path: path, Detail: fmt.Sprintf(format, args...)}
}

// MaxReferrers limits the resources that an error has.
const MaxReferrers = 10

// Referrers counts the resources that refer to another, and has the first MaxReferrers. An error is about at least one.
type Referrers struct {
	Count int
	First []Referrer
}

// Add counts a resource.
func (r *Referrers) Add(kind AuditKind, id string) {
	if r.Count++; len(r.First) < MaxReferrers {
		r.First = append(r.First, Referrer{kind, id})
	}
}

// AddAll counts others, which come after those of r.
func (r *Referrers) AddAll(others Referrers) {
	r.Count += others.Count
	r.First = append(r.First, others.First[:min(len(others.First), MaxReferrers-len(r.First))]...)
}

// String is: the node "mugs" and 2 more.
func (r *Referrers) String() string {
	first := "the " + r.First[0].Kind.Noun() + " " + strconv.Quote(r.First[0].ID)
	if r.Count > 1 {
		return first + " and " + strconv.Itoa(r.Count-1) + " more"
	}
	return first
}

// InUse returns UNPROCESSABLE for the member at path, which names what the resources refer to. format takes String.
func (r *Referrers) InUse(path []string, format string) *Error {
	e := Unprocessablef(path, format, r.String())
	e.Reason, e.Referrers = InUse, *r
	return e
}
