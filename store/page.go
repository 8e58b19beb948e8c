package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

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
		if b.Offset < 0 || b.Offset > MaxOffset {
			return b, PageFault("offset", strconv.Itoa(b.Offset))
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
		return PageFault(member, strconv.Itoa(limit))
	}
	return nil
}

// PageFault is UNPROCESSABLE for a number, in digits as it was sent, that is out
// of the bounds of a Page's member: "first", "last" or "offset".
func PageFault(member, digits string) error {
	switch {
	case member != "offset":
		return Unprocessablef([]string{member}, "must be between %d and %d, not %s", MinPageLength, MaxPageLength, digits)
	case strings.HasPrefix(digits, "-"):
		return Unprocessablef([]string{member}, "must be between 0 and %d, not %s", MaxOffset, digits)
	}
	return Unprocessablef([]string{member},
		"must be between 0 and %d, not %s; to read further, page by key: follow the next link or cursor of each page, which works to the end of the list", MaxOffset, digits)
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

// Cursor is a place in a list. It names the list it was made for, so that a
// cursor brought to another list, sort or filter is told apart from one that
// merely points past the end.
type Cursor struct {
	List     string `json:"l"`           // ListName of list, sort and filter
	Release  int64  `json:"r,omitempty"` // the release it points into; 0 for live lists
	Position int    `json:"p,omitempty"` // in a release: the row's position
	Epoch    int    `json:"e,omitempty"` // of the prices that a release's list is sorted by
	Key      []any  `json:"k,omitempty"` // in a live list: the row's sort key, ending in its id
}

// ListName is a short digest of what makes a list the same list.
func ListName(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return base64.RawURLEncoding.EncodeToString(sum[:6])
}

func (c Cursor) String() string {
	if c.Key == nil {
		return base64.RawURLEncoding.EncodeToString(c.appendPosition(make([]byte, 0, 64)))
	}
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // strings and integers always marshal
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// appendPosition appends the JSON of a cursor without a key, as json.Marshal
// would: each row of a page has one.
func (c Cursor) appendPosition(dst []byte) []byte {
	dst = append(append(append(dst, `{"l":"`...), c.List...), '"') // of a digest's letters
	for _, member := range [...]struct {
		name  string
		value int64
	}{{`,"r":`, c.Release}, {`,"p":`, int64(c.Position)}, {`,"e":`, int64(c.Epoch)}} {
		if member.value != 0 {
			dst = strconv.AppendInt(append(dst, member.name...), member.value, 10)
		}
	}
	return append(dst, '}')
}

// ParseCursor reads a cursor of the list with that name: INVALID when it is
// no cursor, CURSOR_MISMATCH when it is another list's. An empty name takes
// the cursor of any list. member is "after" or "before".
func ParseCursor(text, list, member string) (Cursor, error) {
	var c Cursor
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		raw, _ = ExactMembers(raw, reflect.TypeFor[Cursor]())
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		err = decoder.Decode(&c)
	}
	if err != nil || c.List == "" || c.Position < 0 || c.Position > maxPosition {
		return Cursor{}, Invalidf([]string{member}, "is not a cursor of this service; take it from pageInfo or from a page's links, unchanged")
	}
	if list != "" && c.List != list {
		return Cursor{}, MismatchedCursor(member)
	}
	return c, nil
}

// MismatchedCursor is CURSOR_MISMATCH of "after" or "before".
func MismatchedCursor(member string) error {
	return &Error{Code: CursorMismatch, Path: []string{member},
		Detail: "belongs to another list, sort or filter; start again without it, or repeat the request it came from"}
}

// maxPosition is far beyond any list.
const maxPosition = 1 << 40

// Unique keeps the first of each value.
func Unique[T comparable](values []T) []T {
	seen := make(map[T]bool, len(values))
	return slices.DeleteFunc(slices.Clone(values), func(v T) bool {
		before := seen[v]
		seen[v] = true
		return before
	})
}

// Chunked calls do with at most size values at a time.
func Chunked[T any](values []T, size int, do func([]T) error) error {
	for len(values) > 0 {
		n := min(size, len(values))
		if err := do(values[:n]); err != nil {
			return err
		}
		values = values[n:]
	}
	return nil
}

// InBlocks calls do with blocks of a few sizes, the largest of most values, so
// that few texts are prepared.
func InBlocks[T any](values []T, most int, do func([]T) error) error {
	for _, size := range []int{most, 32, 4, 1} {
		for len(values) >= size {
			if err := do(values[:size]); err != nil {
				return err
			}
			values = values[size:]
		}
	}
	return nil
}
