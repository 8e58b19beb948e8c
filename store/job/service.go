package job

import (
	"context"

	"portico/store/db"
)

// Service queues and runs the jobs of a database.
type Service struct {
	db       *db.DB
	jobs     chan struct{} // wakes the worker of this process
	works    map[Kind]Work
	quota    Quota
	janitor  func(context.Context) // runs sweeps until its context ends
	jobWatch *db.Notifier[*Job]
}

// NewService returns a service that queues jobs within a quota. Its Work runs janitor in parallel.
func NewService(d *db.DB, quota Quota, janitor func(context.Context)) *Service {
	return &Service{db: d, jobs: make(chan struct{}, 1), works: map[Kind]Work{}, quota: quota.orDefault(), janitor: janitor, jobWatch: newJobWatch()}
}

// SetWork sets what runs the jobs of a kind. Call it before Work.
func (s *Service) SetWork(kind Kind, work Work) { s.works[kind] = work }

// newJobWatch returns a Notifier to which a state that differs is newer, until the job has finished.
func newJobWatch() *db.Notifier[*Job] {
	return db.NewNotifier(func(state, known *Job) bool {
		return known.FinishedAt.IsZero() && (state.State != known.State || state.Done != known.Done || state.Total != known.Total || !state.FinishedAt.IsZero())
	})
}

// Work does a kind of job. It reports progress and returns the job's result.
type Work func(ctx context.Context, job *Job, progress func(done, total int)) (result any, err error)
