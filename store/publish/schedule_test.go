package publish_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/job"
	"portico/store/publish"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestScheduledPublications checks when scheduled publications run, and what a roll-back does to them.
func TestScheduledPublications(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("one waits for its time, is listed and can be canceled", scheduledWaits(backend))
		t.Run("one of several servers publishes once, also after a restart", scheduledOnce(backend))
		t.Run("a roll-back after the request stays", scheduledHeld(backend))
		t.Run("times have bounds", scheduledBounds(backend))
	})
}

// schedule schedules a publication of main in an hour.
func schedule(t *testing.T, s *shop.Store, label string) *job.Job {
	t.Helper()
	task, err := s.Publisher.RequestPublication(t.Context(), storetest.Actor, "main",
		publish.PublicationRequest{Serve: true, Notes: publish.ReleaseNotes{Label: label}, At: time.Now().Add(time.Hour).Truncate(time.Millisecond)})
	require.NoError(t, err)
	require.Equal(t, job.Scheduled, task.State)
	return task
}

// comesDue moves the start of the scheduled publications to now.
func comesDue(t *testing.T, backend storetest.Backend) {
	t.Helper()
	_, err := backend.SQL(t).ExecContext(t.Context(), `UPDATE job SET beat_at = beat_at - 3600000000 WHERE state = 'scheduled'`)
	require.NoError(t, err)
}

func scheduledIDs(t *testing.T, s *shop.Store) (ids []string) {
	t.Helper()
	tasks, err := s.Jobs.Scheduled(t.Context(), job.Publish)
	require.NoError(t, err)
	for _, task := range tasks {
		ids = append(ids, task.ID)
	}
	return ids
}

func scheduledWaits(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.ShopFile)
		task := schedule(t, s, "winter")
		again, err := s.Publisher.RequestPublication(t.Context(), storetest.Actor, "main", publish.PublicationRequest{Serve: true, Notes: publish.ReleaseNotes{Label: "winter"}, At: task.RunAt})
		require.NoError(t, err)
		require.Equal(t, task.ID, again.ID, "the same request is the same job")
		other := schedule(t, s, "spring")
		require.Equal(t, []string{task.ID, other.ID}, scheduledIDs(t, s))
		gauges, err := s.Gauges(t.Context())
		require.NoError(t, err)
		require.Empty(t, gauges.Jobs, "it waits for no worker")
		storetest.RunWorker(t, s)
		at, err := s.Publisher.PublishLater(t.Context(), storetest.Actor, "main", true)
		require.NoError(t, err)
		require.NotEqual(t, task.ID, at.ID)
		require.Equal(t, job.Succeeded, storetest.WaitForJob(t, s, at.ID).State)
		require.Equal(t, []string{task.ID, other.ID}, scheduledIDs(t, s))
		canceled, err := s.Jobs.Cancel(t.Context(), storetest.Actor, task.ID)
		require.NoError(t, err)
		require.Equal(t, job.Canceled, canceled.State)
		require.Equal(t, []string{other.ID}, scheduledIDs(t, s))
		comesDue(t, backend)
		require.Equal(t, job.Succeeded, storetest.WaitForJob(t, s, other.ID).State)
		canceled, err = s.Jobs.Get(t.Context(), task.ID)
		require.NoError(t, err)
		require.Equal(t, job.Canceled, canceled.State)
		require.Zero(t, canceled.StartedAt)
	}
}

func scheduledOnce(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, db := backend.Open(t), backend.SQL(t)
		storetest.Import(t, s, storetest.ShopFile)
		storetest.Publish(t, s, "main")
		task := schedule(t, s, "winter")
		storetest.RenameProducts(t, s, "New")
		s.Close()
		comesDue(t, backend)
		servers := []*shop.Store{backend.Open(t), backend.Open(t), backend.Open(t)}
		for _, server := range servers {
			storetest.RunWorker(t, server)
		}
		done := storetest.WaitForJob(t, servers[1], task.ID)
		require.Equal(t, job.Succeeded, done.State, done.Error)
		made, err := servers[2].Publisher.ReleaseOfJob(t.Context(), done)
		require.NoError(t, err)
		require.Equal(t, []any{"winter", storetest.Actor}, []any{made.Label, made.Actor})
		require.Equal(t, "2", storetest.QueryText(t, db, `SELECT COUNT(*) FROM release`))
		require.Equal(t, "2", storetest.QueryText(t, db, `SELECT value FROM counter WHERE name = 'release'`), "nobody else began one")
		require.Equal(t, "New", anvilName(t, servers[0]), "what was authored when it ran")
	}
}

func scheduledHeld(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		ids := rollBackToFirst(t, s)
		serveRelease(t, s, ids[0]) // not rolled back
		storetest.RenameProducts(t, s, "Four")
		before := schedule(t, s, "before")
		serveRelease(t, s, ids[1])
		after := schedule(t, s, "after")
		storetest.RunWorker(t, s)
		_, err := s.Jobs.Cancel(t.Context(), storetest.Actor, "none")
		storetest.RequireError(t, err, store.NotFound, "id")
		due := func(id string) {
			_, err := backend.SQL(t).ExecContext(t.Context(), `UPDATE job SET beat_at = beat_at - 3600000000 WHERE id = '`+id+`'`)
			require.NoError(t, err)
		}
		due(before.ID)
		failed := storetest.WaitForJob(t, s, before.ID)
		require.Equal(t, job.Failed, failed.State)
		require.Contains(t, failed.Error, "rolled back from release")
		require.Equal(t, "Two", anvilName(t, s), "the catalog stays rolled back")
		due(after.ID)
		require.Equal(t, job.Succeeded, storetest.WaitForJob(t, s, after.ID).State, "who requested it knew of the roll-back")
		require.Equal(t, "Four", anvilName(t, s))
	}
}

func scheduledBounds(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		s := backend.Open(t, storetest.WithClock(clock))
		storetest.Import(t, s, storetest.ShopFile)
		for _, c := range []struct {
			request publish.PublicationRequest
			member  string
			detail  string
		}{
			{publish.PublicationRequest{At: testkit.Noon}, "at", "must be in the future"},
			{publish.PublicationRequest{At: testkit.Noon.Add(366*24*time.Hour + 1)}, "at", "at most 366 days"},
			{publish.PublicationRequest{At: testkit.Noon.Add(time.Hour), DryRun: true}, "at", "dry run"},
			{publish.PublicationRequest{DryRun: true, Notes: publish.ReleaseNotes{Note: "a"}}, "label", "dry run"},
			{publish.PublicationRequest{Notes: publish.ReleaseNotes{Label: "a\nb"}}, "label", "one line"},
			{publish.PublicationRequest{Notes: publish.ReleaseNotes{Note: string(make([]byte, 1))}}, "note", "NUL"},
		} {
			_, err := s.Publisher.RequestPublication(t.Context(), storetest.Actor, "main", c.request)
			storetest.RequireError(t, err, store.Unprocessable, c.member, c.detail)
		}
		_, err := s.Publisher.RequestPublication(t.Context(), storetest.Actor, "none", publish.PublicationRequest{At: testkit.Noon.Add(time.Hour)})
		storetest.RequireError(t, err, store.NotFound, "catalog_id")
	}
}
