package cli

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAsk(t *testing.T) {
	t.Parallel()
	for answer, yes := range map[string]bool{"y\n": true, " YES \n": true, "n\n": false, "\n": false, "": false, "yesterday\n": false} {
		require.Equal(t, yes, ask(t.Context(), strings.NewReader(answer), io.Discard, "?"), "%q", answer)
	}
	silent, _ := io.Pipe()
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	require.False(t, ask(interrupted, silent, &out, "Delete them? [y/N] "), "Ctrl+C ends it, though nobody answers")
	require.Equal(t, "Delete them? [y/N] \n", out.String())
}

// TestTimesWithoutZone warns once of a time that people mean in their own zone.
func TestTimesWithoutZone(t *testing.T) {
	t.Parallel()
	for text, warns := range map[string]string{
		"2026-12-01T08:00:00Z": "", "2026-12-01T08:00:00+01:00": "", "2026-12-01T08:00:00.5Z": "",
		"2026-12-01T08:00:00": "--at 2026-12-01T08:00:00 has no time zone, and counts as UTC: 2026-12-01T08:00:00Z\n",
		"2026-12-01 08:00":    "--at 2026-12-01 08:00 has no time zone, and counts as UTC: 2026-12-01T08:00:00Z\n",
		"2026-12-01":          "--at 2026-12-01 has no time zone, and counts as UTC: 2026-12-01T00:00:00Z\n",
	} {
		var stderr bytes.Buffer
		_, err := parseTime(Streams{Err: &stderr}, "--at", text)
		require.NoError(t, err)
		require.Equal(t, warns, stderr.String())
	}
	_, err := parseTime(Streams{}, "--at", "soon")
	require.ErrorContains(t, err, `--at must be a time such as 2026-12-01T08:00:00Z or 2026-12-01T08:00:00+01:00, got "soon"`)
}
