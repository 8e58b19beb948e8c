package code

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNewCodeIsRandom(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 10_000 {
		code := newCode()
		require.Regexp(t, `^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$`, code)
		require.False(t, seen[code])
		seen[code] = true
	}
}
