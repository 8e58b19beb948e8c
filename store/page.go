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

// bounds is a Page that was checked.
type bounds struct {
	limit    int
	backward bool // from the end of the list, or from before
	after    string
	before   string
	offset   int
}

// check holds a page against the limits: INVALID where its members contradict
// each other, UNPROCESSABLE where one is out of range.
func (p Page) check(pageLength int) (bounds, error) {
	b := bounds{limit: pageLength}
	switch {
	case p.First != nil && p.Last != nil:
		return b, invalid([]string{"last"}, "cannot be combined with first; ask for one of them")
	case p.Offset != nil && (p.After != nil || p.Before != nil || p.Last != nil):
		return b, invalid([]string{"offset"}, "cannot be combined with a cursor or with last; page by one or the other")
	case p.First != nil:
		b.limit = *p.First
		if err := checkLimit("first", b.limit); err != nil {
			return b, err
		}
	case p.Last != nil:
		b.limit, b.backward = *p.Last, true
		if err := checkLimit("last", b.limit); err != nil {
			return b, err
		}
	case p.Before != nil && p.After == nil:
		b.backward = true
	}
	if p.Offset != nil {
		b.offset = *p.Offset
		if b.offset < 0 {
			return b, unprocessable([]string{"offset"}, "must be between 0 and %d, not %d", MaxOffset, b.offset)
		}
		if b.offset > MaxOffset {
			return b, unprocessable([]string{"offset"},
				"must be between 0 and %d, not %d; to read further, page by key: follow the next link or cursor of each page, which works to the end of the list", MaxOffset, b.offset)
		}
	}
	if p.After != nil {
		b.after = *p.After
	}
	if p.Before != nil {
		b.before = *p.Before
	}
	return b, nil
}

func checkLimit(member string, limit int) error {
	if limit < MinPageLength || limit > MaxPageLength {
		return unprocessable([]string{member}, "must be between %d and %d, not %d", MinPageLength, MaxPageLength, limit)
	}
	return nil
}

// cursors yields the cursors of a page by their member.
func (p Page) cursors(yield func(member string, text *string) bool) {
	if p.After != nil && !yield("after", p.After) {
		return
	}
	if p.Before != nil {
		yield("before", p.Before)
	}
}
