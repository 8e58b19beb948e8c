package storetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/job"
	"portico/store/shop"
	"portico/store/storetest/testkit"
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
	testkit.Eventually(t, true, func() bool {
		task, err := s.Jobs.Get(t.Context(), id)
		require.NoError(t, err)
		return !task.FinishedAt.IsZero()
	})
	task, err := s.Jobs.Get(t.Context(), id)
	require.NoError(t, err)
	return task
}

// WaitForLockWaiters waits until this many sessions of a PostgreSQL database wait for a lock.
func WaitForLockWaiters(t testing.TB, backend Backend, sessions int, message ...any) {
	t.Helper()
	testkit.Eventually(t, sessions, func() int {
		return CountRows(t, backend.SQL(t), `pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
	}, message...)
}
