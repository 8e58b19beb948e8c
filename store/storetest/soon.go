package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// waitTimeout is for machines under load: what is promised within a second takes a
// minute there, and tests that knew better failed without a fault.
const waitTimeout = 3 * time.Minute

// Eventually waits until got is what is wanted, as it is after a few polls.
func Eventually[T comparable](t testing.TB, want T, got func() T, message ...any) {
	t.Helper()
	last := got()
	for deadline := time.Now().Add(waitTimeout); last != want; last = got() {
		if time.Now().After(deadline) {
			require.Equal(t, want, last, message...)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// WaitForLockWaiters waits until so many sessions of a PostgreSQL database wait for a
// lock.
func WaitForLockWaiters(t testing.TB, e Backend, sessions int, message ...any) {
	t.Helper()
	Eventually(t, sessions, func() int {
		return CountRows(t, e.SQL(t), `pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
	}, message...)
}
