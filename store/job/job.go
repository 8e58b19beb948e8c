// Package job is work that is done beside requests, by one worker at a time,
// and survives a restart: how it is asked for, held, told of and ended. It
// knows no kind of work. It may import the words of store and store/db.
package job

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"portico/store"
	"portico/store/db"
)

// JobKind is what a job does.
type JobKind string

// The kinds.
const (
	JobPublish       JobKind = "catalog_publish"          // publishes a catalog
	JobGenerateCodes JobKind = "promotion_codes_generate" // makes codes of a promotion
)

// JobKinds lists every kind.
func JobKinds() []JobKind { return []JobKind{JobPublish, JobGenerateCodes} }

// JobState is how far a job is.
type JobState string

// The states. A job that was running when its server ended goes on, from its
// start, on whichever server is there next.
const (
	JobQueued    JobState = "queued"
	JobRunning   JobState = "running"
	JobSucceeded JobState = "succeeded"
	JobFailed    JobState = "failed"
	JobCanceled  JobState = "canceled"
)

// Job is work that outlasts the request that asked for it.
type Job struct {
	ID          string
	Kind        JobKind
	State       JobState
	Done, Total int    // of the job's own units; both 0 until it knows
	Error       string // what failed, for people; empty otherwise
	Actor       store.Actor
	CreatedAt   time.Time
	StartedAt   time.Time // zero while it waits
	FinishedAt  time.Time // zero while it is not

	// What its kind asks for and has to show, for the store alone.
	Input, Result json.RawMessage `json:",omitempty"`

	worker string // who does it, as far as it knows
}

// GlobalID is the job's id over all types.
func (j *Job) GlobalID() string { return store.GlobalID(store.TypeJob, j.ID) }

const jobColumns = `id, kind, state, input, result, error, done, total, actor, created_at, started_at, finished_at`

func scanJob(rows *sql.Rows) (*Job, error) {
	j := &Job{}
	var input, result string
	var created, started, finished int64
	err := rows.Scan(&j.ID, &j.Kind, &j.State, &input, &result, &j.Error, &j.Done, &j.Total, &j.Actor, &created, &started, &finished)
	j.Input, j.Result = json.RawMessage(input), json.RawMessage(result)
	j.CreatedAt, j.StartedAt, j.FinishedAt = store.FromMicros(created), store.OptionalMicros(started), store.OptionalMicros(finished)
	return j, err
}

// Job returns a job; NOT_FOUND for an unknown one. Finished jobs are kept for
// some time (SweepJobs).
func (s *JobService) Job(ctx context.Context, id string) (*Job, error) {
	job, found, err := db.One(ctx, s.db.Reader, scanJob, `SELECT `+jobColumns+` FROM job WHERE id = $1`, id)
	if err == nil && !found {
		return nil, store.NotFoundf(nil, "There is no job %q.", store.Abbreviate(id))
	}
	return job, err
}

// Jobs lists the newest jobs, newest first: of these kinds, or of all when
// none is named.
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

// CancelJob ends a job that waits, and asks one that runs to end: a release it
// makes is never served, codes it has made stay. A finished one stays as it is.
// NOT_FOUND for an unknown one.
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
			err = store.NotFoundf([]string{"id"}, "is no job: %q", store.Abbreviate(id))
		}
		return job, err
	})
}

// Enqueue adds a job of so many units, 0 where that is not known yet, unless one
// that waits would do the same; then it is that one. ready tells whether it may
// be asked for at all. RATE_LIMITED when too much waits already, by the bounds
// of Room.
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
		if err := s.room.admit(ctx, t, kind, total); err != nil {
			return nil, err
		}
		job = &Job{ID: store.NewID(), Kind: kind, State: JobQueued, Total: total, Actor: t.Actor, CreatedAt: t.Now}
		_, err = t.Exec(ctx, `
			INSERT INTO job (id, kind, state, input, result, error, done, total, canceled, worker, actor, created_at, started_at, beat_at, finished_at)
			VALUES ($1, $2, $3, $4, '', '', 0, $7, FALSE, '', $5, $6, 0, 0, 0)`,
			job.ID, string(kind), string(JobQueued), text, string(t.Actor), store.Micros(t.Now), total)
		t.AfterCommit(s.wakeWorker)
		return job, err
	})
}

func (s *JobService) wakeWorker() {
	select {
	case s.jobs <- struct{}{}:
	default: // it is awake
	}
}

// JobService is the jobs of one database, and who does them.
type JobService struct {
	db       *db.DB
	jobs     chan struct{} // wakes the worker of this process
	works    map[JobKind]JobWork
	room     Room
	turn     time.Duration         // how long a job has its worker while others wait
	house    func(context.Context) // keeps house beside the jobs, until its context ends
	jobWatch *db.Notifier[*Job]
}

// NewJobService does jobs by works, as far as there is room, and keeps house
// beside them.
func NewJobService(d *db.DB, works map[JobKind]JobWork, room Room, house func(context.Context)) *JobService {
	return &JobService{db: d, jobs: make(chan struct{}, 1), works: works, room: room.orDefault(), turn: jobTurn, house: house, jobWatch: newJobWatch()}
}
