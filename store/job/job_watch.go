package job

import (
	"context"

	"portico/store"
	"portico/store/db"
)

// JobWatcher follows a job.
type JobWatcher struct{ *db.Watcher[*Job] }

// newJobWatch knows the later of two states by what a job only does forwards.
func newJobWatch() *db.Watch[*Job] {
	return db.NewWatch(func(told, known *Job) bool {
		return known.FinishedAt.IsZero() && (told.State != known.State || told.Done != known.Done || told.Total != known.Total || !told.FinishedAt.IsZero())
	})
}

// WatchJob follows a job from a state that was read. All that are watched are
// read with one statement at each look for changes. The watcher must be closed.
func (s *JobService) WatchJob(job *Job) *JobWatcher {
	w := &JobWatcher{s.jobWatch.Begin([]string{job.ID})}
	w.Take(job.ID, job)
	return w
}

// Follow reads the jobs that are watched.
func Follow(ctx context.Context, s *JobService) error {
	return store.Chunked(s.jobWatch.Watched(), 512, func(ids []string) error {
		list, args := db.In(nil, ids)
		jobs, err := db.Collect(ctx, s.db.Reader, scanJob, `SELECT `+jobColumns+` FROM job WHERE id IN (`+list+`)`, args...)
		for _, job := range jobs {
			s.jobWatch.Tell(job.ID, job)
		}
		return err
	})
}
