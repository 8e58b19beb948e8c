package db

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// However much changes while nobody looks, there is one state of each thing to
// take, the newest; and what changes between a look and the taking is not lost.
func TestAWatcherHoldsTheNewestOfEach(t *testing.T) {
	t.Parallel()
	w := NewWatch(func(told, known int) bool { return told > known })
	watcher, other := w.Begin([]string{"a", "b"}), w.Begin([]string{"b"})
	for state := range 1000 {
		w.Tell("a", state)
		w.Tell("b", state)
		w.Tell("nobody's", state)
	}
	w.hand()
	require.Len(t, watcher.fresh, 2)
	require.Empty(t, w.told)
	for range 2 {
		state, ok := watcher.Newest()
		require.True(t, ok)
		require.Equal(t, 999, state)
		watcher.Took(state)
	}
	_, ok := watcher.Newest()
	require.False(t, ok)

	watcher.Take("a", 1000)
	looked, _ := watcher.Newest()
	watcher.Take("a", 1001)
	watcher.Take("a", 1000) // late
	watcher.Took(looked)
	state, ok := watcher.Newest()
	require.True(t, ok)
	require.Equal(t, 1001, state)

	watcher.Close()
	watcher.Close()
	require.Equal(t, []string{"b"}, w.Watched())
	other.Close()
	w.Tell("b", 2000)
	w.mu.Lock() // its timer may still run
	defer w.mu.Unlock()
	require.Empty(t, w.told, "nobody follows it")
	require.Empty(t, w.watchers)
}
