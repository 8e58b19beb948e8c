package store

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strconv"

	"portico/internal/cachekey"
)

// Cursor is a position in a list. It names its list, so that a cursor of another list,
// sort or filter is detected.
type Cursor struct {
	List     string `json:"l"`           // ListName of list, sort and filter
	Release  int64  `json:"r,omitempty"` // release of the list; 0 for lists of the database
	Position int    `json:"p,omitempty"` // row number in the release
	Epoch    int    `json:"e,omitempty"` // version of the prices that the list is sorted by
	Key      []any  `json:"k,omitempty"` // sort key of the row, its id last; for lists of the database
}

// ListName is a short digest of what identifies a list.
func ListName(parts ...cachekey.Key) string {
	digest := cachekey.Join(parts...).Digest()
	return base64.RawURLEncoding.EncodeToString(digest[:])
}

func (c Cursor) String() string {
	if c.Key == nil {
		return base64.RawURLEncoding.EncodeToString(c.appendPosition(make([]byte, 0, 64)))
	}
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // cannot happen with strings and integers
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// appendPosition appends the same JSON as json.Marshal for a cursor without a key, but
// faster: every row of a page has one.
func (c Cursor) appendPosition(dst []byte) []byte {
	dst = append(append(append(dst, `{"l":"`...), c.List...), '"') // base64 needs no escapes
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

// ParseCursor parses a cursor of the list called list: INVALID if it is malformed,
// CURSOR_MISMATCH if it belongs to another list. An empty list accepts any. member is
// "after" or "before".
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
		return Cursor{}, Invalidf([]string{member}, "is not a cursor; use one from pageInfo or from a page's links, unchanged")
	}
	if list != "" && c.List != list {
		return Cursor{}, MismatchedCursor(member)
	}
	return c, nil
}

// MismatchedCursor returns CURSOR_MISMATCH for "after" or "before".
func MismatchedCursor(member string) error {
	return &Error{Code: CursorMismatch, Path: []string{member},
		Detail: "belongs to another list, sort or filter; repeat the request that it came from, or start without a cursor"}
}

// maxPosition is larger than any list.
const maxPosition = 1 << 40
