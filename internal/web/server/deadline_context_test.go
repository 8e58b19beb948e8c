package server

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRequestDeadline requires that Done and Err report the deadline.
func TestRequestDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, look := range map[string]func(*deadlineContext) error{
			"waited for": func(w *deadlineContext) error { <-w.Done(); return w.Err() },
			"asked":      func(w *deadlineContext) error { time.Sleep(time.Second); return w.Err() },
			"waited for below": func(w *deadlineContext) error {
				below, end := context.WithCancel(w)
				defer end()
				<-below.Done()
				return below.Err()
			},
			"asked, and then waited for": func(w *deadlineContext) error {
				time.Sleep(time.Second)
				if err := w.Err(); err == nil {
					return nil
				}
				<-w.Done()
				return w.Err()
			},
		} {
			start := time.Now()
			w := &deadlineContext{Context: t.Context(), deadline: start.Add(time.Second)}
			require.NoError(t, w.Err(), name)
			require.ErrorIs(t, look(w), context.Canceled, name)
			require.ErrorIs(t, context.Cause(w), errRequestTimeout, name)
			require.Equal(t, time.Second, time.Since(start), name)
			w.close()
		}
	})
}

// TestRemovedDeadline requires that only the connection ends the context.
func TestRemovedDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, waited := range []bool{false, true} {
			connection, gone := context.WithCancel(t.Context())
			w := &deadlineContext{Context: connection, deadline: time.Now().Add(time.Second)}
			if waited {
				w.Done()
			}
			w.removeDeadline()
			time.Sleep(time.Minute)
			require.NoError(t, w.Err())
			gone()
			<-w.Done()
			require.ErrorIs(t, w.Err(), context.Canceled)
			require.NotErrorIs(t, context.Cause(w), errRequestTimeout)
			w.close()
		}
	})
}

// TestClosedContextCancels requires that close cancels the context and stops the timer.
func TestClosedContextCancels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &deadlineContext{Context: t.Context(), deadline: time.Now().Add(time.Second)}
		done := w.Done()
		w.close()
		<-done
		require.ErrorIs(t, w.Err(), context.Canceled)
	})
}
