package db

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNotifierKeepsNewestState: a slow subscriber gets only the newest state of each thing,
// and misses no change between reading and acknowledging.
func TestNotifierKeepsNewestState(t *testing.T) {
	t.Parallel()
	w := NewNotifier(func(told, known int) bool { return told > known })
	watcher, other := w.Subscribe([]string{"a", "b"}), w.Subscribe([]string{"b"})
	for state := range 1000 {
		w.Publish("a", state)
		w.Publish("b", state)
		w.Publish("nobody's", state)
	}
	w.flush()
	require.Len(t, watcher.pending, 2)
	require.Empty(t, w.pending)
	for range 2 {
		state, ok := watcher.Newest()
		require.True(t, ok)
		require.Equal(t, 999, state)
		watcher.Ack(state)
	}
	_, ok := watcher.Newest()
	require.False(t, ok)

	watcher.Offer("a", 1000)
	looked, _ := watcher.Newest()
	watcher.Offer("a", 1001)
	watcher.Offer("a", 1000) // an old state
	watcher.Ack(looked)
	state, ok := watcher.Newest()
	require.True(t, ok)
	require.Equal(t, 1001, state)

	watcher.Close()
	watcher.Close()
	require.Equal(t, []string{"b"}, w.SubscribedIDs())
	other.Close()
	w.Publish("b", 2000)
	w.mu.Lock() // the timer may still run
	defer w.mu.Unlock()
	require.Empty(t, w.pending, "nobody follows it")
	require.Empty(t, w.subscriptions)
}
