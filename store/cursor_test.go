package store

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/internal/cachekey"
)

// TestCursorEncodingMatchesJSON compares String with json.Marshal.
func TestCursorEncodingMatchesJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := Cursor{List: ListName(cachekey.New(rapid.String().Draw(t, "list"))), Release: rapid.Int64().Draw(t, "release"),
			Position: rapid.IntRange(0, maxPosition).Draw(t, "position"), Epoch: rapid.Int().Draw(t, "epoch")}
		if rapid.Bool().Draw(t, "keyed") {
			c.Key = []any{rapid.String().Draw(t, "key")}
		}
		text, err := json.Marshal(c)
		require.NoError(t, err)
		require.Equal(t, base64.RawURLEncoding.EncodeToString(text), c.String())
	})
}
