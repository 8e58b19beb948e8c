package job

import (
	"context"
	"time"

	"portico/store"
	"portico/store/db"
)

// Get returns a job, or NOT_FOUND. Finished jobs are deleted after some time (Sweep).
func (s *Service) Get(ctx context.Context, id string) (*Job, error) {
	job, found, err := db.One(ctx, s.db.Reader, scanJob, `SELECT `+jobColumns+` FROM job WHERE id = $1`, id)
	if err == nil && !found {
		return nil, store.NotFoundf(nil, "There is no job %q.", store.Abbreviate(id))
	}
	return job, err
}

// List lists the newest jobs of some kinds, or of all, newest first.
func (s *Service) List(ctx context.Context, first int, kinds ...Kind) ([]*Job, error) {
	if err := store.CheckLimit("first", first); err != nil {
		return nil, err
	}
	if len(kinds) == 0 {
		return db.Collect(ctx, s.db.Reader, scanJob, `SELECT `+jobColumns+` FROM job ORDER BY created_at DESC, id DESC LIMIT $1`, first)
	}
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = string(kind)
	}
	list, args := db.InList([]any{first}, names)
	return db.Collect(ctx, s.db.Reader, scanJob, `
		SELECT `+jobColumns+` FROM job WHERE kind IN (`+list+`) ORDER BY created_at DESC, id DESC LIMIT $1`, args...)
}

// Cancel cancels a queued or scheduled job, and asks a running one to stop: its release is never
// served, its codes stay. A finished job does not change. It returns NOT_FOUND.
func (s *Service) Cancel(ctx context.Context, actor store.Actor, id string) (*Job, error) {
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (*Job, error) {
		n, err := t.Exec(ctx, `
			UPDATE job SET canceled = TRUE,
			       state = CASE WHEN state IN ($2, $5) THEN $3 ELSE state END,
			       finished_at = CASE WHEN state IN ($2, $5) THEN `+t.LaterSQL(`CAST($4 AS BIGINT)`)+` ELSE finished_at END
			WHERE id = $1 AND finished_at = 0`, id, string(Queued), string(Canceled), store.Micros(t.Now), string(Scheduled))
		if err != nil {
			return nil, err
		}
		if n > 0 {
			t.Record(store.NewAuditEvent(store.AuditJob, id, store.AuditCanceled))
		}
		job, found, err := db.One(ctx, t.Session, scanJob, `SELECT `+jobColumns+` FROM job WHERE id = $1`, id)
		if err == nil && !found {
			err = store.NotFoundf([]string{"id"}, "is not the id of a job: %q", store.Abbreviate(id))
		}
		return job, err
	})
}

// Enqueue adds a job of total units, 0 if unknown, or returns a queued job with the same
// input that nobody canceled. ready returns an error if the job is not allowed. It returns RATE_LIMITED if the limits of
// Quota are exceeded.
func (s *Service) Enqueue(ctx context.Context, actor store.Actor, kind Kind, input any, total int, ready func(context.Context, *db.Tx) error) (*Job, error) {
	return s.Schedule(ctx, actor, kind, input, total, time.Time{}, ready)
}

// Schedule is Enqueue for a job that starts at a time, by the database's clock; the zero time is at once. A server that is
// down at that time starts it later. It returns a scheduled job with the same input and time if there is one.
//
// A scheduled job is claimed as if it were running and its lease expired at that time, so one worker gets it.
func (s *Service) Schedule(ctx context.Context, actor store.Actor, kind Kind, input any, total int, at time.Time, ready func(context.Context, *db.Tx) error) (*Job, error) {
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (*Job, error) {
		if err := ready(ctx, t); err != nil {
			return nil, err
		}
		job := &Job{ID: store.NewID(), Kind: kind, State: Queued, Total: total, Actor: t.Actor, CreatedAt: t.Now, RunAt: at}
		var runAt, beatAt int64
		if !at.IsZero() {
			job.State, runAt = Scheduled, store.Micros(at)
			beatAt = runAt - leaseExpiry.Microseconds()
		}
		job.Input = store.Encode(input)
		text := string(job.Input)
		same, waits, err := db.One(ctx, t.Session, scanJob, `
			SELECT `+jobColumns+` FROM job
			WHERE finished_at = 0 AND NOT canceled AND state = $1 AND kind = $2 AND input = $3 AND run_at = $4 ORDER BY created_at, id LIMIT 1`,
			string(job.State), string(kind), text, runAt)
		if err != nil || waits {
			return same, err
		}
		if err := s.quota.check(ctx, t, kind, total); err != nil {
			return nil, err
		}
		_, err = t.Exec(ctx, `
			INSERT INTO job (id, kind, state, input, result, error, done, total, canceled, worker, actor, created_at, run_at, started_at, beat_at, finished_at)
			VALUES ($1, $2, $3, $4, '', '', 0, $7, FALSE, '', $5, $6, $8, 0, $9, 0)`,
			job.ID, string(kind), string(job.State), text, string(t.Actor), store.Micros(t.Now), total, runAt, beatAt)
		members := []store.MemberChange{{Path: []string{"kind"}, After: store.Encode(kind)}}
		if !at.IsZero() {
			members = append(members, store.MemberChange{Path: []string{"run_at"}, After: store.Encode(store.FormatTime(at))})
		}
		t.Record(store.NewAuditEvent(store.AuditJob, job.ID, store.AuditCreated, members...))
		if at.IsZero() {
			t.AfterCommit(s.wakeWorker)
			t.Announce()
		}
		return job, err
	})
}

// Scheduled lists the jobs of a kind that wait for their time, the next one first, at most 100.
func (s *Service) Scheduled(ctx context.Context, kind Kind) ([]*Job, error) {
	return db.Collect(ctx, s.db.Reader, scanJob, `
		SELECT `+jobColumns+` FROM job WHERE finished_at = 0 AND state = $1 AND kind = $2 ORDER BY run_at, created_at, id LIMIT $3`,
		string(Scheduled), string(kind), scheduledListed)
}

// scheduledListed bounds Scheduled.
const scheduledListed = 100

// wakeWorker makes the worker of this process look for jobs.
func (s *Service) wakeWorker() {
	select {
	case s.jobs <- struct{}{}:
	default: // already awake
	}
}
