package store

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
)

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
		decoder := json.NewDecoder(strings.NewReader(string(raw)))
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
