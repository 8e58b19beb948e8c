package shop

import (
	"context"

	"portico/store"
)

// JobWatcher follows a job.
type JobWatcher struct{ *Watcher[*Job] }

// newJobWatch knows the later of two states by what a job only does forwards.
func newJobWatch() *watch[*Job] {
	return newWatch(func(told, known *Job) bool {
		return known.FinishedAt.IsZero() && (told.State != known.State || told.Done != known.Done || told.Total != known.Total || !told.FinishedAt.IsZero())
	})
}

// WatchJob follows a job from a state that was read. All that are watched are
// read with one statement at each look for changes. The watcher must be closed.
func (s *Store) WatchJob(job *Job) *JobWatcher {
	w := &JobWatcher{s.jobWatch.begin([]string{job.ID})}
	w.take(job.ID, job)
	return w
}

// followJobs reads the jobs that are watched.
func (s *Store) followJobs(ctx context.Context) error {
	return store.Chunked(s.jobWatch.watched(), 512, func(ids []string) error {
		list, args := in(nil, ids)
		jobs, err := collect(ctx, s.reader, scanJob, `SELECT `+jobColumns+` FROM job WHERE id IN (`+list+`)`, args...)
		for _, job := range jobs {
			s.jobWatch.tell(job.ID, job)
		}
		return err
	})
}
