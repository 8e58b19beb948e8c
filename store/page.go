package store

import (
	"context"
	"strconv"
	"strings"
)

// The limits of every list.
const (
	MinPageLength     = 1
	MaxPageLength     = 100
	DefaultPageLength = 25
	MaxOffset         = 10000
)

// Page selects part of a list: First (or Last) rows after (or before) a cursor, or First
// rows at Offset. All members are optional. The default is the shop's page length.
type Page struct {
	First, Last   *int
	After, Before *string
	Offset        *int
}

// Slice is the selected part of a list.
type Slice[T any] struct {
	Items       []T
	Limit       int // rows asked for
	Offset      int // position of the first row; -1 if unknown
	HasNext     bool
	HasPrevious bool

	// Total counts the whole list after filters. It may run a statement, so call it only
	// if the count is shown.
	Total func(context.Context) (int, error)

	// Cursor returns the cursor of an item.
	Cursor func(item int) string
}

// Cursors returns the cursors of all items.
func (s *Slice[T]) Cursors() []string {
	cursors := make([]string, len(s.Items))
	for i := range cursors {
		cursors[i] = s.Cursor(i)
	}
	return cursors
}

// CheckedPage is a checked Page.
type CheckedPage struct {
	Limit    int
	Backward bool // from the end, or before a cursor
	After    string
	Before   string
	Offset   int
}

// Check returns INVALID if members contradict each other, UNPROCESSABLE if one is out of
// range. pageLength is the limit of a page without first and last.
func (p Page) Check(pageLength int) (CheckedPage, error) {
	checked := CheckedPage{Limit: pageLength}
	switch {
	case p.First != nil && p.Last != nil:
		return checked, Invalidf([]string{"last"}, "cannot be combined with first; use one of them")
	case p.Offset != nil && (p.After != nil || p.Before != nil || p.Last != nil):
		return checked, Invalidf([]string{"offset"}, "cannot be combined with a cursor or last; use one of them")
	case p.First != nil:
		checked.Limit = *p.First
		if err := CheckLimit("first", checked.Limit); err != nil {
			return checked, err
		}
	case p.Last != nil:
		checked.Limit, checked.Backward = *p.Last, true
		if err := CheckLimit("last", checked.Limit); err != nil {
			return checked, err
		}
	case p.Before != nil && p.After == nil:
		checked.Backward = true
	}
	if p.Offset != nil {
		checked.Offset = *p.Offset
		if checked.Offset < 0 || checked.Offset > MaxOffset {
			return checked, PageRangeError("offset", strconv.Itoa(checked.Offset))
		}
	}
	if p.After != nil {
		checked.After = *p.After
	}
	if p.Before != nil {
		checked.Before = *p.Before
	}
	return checked, nil
}

// CheckLimit returns UNPROCESSABLE for a number of rows that is out of range; member is
// "first" or "last".
func CheckLimit(member string, limit int) error {
	if limit < MinPageLength || limit > MaxPageLength {
		return PageRangeError(member, strconv.Itoa(limit))
	}
	return nil
}

// PageRangeError returns UNPROCESSABLE for a member that is out of range: "first", "last" or
// "offset". digits is the number as it was sent.
func PageRangeError(member, digits string) error {
	switch {
	case member != "offset":
		return Unprocessablef([]string{member}, "must be between %d and %d, got %s", MinPageLength, MaxPageLength, digits)
	case strings.HasPrefix(digits, "-"):
		return Unprocessablef([]string{member}, "must be between 0 and %d, got %s", MaxOffset, digits)
	}
	return Unprocessablef([]string{member},
		"must be between 0 and %d, got %s; to read further, continue from the cursor of each page", MaxOffset, digits)
}

// Cursors yields the cursors of a page with their member names.
func (p Page) Cursors(yield func(member string, text *string) bool) {
	if p.After != nil && !yield("after", p.After) {
		return
	}
	if p.Before != nil {
		yield("before", p.Before)
	}
}

// Window is a range of positions in an immutable list.
type Window struct {
	Start, End int
}

// Window returns the positions of a page in a list of total rows. after and before are
// positions, or -1.
func (c CheckedPage) Window(total, after, before int) Window {
	low, high := 0, total
	if after >= 0 {
		low = min(after+1, total)
	}
	if before >= 0 {
		high = max(low, min(before, total))
	}
	low = min(low+c.Offset, high)
	w := Window{Start: low, End: high}
	if c.Backward {
		w.Start = max(low, high-c.Limit)
	} else {
		w.End = min(high, low+c.Limit)
	}
	return w
}
