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

// LocksAwaited waits until so many sessions of a PostgreSQL database wait for a
// lock.
func LocksAwaited(t testing.TB, e Engine, sessions int, message ...any) {
	t.Helper()
	Soon(t, sessions, func() int {
		return CountRows(t, e.SQL(t), `pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
	}, message...)
}
