package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience is for machines under load: what is promised within a second takes a
// minute there, and tests that knew better failed without a fault.
const patience = 3 * time.Minute

// Soon waits until got is what is wanted, as it is after a few polls.
func Soon[T comparable](t testing.TB, want T, got func() T, message ...any) {
	t.Helper()
	last := got()
	for deadline := time.Now().Add(patience); last != want; last = got() {
		if time.Now().After(deadline) {
			require.Equal(t, want, last, message...)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
