package store

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The rules of ids, as regular expressions.
var (
	anID   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	anUUID = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)
)

func TestIsIDMatchesRegexp(t *testing.T) {
	t.Parallel()
	drawn := rapid.OneOf(
		rapid.StringMatching(`[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}`),
		rapid.StringMatching(`[0-9A-Ga-g]{7,9}(-[0-9A-Fa-f]{4}){3}[-_][0-9A-Fa-f]{12}`),
		rapid.StringMatching(`[0-9A-Fa-f_-]{36}`),
		rapid.StringMatching(`[A-Za-z0-9_-]{62,66}`),
		rapid.StringMatching("[!-~]{0,6}"), rapid.String(),
	)
	rapid.Check(t, func(t *rapid.T) {
		id := drawn.Draw(t, "id")
		require.Equal(t, anID.MatchString(id), IsID(id), "%q", id)
		_, isUUID := scanUUID(id)
		require.Equal(t, anUUID.MatchString(id), isUUID, "%q", id)
	})
}
