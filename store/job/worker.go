package job

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"portico/store"
	"portico/store/db"
)

// JobWork does a kind of job: progress tells how far it is, and the result is
// kept with the job.
type JobWork func(ctx context.Context, job *Job, progress func(done, total int)) (result any, err error)

// A worker holds a job by a lease, which it renews. The time is the database's,
// so that no server's clock takes a job from another that is at it.
const (
	jobBeat  = time.Second      // how often a running job's lease is renewed
	jobStale = 10 * time.Second // without that it is taken over
	jobTurn  = 10 * time.Second // after which a job lets others have its worker
)

// Work does the jobs that wait, one after the other, until ctx ends; a job
// under way then waits for the next worker. Beside them it keeps house. Any
// number of servers may work on one database.
func (s *JobService) Work(ctx context.Context) {
	ctx, stop := s.db.WithFileGuard(ctx)
	defer stop()
	var house sync.WaitGroup
	house.Go(func() { s.house(ctx) })
	defer house.Wait()
	worker := store.NewID()
	for ctx.Err() == nil {
		var job *Job
		var err error
		if !s.db.ReadOnly() {
			job, err = s.claimJob(ctx, worker)
		}
		switch {
		case err != nil && ctx.Err() == nil && store.AsErrors(err)[0].Code != store.Unavailable: // which is told already
			s.db.Log.Warn("could not look for jobs", "error", err)
		case job != nil:
			s.workOn(ctx, job)
			continue
		}
		select {
		case <-ctx.Done():
		case <-s.jobs:
		case <-time.After(db.PollEvery):
		}
	}
}

// claimJob takes a job that waits, or whose worker is gone: first those of
// clients who have the fewest that run, and of these the one that has waited
// longest for its turn. nil when there is none.
func (s *JobService) claimJob(ctx context.Context, worker string) (job *Job, err error) {
	now := s.db.ClockSQL()
	open := `finished_at = 0 AND (state = $1 OR beat_at < ` + now + ` - $2)`
	stale := jobStale.Microseconds()
	_, waits, err := db.One(ctx, s.db.Reader, db.Scalar[string], `SELECT id FROM job WHERE `+open+` LIMIT 1`, string(JobQueued), stale)
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
			RETURNING `+jobColumns, string(JobQueued), stale, string(JobRunning), worker, store.Micros(t.Now))
		return err
	})
	if job != nil {
		job.worker = worker
	}
	return job, err
}

// What ends a job before it is done.
var (
	errCanceled  = errors.New("the job was canceled")
	errTakenOver = errors.New("another worker has taken the job over")
	errTurnOver  = errors.New("others wait for a worker")
)

// Holds is nil as long as the job is this worker's, and nobody has canceled it.
func Holds(ctx context.Context, t *db.Tx, job *Job) error {
	canceled, held, err := db.One(ctx, t.Session, db.Scalar[bool], `
		SELECT canceled FROM job WHERE id = $1 AND worker = $2 AND state = $3`+t.ForUpdate("job"), job.ID, job.worker, string(JobRunning))
	switch {
	case err != nil:
		return err
	case !held:
		return errTakenOver
	case canceled:
		return errCanceled
	}
	return nil
}

// TurnOver is errTurnOver when a job that has run since a time is to let others
// have its worker.
func TurnOver(ctx context.Context, s *JobService, since time.Time) error {
	if time.Since(since) < s.turn {
		return nil
	}
	_, waits, err := db.One(ctx, s.db.Reader, db.Scalar[string], `SELECT id FROM job WHERE finished_at = 0 AND state = $1 LIMIT 1`, string(JobQueued))
	if err == nil && waits {
		err = errTurnOver
	}
	return err
}

// workOn does one job.
func (s *JobService) workOn(ctx context.Context, job *Job) {
	var done, total atomic.Int64
	done.Store(int64(job.Done))
	total.Store(int64(job.Total))
	var result any
	within := ctx // the job's work, for the log
	why, err := underLease(ctx,
		func(ctx context.Context) error { return s.beat(ctx, job, int(done.Load()), int(total.Load())) },
		func(ctx context.Context) (err error) {
			working, tell := store.StartStep(ctx, store.StepJob+string(job.Kind))
			within = working
			err = db.RecoverPanic(func() (err error) {
				work := s.works[job.Kind]
				if work == nil {
					return fmt.Errorf("this version knows no job of the kind %q", job.Kind)
				}
				result, err = work(s.db.WithThrottle(working), job, func(d, t int) { done.Store(int64(d)); total.Store(int64(t)) })
				return err
			})
			tell(err)
			return err
		})
	ended := func(by error) bool { return errors.Is(why, by) || errors.Is(err, by) }
	canceled, takenOver := ended(errCanceled), ended(errTakenOver)
	job.Done, job.Total = int(done.Load()), int(total.Load())
	switch {
	case err == nil:
		job.State, job.Result = JobSucceeded, store.Encode(result)
	case takenOver:
		s.db.Log.WarnContext(within, "a job goes on elsewhere: this server did not show for some time that it was at it", "job", job.ID, "kind", string(job.Kind))
		return
	case canceled:
		job.State = JobCanceled
	case ctx.Err() != nil, errors.Is(err, errTurnOver):
		job.State = JobQueued // for the next worker
	default:
		job.State, job.Error = JobFailed, s.explainJob(within, job, err)
	}
	if err := s.endJob(context.WithoutCancel(ctx), job); err != nil {
		s.db.Log.ErrorContext(within, "could not tell how a job ended; it will be done again", "job", job.ID, "state", string(job.State), "error", err)
	}
}

// explainJob is what people may read of a failure; what is ours goes to the
// log.
func (s *JobService) explainJob(ctx context.Context, job *Job, err error) string {
	var fault *store.Error
	if errors.As(err, &fault) {
		return fault.Error()
	}
	s.db.Log.ErrorContext(ctx, "a job failed", "job", job.ID, "kind", string(job.Kind), "error", err)
	return "An internal error has occurred."
}

// beat renews the lease of a job, and tells how far it is, unless the job's own
// writes tell that (Keep).
func (s *JobService) beat(ctx context.Context, job *Job, done, total int) error {
	return s.db.Update(ctx, "", func(ctx context.Context, t *db.Tx) error {
		if err := Holds(ctx, t, job); err != nil {
			return err
		}
		_, err := t.Exec(ctx, `UPDATE job SET beat_at = `+s.db.ClockSQL()+`, done = CASE WHEN result = '' THEN $2 ELSE done END, total = $3 WHERE id = $1`, job.ID, done, total)
		return err
	})
}

// Keep writes, in a transaction of a job's work, how far the work is with it: the
// next worker finds the state as the job's result. Only the database knows it
// for certain, for a worker may not hear any more that its write was made.
func Keep(ctx context.Context, t *db.Tx, job *Job, state any, done int) error {
	_, err := t.Exec(ctx, `UPDATE job SET result = $2, done = $3 WHERE id = $1`, job.ID, string(store.Encode(state)), done)
	return err
}

// endJob writes how it ended, unless another worker has it. A job that did not
// come to its end keeps what its writes have told.
func (s *JobService) endJob(ctx context.Context, job *Job) error {
	return s.db.Update(ctx, "", func(ctx context.Context, t *db.Tx) error {
		finished := store.Micros(t.Now)
		if job.State == JobQueued {
			finished = 0
		}
		ended := `finished_at = CASE WHEN CAST($7 AS BIGINT) > 0 THEN ` + t.LaterSQL(`CAST($7 AS BIGINT)`) + ` ELSE 0 END`
		if job.State != JobSucceeded {
			_, err := t.Exec(ctx, `
				UPDATE job SET state = $3, error = $4, done = CASE WHEN result = '' THEN $5 ELSE done END, total = $6, `+ended+`
				WHERE id = $1 AND worker = $2 AND state = $8`,
				job.ID, job.worker, string(job.State), job.Error, job.Done, job.Total, finished, string(JobRunning))
			return err
		}
		_, err := t.Exec(ctx, `
			UPDATE job SET state = $3, error = $4, done = $5, total = $6, `+ended+`, result = $9
			WHERE id = $1 AND worker = $2 AND state = $8`,
			job.ID, job.worker, string(job.State), job.Error, job.Done, job.Total, finished, string(JobRunning), string(job.Result))
		return err
	})
}
