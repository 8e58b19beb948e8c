package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/job"
	"portico/store/shop"
)

// RunWorker runs a store's job worker until stop is called or the test ends.
func RunWorker(t testing.TB, s *shop.Store) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); s.Jobs.Work(ctx) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

// WaitForJob waits until a job has finished, and returns it.
func WaitForJob(t *testing.T, s *shop.Store, id string) *job.Job {
	t.Helper()
	Eventually(t, true, func() bool {
		task, err := s.Jobs.Get(t.Context(), id)
		require.NoError(t, err)
		return !task.FinishedAt.IsZero()
	})
	task, err := s.Jobs.Get(t.Context(), id)
	require.NoError(t, err)
	return task
}

// waitTimeout is generous because loaded machines take a minute for what usually takes a
// second.
const waitTimeout = 3 * time.Minute

// Eventually polls until got returns want. It fails the test after waitTimeout.
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

// WaitForLockWaiters waits until this many sessions of a PostgreSQL database wait for a lock.
func WaitForLockWaiters(t testing.TB, backend Backend, sessions int, message ...any) {
	t.Helper()
	Eventually(t, sessions, func() int {
		return CountRows(t, backend.SQL(t), `pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
	}, message...)
}
