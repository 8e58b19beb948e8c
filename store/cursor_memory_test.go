package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/storetest/testkit"
)

func TestSigningAllocatesOnlyTheText(t *testing.T) {
	if testkit.RaceDetector {
		t.Skip("the race detector makes pools forget what they hold")
	}
	key, c := store.NewCursorKey("secret"), store.Cursor{List: store.NewListID(cachekey.New("a")), Release: 7, Position: 25}
	text := key.Sign(c)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { text = key.Sign(c) }), 1.0)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _ = key.Parse(text, c.List, "after") }), 1.0)
}
