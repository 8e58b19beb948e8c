package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNothingIsDrawnBesideATerminal(t *testing.T) {
	t.Parallel()
	var screen bytes.Buffer
	m := newMeter(&screen, "importing", 10, 2)
	require.Nil(t, m)
	m.add(5)
	m.reach(9)
	m.end()
	require.Empty(t, screen.String())
}

func TestAMeterMakesRoomForAnotherPass(t *testing.T) {
	t.Parallel()
	var screen bytes.Buffer
	m := drawnMeter(&screen, "importing", 10, 2)
	m.add(10)
	m.reach(20)
	require.EqualValues(t, 20, m.bar.GetMax64())
	m.add(5)
	require.EqualValues(t, 30, m.bar.GetMax64())
	m.end()
	require.True(t, strings.HasSuffix(screen.String(), "\r"), "the line is clear again: %q", screen.String())
}

func TestAMeterWithoutAnEndCountsBytes(t *testing.T) {
	t.Parallel()
	var screen bytes.Buffer
	m := drawnMeter(&screen, "importing", -1, 2)
	m.add(2_000_000)
	m.end()
	require.Contains(t, screen.String(), "2.0 MB")
}
