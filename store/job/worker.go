package job

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"portico/store"
	"portico/store/db"
)

// Work runs queued jobs, one at a time, and sweeps in parallel, until ctx ends. An unfinished
// job waits for the next worker. Any number of servers may work on one database. The poll loop
// wakes one worker while jobs wait (Follow), and that one wakes the next.
func (s *Service) Work(ctx context.Context) {
	ctx, stop := s.db.WithFileGuard(ctx)
	defer stop()
	var janitor sync.WaitGroup
	janitor.Go(func() { s.janitor(ctx) })
	defer janitor.Wait()
	worker := store.NewID()
	for ctx.Err() == nil {
		var job *Job
		var err error
		if !s.db.ReadOnly() {
			job, err = s.claimJob(ctx, worker)
		}
		switch {
		case err != nil && ctx.Err() == nil && store.AsErrors(err)[0].Code != store.Unavailable: // those are logged already
			s.db.Log.Warn("could not look for jobs", "error", err)
		case job != nil:
			s.wakeWorker() // another job may wait
			s.workOn(ctx, job)
			continue
		}
		select {
		case <-ctx.Done():
		case <-s.jobs:
		}
	}
}

// openSQL is a condition on the table job: queued, scheduled for now or earlier (Schedule), or its lease expired.
func openSQL(d *db.DB, queued, expiry string) string {
	return `finished_at = 0 AND (state = ` + queued + ` OR beat_at < ` + d.ClockSQL() + ` - ` + expiry + `)`
}

// WaitingSQL is a SQL expression that is 1 while a job waits for a worker, else 0.
func WaitingSQL(d *db.DB) string {
	return fmt.Sprintf(`CASE WHEN EXISTS (SELECT 1 FROM job WHERE %s) THEN 1 ELSE 0 END`, openSQL(d, "'"+string(Queued)+"'", strconv.FormatInt(leaseExpiry.Microseconds(), 10)))
}

// claimJob takes a queued job, or one whose lease expired: first those of clients with the
// fewest running jobs, then the one that waited longest. It returns nil if there is none.
func (s *Service) claimJob(ctx context.Context, worker string) (job *Job, err error) {
	now, open, stale := s.db.ClockSQL(), openSQL(s.db, "$1", "$2"), leaseExpiry.Microseconds()
	_, waits, err := db.One(ctx, s.db.Reader, db.Scalar[string], `SELECT id FROM job WHERE `+open+` LIMIT 1`, string(Queued), stale)
	if err != nil || !waits {
		return nil, err
	}
	err = s.db.Update(ctx, "", func(ctx context.Context, t *db.Tx) error {
		job, _, err = db.One(ctx, t.Session, scanJob, `
			UPDATE job SET state = $3, worker = $4, beat_at = `+now+`, started_at = CASE WHEN started_at = 0 THEN $5 ELSE started_at END
			WHERE id = (
				SELECT id FROM job WHERE `+open+`
				ORDER BY (SELECT COUNT(*) FROM job AS other WHERE other.finished_at = 0 AND other.state = $3 AND other.actor = job.actor AND other.id <> job.id),
				         beat_at, created_at, id
				LIMIT 1) AND `+open+`
			RETURNING `+jobColumns, string(Queued), stale, string(Running), worker, store.Micros(t.Now))
		return err
	})
	if err != nil || job == nil { // nil after an error, since the commit may have failed
		return nil, err
	}
	job.worker = worker
	return job, nil
}

// CheckLease returns nil while this worker has the job and it is not canceled. It locks the job until the write ends.
func CheckLease(ctx context.Context, t *db.Tx, job *Job) error {
	canceled, held, err := db.One(ctx, t.Session, db.Scalar[bool], `
		SELECT canceled FROM job WHERE id = $1 AND worker = $2 AND state = $3`+t.ForUpdate("job"), job.ID, job.worker, string(Running))
	switch {
	case err != nil:
		return err
	case !held:
		return errLeaseLost
	case canceled:
		return errCanceled
	}
	return nil
}

// CheckTurn returns errYield if a job that has run since a time must yield to others.
func (s *Service) CheckTurn(ctx context.Context, since time.Time) error {
	if time.Since(since) < maxTurn {
		return nil
	}
	_, waits, err := db.One(ctx, s.db.Reader, db.Scalar[string], `SELECT id FROM job WHERE finished_at = 0 AND state = $1 LIMIT 1`, string(Queued))
	if err == nil && waits {
		err = errYield
	}
	return err
}

// workOn runs one job and stores how it ended: succeeded, canceled, failed, or queued again if this worker stops or the job
// yields. It stores nothing if another worker has taken the job over.
func (s *Service) workOn(ctx context.Context, job *Job) {
	var done, total atomic.Int64
	done.Store(int64(job.Done))
	total.Store(int64(job.Total))
	var result any
	within := ctx // the context of the work, for the log
	why, err := runLeased(ctx,
		func(ctx context.Context) error { return s.heartbeat(ctx, job, int(done.Load()), int(total.Load())) },
		func(ctx context.Context) (err error) {
			working, end := store.StartStep(store.WithOperation(ctx, store.StepJob+string(job.Kind)), store.StepJob+string(job.Kind))
			within = working
			err = db.RecoverPanic(func() (err error) {
				work := s.works[job.Kind]
				if work == nil {
					return fmt.Errorf("this version knows no job of the kind %q", job.Kind)
				}
				result, err = work(s.db.WithThrottle(working), job, func(d, t int) { done.Store(int64(d)); total.Store(int64(t)) })
				return err
			})
			end(err)
			return err
		})
	ended := func(by error) bool { return errors.Is(why, by) || errors.Is(err, by) }
	canceled, takenOver := ended(errCanceled), ended(errLeaseLost)
	job.Done, job.Total = int(done.Load()), int(total.Load())
	switch {
	case err == nil:
		job.State, job.Result = Succeeded, store.Encode(result)
	case takenOver:
		s.db.Log.WarnContext(within, "this server lost the lease of a job; another server runs it now", "job", job.ID, "kind", string(job.Kind))
		return
	case canceled:
		job.State = Canceled
	case ctx.Err() != nil, errors.Is(err, errYield):
		job.State = Queued // for the next worker
	default:
		job.State, job.Error = Failed, s.explainJob(within, job, err)
	}
	if err := s.endJob(context.WithoutCancel(ctx), job); err != nil {
		s.db.Log.ErrorContext(within, "could not store the result of a job; it will run again", "job", job.ID, "state", string(job.State), "error", err)
	}
}

// explainJob returns the error for clients; it logs internal errors.
func (s *Service) explainJob(ctx context.Context, job *Job, err error) string {
	var fault *store.Error
	if errors.As(err, &fault) {
		return fault.Error()
	}
	s.db.Log.ErrorContext(ctx, "a job failed", "job", job.ID, "kind", string(job.Kind), "error", err)
	return "An internal error has occurred."
}

// heartbeat renews the lease of a job and stores its progress, unless its work does (SaveProgress).
func (s *Service) heartbeat(ctx context.Context, job *Job, done, total int) error {
	return s.db.Update(ctx, "", func(ctx context.Context, t *db.Tx) error {
		if err := CheckLease(ctx, t, job); err != nil {
			return err
		}
		_, err := t.Exec(ctx, `UPDATE job SET beat_at = `+s.db.ClockSQL()+`, done = CASE WHEN result = '' THEN $2 ELSE done END, total = $3 WHERE id = $1`, job.ID, done, total)
		return err
	})
}

// SaveProgress stores a job's progress and state in a transaction of its work, so that the next
// worker can continue from it. The state is stored as the job's result.
func SaveProgress(ctx context.Context, t *db.Tx, job *Job, state any, done int) error {
	_, err := t.Exec(ctx, `UPDATE job SET result = $2, done = $3 WHERE id = $1`, job.ID, string(store.Encode(state)), done)
	return err
}

// endJob stores how a job ended, unless another worker has it. An unfinished job keeps what
// SaveProgress stored.
func (s *Service) endJob(ctx context.Context, job *Job) error {
	return s.db.Update(ctx, "", func(ctx context.Context, t *db.Tx) error {
		finished := store.Micros(t.Now)
		if job.State == Queued {
			finished = 0
			t.Announce() // to the next worker
		}
		ended := `finished_at = CASE WHEN CAST($7 AS BIGINT) > 0 THEN ` + t.LaterSQL(`CAST($7 AS BIGINT)`) + ` ELSE 0 END`
		if job.State != Succeeded {
			_, err := t.Exec(ctx, `
				UPDATE job SET state = $3, error = $4, done = CASE WHEN result = '' THEN $5 ELSE done END, total = $6, `+ended+`
				WHERE id = $1 AND worker = $2 AND state = $8`,
				job.ID, job.worker, string(job.State), job.Error, job.Done, job.Total, finished, string(Running))
			return err
		}
		_, err := t.Exec(ctx, `
			UPDATE job SET state = $3, error = $4, done = $5, total = $6, `+ended+`, result = $9
			WHERE id = $1 AND worker = $2 AND state = $8`,
			job.ID, job.worker, string(job.State), job.Error, job.Done, job.Total, finished, string(Running), string(job.Result))
		return err
	})
}
