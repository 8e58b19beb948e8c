package db

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
)

func TestNewPattern(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]Pattern{
		"":         {"", false, false},
		"*":        {"", true, false},
		"**":       {"", true, true},
		"fd":       {"fd", false, false},
		"*fd":      {"fd", true, false},
		"fd*":      {"fd", false, true},
		"*fd*":     {"fd", true, true},
		" a b ":    {" a b ", false, false},
		`\*`:       {"*", false, false},
		`\**`:      {"*", false, true},
		`*\*`:      {"*", true, false},
		`*50\*\\*`: {`50*\`, true, true},
		`a\b`:      {`a\b`, false, false},
		`\`:        {`\`, false, false},
	} {
		got, err := NewPattern("name", written)
		require.NoError(t, err, written)
		require.Equal(t, want, got, written)
	}
	for _, written := range []string{"a*b", "***", "*a*b*", "a**", "a\x00", "\xff*"} {
		_, err := NewPattern("name", written)
		require.True(t, store.HasCode(err, store.Invalid), "%q: %v", written, err)
	}
	_, err := NewPattern("name", "*a*b")
	require.ErrorContains(t, err, `"*a*b"`, "the pattern as it was sent")
}
