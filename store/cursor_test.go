package store

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/internal/cachekey"
)

// drawCursor draws a cursor of any kind.
func drawCursor(t *rapid.T) Cursor {
	c := Cursor{List: NewListID(cachekey.New(rapid.String().Draw(t, "list"))), Release: rapid.Int64().Draw(t, "release"),
		Position: rapid.Int().Draw(t, "position"), Epoch: rapid.IntRange(0, 1<<20).Draw(t, "epoch")}
	for range rapid.IntRange(0, 3).Draw(t, "values") {
		if rapid.Bool().Draw(t, "text") {
			c.Key = append(c.Key, rapid.String().Draw(t, "value"))
		} else {
			c.Key = append(c.Key, rapid.Int64().Draw(t, "number"))
		}
	}
	return c
}

func TestCursorsAreReadAsTheyWereSigned(t *testing.T) {
	t.Parallel()
	key, other := NewCursorKey("secret"), NewCursorKey("another secret")
	rapid.Check(t, func(t *rapid.T) {
		c := drawCursor(t)
		text := key.Sign(c)
		again, err := NewCursorKey("secret").Parse(text, c.List, "after") // another server
		require.NoError(t, err)
		require.Equal(t, c, again)
		_, err = key.Parse(text, NewListID(cachekey.New("another list", "of two")), "before")
		require.True(t, HasCode(err, CursorMismatch))
		_, err = other.Parse(text, c.List, "after")
		require.True(t, HasCode(err, Invalid), "of another database")
	})
}

// TestChangedCursorsAreRejected changes each byte of a cursor, cuts it, extends it, and sends other encodings of it.
func TestChangedCursorsAreRejected(t *testing.T) {
	t.Parallel()
	key := NewCursorKey("secret")
	c := Cursor{List: NewListID(cachekey.New("a")), Release: 7, Position: 25, Epoch: 2, Key: []any{"b", int64(12)}}
	text := key.Sign(c)
	raw, err := base64.RawURLEncoding.DecodeString(text)
	require.NoError(t, err)
	changed := []string{"", "x", text[1:], text[:len(text)-4], text + "AAAA", text + "=", " " + text, strings.Repeat("A", 1<<20),
		base64.RawURLEncoding.EncodeToString([]byte(`{"l":"x","r":2}`)), base64.RawURLEncoding.EncodeToString(raw[:len(raw)-signatureBytes])}
	for i := range raw {
		for _, bit := range []byte{1, 0x80} {
			flipped := append([]byte(nil), raw...)
			flipped[i] ^= bit
			changed = append(changed, base64.RawURLEncoding.EncodeToString(flipped))
		}
	}
	for i := range text {
		if text[i] != 'A' {
			changed = append(changed, text[:i]+"A"+text[i+1:])
		}
	}
	for _, other := range changed {
		_, err := key.Parse(other, ListID{}, "after")
		require.True(t, HasCode(err, Invalid), other)
		require.Equal(t, []string{"after"}, AsErrors(err)[0].Path)
	}
	_, err = key.Parse(text, c.List, "after")
	require.NoError(t, err)
}

// TestSignaturesAreHMAC compares with package hmac.
func TestSignaturesAreHMAC(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		secret, c := rapid.String().Draw(t, "secret"), drawCursor(t)
		raw, err := base64.RawURLEncoding.DecodeString(NewCursorKey(secret).Sign(c))
		require.NoError(t, err)
		want := hmac.New(sha256.New, []byte(secret))
		want.Write(raw[:len(raw)-signatureBytes])
		require.Equal(t, want.Sum(nil)[:signatureBytes], raw[len(raw)-signatureBytes:])
	})
}

func BenchmarkSignCursor(b *testing.B) {
	key, c := NewCursorKey("secret"), Cursor{List: NewListID(cachekey.New("a")), Release: 7, Position: 25}
	b.ReportAllocs()
	for b.Loop() {
		_ = key.Sign(c)
	}
}
