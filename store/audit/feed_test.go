package audit_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// A reader that sends its last cursor sees each write once, in the order of the numbers, while others write.
func TestReaderMissesNoChange(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := e.Open(t)
		const writers = 4
		each := testkit.QuickOrFull(15, 100)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var writing sync.WaitGroup
		for w := range writers {
			writing.Go(func() {
				for n := range each {
					if _, err := s.Stock.Create(ctx, storetest.Actor, fmt.Sprintf("p-%d-%d", w, n), 1); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		written := make(chan struct{})
		go func() { writing.Wait(); close(written) }()

		var seen, ids []string
		for after, last := "", false; ; {
			page, err := s.Audit.Changes(t.Context(), 7, after)
			require.NoError(t, err)
			for i, event := range page.Events {
				seen, ids = append(seen, event.ID), append(ids, event.ResourceID)
				after = page.Cursor(i)
			}
			if len(page.Events) > 0 {
				continue
			}
			if last {
				break
			}
			select {
			case <-written:
				last = true // one more poll after the last write
			default:
			}
		}
		require.True(t, slices.IsSorted(seen), "in the order of the commits")
		require.Len(t, slices.Compact(slices.Clone(seen)), len(seen), "each once")
		var wanted []string
		for w := range writers {
			for n := range each {
				wanted = append(wanted, fmt.Sprintf("p-%d-%d", w, n))
			}
		}
		require.ElementsMatch(t, wanted, ids)
	})
}

const retained = 90 * 24 * time.Hour

func TestCursorsExpireWithTheirEvents(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		clock := testkit.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
		s := e.Open(t, storetest.WithClock(clock))
		create := func(id string) {
			_, err := s.Stock.Create(t.Context(), storetest.Actor, id, 1)
			require.NoError(t, err)
		}
		start, err := s.Audit.Changes(t.Context(), 1, "")
		require.NoError(t, err)
		create("a")
		create("b")
		old, err := s.Audit.Changes(t.Context(), 100, "")
		require.NoError(t, err)
		require.Len(t, old.Events, 2)
		clock.Advance(retained + time.Minute)
		create("c")

		require.NoError(t, s.Sweep(t.Context()))
		slice, err := s.Audit.Events(t.Context(), noFilter, store.Page{})
		require.NoError(t, err)
		require.Len(t, slice.Items, 1)
		total, err := slice.Total(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, total, "the stored total")

		for name, cursor := range map[string]string{"the beginning": start.Latest, "a deleted event": old.Cursor(0)} {
			_, err = s.Audit.Changes(t.Context(), 10, cursor)
			require.True(t, store.HasCode(err, store.CursorExpired), "%s: %v", name, err)
			require.ErrorContains(t, err, "latestCursor")
		}
		next, err := s.Audit.Changes(t.Context(), 10, old.Cursor(1))
		require.NoError(t, err, "all events after it are kept")
		require.Equal(t, "c", next.Events[0].ResourceID)
		first, err := s.Audit.Changes(t.Context(), 10, "")
		require.NoError(t, err, "without a cursor it begins with the oldest that is kept")
		require.Len(t, first.Events, 1)
		empty, err := s.Audit.Changes(t.Context(), 10, first.Latest)
		require.NoError(t, err)
		require.Empty(t, empty.Events)

		clock.Advance(retained + time.Minute)
		require.NoError(t, s.Sweep(t.Context()))
		none, err := s.Audit.Changes(t.Context(), 10, first.Latest)
		require.NoError(t, err, "the cursor of the last event stays good")
		require.Empty(t, none.Events)
		_, err = s.Audit.Changes(t.Context(), 10, none.Latest)
		require.NoError(t, err)
	})
}

// A cursor of a state that a restored backup does not have is refused, also if the number was given again.
func TestCursorsOfALostState(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		clock := testkit.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
		s := e.Open(t, storetest.WithClock(clock))
		create := func(id string) string {
			_, err := s.Stock.Create(t.Context(), storetest.Actor, id, 1)
			require.NoError(t, err)
			page, err := s.Audit.Changes(t.Context(), 100, "")
			require.NoError(t, err)
			return page.Latest
		}
		create("a")
		lost := create("b")
		database := e.SQL(t)
		for _, statement := range []string{`DELETE FROM audit_event WHERE resource_id = 'b'`, `UPDATE counter SET value = value - 1 WHERE name = 'audit'`} {
			_, err := database.Exec(statement)
			require.NoError(t, err)
		}
		_, err := s.Audit.Changes(t.Context(), 10, lost)
		require.True(t, store.HasCode(err, store.CursorExpired), "%v", err)
		clock.Advance(time.Second)
		create("c")
		_, err = s.Audit.Changes(t.Context(), 10, lost)
		require.True(t, store.HasCode(err, store.CursorExpired), "%v", err)
		require.ErrorContains(t, err, "restored")
		_, err = s.Audit.Changes(t.Context(), 10, "x")
		require.True(t, store.HasCode(err, store.Invalid), "%v", err)
		_, err = s.Audit.Changes(t.Context(), 101, "")
		require.Error(t, err)
	})
}

// A write that fails leaves no event, and one that succeeds does, also among others of its transaction.
func TestFailedWritesLeaveNoEvent(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := e.Open(t)
		for range 2 {
			var all sync.WaitGroup
			for n := range 8 {
				all.Go(func() { _, _ = s.Stock.Create(t.Context(), storetest.Actor, fmt.Sprintf("p-%d", n/2), 1) }) // the second fails
			}
			all.Wait()
		}
		require.ElementsMatch(t, []string{"p-0", "p-1", "p-2", "p-3"}, resources(t, s))
	})
}

// resources returns the ids of the resources of all events.
func resources(t *testing.T, s *shop.Store) (ids []string) {
	t.Helper()
	for _, event := range events(t, s, noFilter) {
		ids = append(ids, event.ResourceID)
	}
	return ids
}
