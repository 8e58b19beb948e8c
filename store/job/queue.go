package job

import (
	"context"

	"portico/store"
	"portico/store/db"
)

// Job returns a job, or NOT_FOUND. Finished jobs are deleted after some time (SweepJobs).
func (s *JobService) Job(ctx context.Context, id string) (*Job, error) {
	job, found, err := db.One(ctx, s.db.Reader, scanJob, `SELECT `+jobColumns+` FROM job WHERE id = $1`, id)
	if err == nil && !found {
		return nil, store.NotFoundf(nil, "There is no job %q.", store.Abbreviate(id))
	}
	return job, err
}

// Jobs lists the newest jobs of some kinds, or of all, newest first.
func (s *JobService) Jobs(ctx context.Context, first int, kinds ...JobKind) ([]*Job, error) {
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

// CancelJob cancels a queued job, and asks a running one to stop: its release is never
// served, its codes stay. A finished job does not change. It returns NOT_FOUND.
func (s *JobService) CancelJob(ctx context.Context, actor store.Actor, id string) (*Job, error) {
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (*Job, error) {
		if _, err := t.Exec(ctx, `
			UPDATE job SET canceled = TRUE,
			       state = CASE WHEN state = $2 THEN $3 ELSE state END,
			       finished_at = CASE WHEN state = $2 THEN `+t.LaterSQL(`CAST($4 AS BIGINT)`)+` ELSE finished_at END
			WHERE id = $1 AND finished_at = 0`, id, string(JobQueued), string(JobCanceled), store.Micros(t.Now)); err != nil {
			return nil, err
		}
		job, found, err := db.One(ctx, t.Session, scanJob, `SELECT `+jobColumns+` FROM job WHERE id = $1`, id)
		if err == nil && !found {
			err = store.NotFoundf([]string{"id"}, "is not the id of a job: %q", store.Abbreviate(id))
		}
		return job, err
	})
}

// Enqueue adds a job of total units, 0 if unknown, or returns a queued job with the same
// input. ready reports whether the job is allowed. It returns RATE_LIMITED if the limits of
// Room are exceeded.
func Enqueue(ctx context.Context, s *JobService, actor store.Actor, kind JobKind, input any, total int, ready func(context.Context, *db.Tx) error) (*Job, error) {
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (*Job, error) {
		if err := ready(ctx, t); err != nil {
			return nil, err
		}
		text := string(store.Encode(input))
		job, waits, err := db.One(ctx, t.Session, scanJob, `
			SELECT `+jobColumns+` FROM job
			WHERE finished_at = 0 AND state = $1 AND kind = $2 AND input = $3 ORDER BY created_at, id LIMIT 1`,
			string(JobQueued), string(kind), text)
		if err != nil || waits {
			return job, err
		}
		if err := s.quota.check(ctx, t, kind, total); err != nil {
			return nil, err
		}
		job = &Job{ID: store.NewID(), Kind: kind, State: JobQueued, Total: total, Actor: t.Actor, CreatedAt: t.Now}
		_, err = t.Exec(ctx, `
			INSERT INTO job (id, kind, state, input, result, error, done, total, canceled, worker, actor, created_at, started_at, beat_at, finished_at)
			VALUES ($1, $2, $3, $4, '', '', 0, $7, FALSE, '', $5, $6, 0, 0, 0)`,
			job.ID, string(kind), string(JobQueued), text, string(t.Actor), store.Micros(t.Now), total)
		t.AfterCommit(s.wakeWorker)
		t.Announce()
		return job, err
	})
}

func (s *JobService) wakeWorker() {
	select {
	case s.jobs <- struct{}{}:
	default: // already awake
	}
}
