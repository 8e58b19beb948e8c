package testkit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// WaitTimeout is generous because loaded machines take a minute for what usually takes a second.
const WaitTimeout = 3 * time.Minute

// Eventually polls until got returns want. It fails the test after WaitTimeout.
func Eventually[T comparable](t testing.TB, want T, got func() T, message ...any) {
	t.Helper()
	last := got()
	for deadline := time.Now().Add(WaitTimeout); last != want; last = got() {
		if time.Now().After(deadline) {
			require.Equal(t, want, last, message...)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
