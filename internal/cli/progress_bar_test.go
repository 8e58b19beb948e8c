package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProgressBarWithoutATerminal(t *testing.T) {
	t.Parallel()
	var screen bytes.Buffer
	bar := newProgressBar(&screen, "importing", 10, 2)
	require.Nil(t, bar)
	bar.add(5)
	bar.set(9)
	bar.end()
	require.Empty(t, screen.String())
}

func TestProgressBarWithAFurtherPass(t *testing.T) {
	t.Parallel()
	var screen bytes.Buffer
	bar := drawProgressBar(&screen, "importing", 10, 2)
	bar.add(10)
	bar.set(20)
	require.EqualValues(t, 20, bar.bar.GetMax64())
	bar.add(5)
	require.EqualValues(t, 30, bar.bar.GetMax64())
	bar.end()
	require.True(t, strings.HasSuffix(screen.String(), "\r"), "the line is empty again: %q", screen.String())
}

func TestProgressBarOfUnknownLength(t *testing.T) {
	t.Parallel()
	var screen bytes.Buffer
	bar := drawProgressBar(&screen, "importing", -1, 2)
	bar.add(2_000_000)
	bar.end()
	require.Contains(t, screen.String(), "2.0 MB")
}
