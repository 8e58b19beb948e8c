package store

import "context"

// The bounds of every list (spec: Limits).
const (
	MinPageLength     = 1
	MaxPageLength     = 100
	DefaultPageLength = 25
	MaxOffset         = 10000
)

// Page asks for a part of a list: First (or Last) rows after (or before) a
// cursor, or First rows at an Offset counted in rows. All are optional;
// without First and Last it is the store's page length.
type Page struct {
	First, Last   *int
	After, Before *string
	Offset        *int
}

// Slice is the part of a list that a Page asked for.
type Slice[T any] struct {
	Items       []T
	Limit       int // rows asked for
	Offset      int // position of the first row, or -1 where paging by key does not know it
	HasNext     bool
	HasPrevious bool

	// Total counts the whole list after filters. It may cost a statement, so
	// it is called only where the count is shown.
	Total func(context.Context) (int, error)

	// Cursor is the cursor of an item, made where it is shown.
	Cursor func(item int) string
}

// Cursors are those of all items.
func (s *Slice[T]) Cursors() []string {
	cursors := make([]string, len(s.Items))
	for i := range cursors {
		cursors[i] = s.Cursor(i)
	}
	return cursors
}

// Bounds is a Page that was checked.
type Bounds struct {
	Limit    int
	Backward bool // from the end of the list, or from before
	After    string
	Before   string
	Offset   int
}

// Check holds a page against the limits: INVALID where its members contradict
// each other, UNPROCESSABLE where one is out of range.
func (p Page) Check(pageLength int) (Bounds, error) {
	b := Bounds{Limit: pageLength}
	switch {
	case p.First != nil && p.Last != nil:
		return b, Invalidf([]string{"last"}, "cannot be combined with first; ask for one of them")
	case p.Offset != nil && (p.After != nil || p.Before != nil || p.Last != nil):
		return b, Invalidf([]string{"offset"}, "cannot be combined with a cursor or with last; page by one or the other")
	case p.First != nil:
		b.Limit = *p.First
		if err := CheckLimit("first", b.Limit); err != nil {
			return b, err
		}
	case p.Last != nil:
		b.Limit, b.Backward = *p.Last, true
		if err := CheckLimit("last", b.Limit); err != nil {
			return b, err
		}
	case p.Before != nil && p.After == nil:
		b.Backward = true
	}
	if p.Offset != nil {
		b.Offset = *p.Offset
		if b.Offset < 0 {
			return b, Unprocessablef([]string{"offset"}, "must be between 0 and %d, not %d", MaxOffset, b.Offset)
		}
		if b.Offset > MaxOffset {
			return b, Unprocessablef([]string{"offset"},
				"must be between 0 and %d, not %d; to read further, page by key: follow the next link or cursor of each page, which works to the end of the list", MaxOffset, b.Offset)
		}
	}
	if p.After != nil {
		b.After = *p.After
	}
	if p.Before != nil {
		b.Before = *p.Before
	}
	return b, nil
}

// CheckLimit is UNPROCESSABLE for a number of rows that no page has; member is
// "first" or "last".
func CheckLimit(member string, limit int) error {
	if limit < MinPageLength || limit > MaxPageLength {
		return Unprocessablef([]string{member}, "must be between %d and %d, not %d", MinPageLength, MaxPageLength, limit)
	}
	return nil
}

// Cursors yields the cursors of a page by their member.
func (p Page) Cursors(yield func(member string, text *string) bool) {
	if p.After != nil && !yield("after", p.After) {
		return
	}
	if p.Before != nil {
		yield("before", p.Before)
	}
}

// Window is the part of an immutable list, by position, that a page asks for.
type Window struct {
	Start, End int
}

// Window works out the positions of a page of a list of total rows. after and
// before are positions, or -1.
func (b Bounds) Window(total, after, before int) Window {
	low, high := 0, total
	if after >= 0 {
		low = min(after+1, total)
	}
	if before >= 0 {
		high = max(low, min(before, total))
	}
	low = min(low+b.Offset, high)
	w := Window{Start: low, End: high}
	if b.Backward {
		w.Start = max(low, high-b.Limit)
	} else {
		w.End = min(high, low+b.Limit)
	}
	return w
}
