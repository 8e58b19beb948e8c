package store

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash"
	"math"
	"sync"

	"portico/internal/cachekey"
)

// Cursor is a position in a list. It names its list, so that a cursor of another list,
// sort or filter is detected. Clients get it as text that a CursorKey signs.
type Cursor struct {
	List     ListID
	Release  int64 // release of the list; 0 for lists of the database
	Position int   // row number in the release; 0 for lists of the database
	Epoch    int   // version of the prices that the list is sorted by
	Key      []any // sort key of the row, its id last; for lists of the database. Strings and int64
}

// ListID is a digest of what identifies a list.
type ListID [cachekey.DigestBytes]byte

// NewListID returns the digest of what identifies a list.
func NewListID(parts ...cachekey.Key) ListID { return cachekey.Join(parts...).Digest() }

// CursorKey signs the cursors that clients send back, so that they name only lists, releases and positions that the
// shop told them. All servers of a database share its secret. A CursorKey is safe for concurrent use.
type CursorKey struct{ signers sync.Pool }

// NewCursorKey returns the key of a secret.
func NewCursorKey(secret string) *CursorKey {
	k := &CursorKey{}
	k.signers.New = func() any { return &signer{mac: hmac.New(sha256.New, []byte(secret))} }
	return k
}

// signer signs one cursor at a time. Its hash keeps the state with the secret, which is half of the work.
type signer struct {
	mac        hash.Hash
	body, text []byte // buffers
}

const (
	signatureBytes = 16

	// maxCursorBytes is longer than the text of any cursor.
	maxCursorBytes = 8 << 10
)

// sign appends the signature of body to it.
func (s *signer) sign() {
	s.mac.Reset()
	s.mac.Write(s.body)
	end := len(s.body) + signatureBytes
	s.body = s.mac.Sum(s.body)[:end]
}

// Sign returns the text of a cursor.
func (k *CursorKey) Sign(c Cursor) string {
	s := k.signers.Get().(*signer)
	defer k.signers.Put(s)
	s.body = c.append(s.body[:0])
	s.sign()
	s.text = base64.RawURLEncoding.AppendEncode(s.text[:0], s.body)
	return string(s.text)
}

// Parse parses the text of a cursor of a list: INVALID if Sign did not return it,
// CURSOR_MISMATCH if it belongs to another list. The zero ListID accepts any. member is
// "after" or "before".
func (k *CursorKey) Parse(text string, list ListID, member string) (c Cursor, err error) {
	if c, err = k.parse(text); err != nil {
		return Cursor{}, Invalidf([]string{member}, "is not a cursor of this shop, or was changed; use one from a page, unchanged, or start without a cursor")
	}
	if list != (ListID{}) && c.List != list {
		return Cursor{}, MismatchedCursor(member)
	}
	return c, nil
}

// errCursor is returned for a text that is no cursor.
var errCursor = errors.New("not a cursor")

func (k *CursorKey) parse(text string) (c Cursor, err error) {
	if len(text) > maxCursorBytes {
		return c, errCursor
	}
	s := k.signers.Get().(*signer)
	defer k.signers.Put(s)
	if s.text, err = base64.RawURLEncoding.Strict().AppendDecode(s.text[:0], []byte(text)); err != nil {
		return c, err
	}
	n := len(s.text) - signatureBytes
	if n < 0 {
		return c, errCursor
	}
	s.body = append(s.body[:0], s.text[:n]...)
	if s.sign(); !hmac.Equal(s.body[n:], s.text[n:]) {
		return c, errCursor
	}
	return c, c.read(s.text[:n])
}

// The kinds of values of a sort key.
const (
	keyText   = 's'
	keyNumber = 'i'
)

// append appends the cursor in the form that read reads.
func (c Cursor) append(dst []byte) []byte {
	dst = append(dst, c.List[:]...)
	dst = binary.AppendVarint(dst, c.Release)
	dst = binary.AppendVarint(dst, int64(c.Position))
	dst = binary.AppendVarint(dst, int64(c.Epoch))
	for _, value := range c.Key {
		switch value := value.(type) {
		case string:
			dst = append(binary.AppendUvarint(append(dst, keyText), uint64(len(value))), value...)
		case int64:
			dst = binary.AppendVarint(append(dst, keyNumber), value)
		case int:
			dst = binary.AppendVarint(append(dst, keyNumber), int64(value))
		default:
			panic("store: the sort key of a cursor has a value that is neither text nor a number")
		}
	}
	return dst
}

// read reads what append wrote.
func (c *Cursor) read(body []byte) error {
	body = body[copy(c.List[:], body):]
	number := func() int64 {
		n, width := binary.Varint(body)
		if width <= 0 {
			body = nil
			return math.MinInt64 // no cursor has it
		}
		body = body[width:]
		return n
	}
	c.Release, c.Position, c.Epoch = number(), int(number()), int(number())
	if c.Epoch == math.MinInt64 {
		return errCursor
	}
	for len(body) > 0 {
		kind := body[0]
		body = body[1:]
		if kind == keyNumber {
			c.Key = append(c.Key, number())
			continue
		}
		length, width := binary.Uvarint(body)
		if kind != keyText || width <= 0 || length > uint64(len(body)-width) {
			return errCursor
		}
		end := width + int(length)
		c.Key, body = append(c.Key, string(body[width:end])), body[end:]
	}
	return nil
}

// MismatchedCursor returns CURSOR_MISMATCH for "after" or "before".
func MismatchedCursor(member string) error {
	return &Error{Code: CursorMismatch, Path: []string{member},
		Detail: "belongs to another list, sort or filter; repeat the request that it came from, or start without a cursor"}
}

// ExpiredCursor returns CURSOR_EXPIRED for "after" or "before". detail says why, and what to do.
func ExpiredCursor(member, detail string) error {
	return &Error{Code: CursorExpired, Path: []string{member}, Detail: detail}
}
