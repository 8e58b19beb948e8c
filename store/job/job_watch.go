package job

import (
	"context"

	"portico/store"
	"portico/store/db"
)

// JobWatcher follows a job.
type JobWatcher struct{ *db.Subscription[*Job] }

// newJobWatch knows the later of two states by what a job only does forwards.
func newJobWatch() *db.Notifier[*Job] {
	return db.NewNotifier(func(told, known *Job) bool {
		return known.FinishedAt.IsZero() && (told.State != known.State || told.Done != known.Done || told.Total != known.Total || !told.FinishedAt.IsZero())
	})
}

// WatchJob follows a job from a state that was read. All that are watched are
// read with one statement at each look for changes. The watcher must be closed.
func (s *JobService) WatchJob(job *Job) *JobWatcher {
	w := &JobWatcher{s.jobWatch.Subscribe([]string{job.ID})}
	w.Offer(job.ID, job)
	return w
}

// Follow reads the jobs that are watched.
func Follow(ctx context.Context, s *JobService) error {
	return store.Chunked(s.jobWatch.SubscribedIDs(), 512, func(ids []string) error {
		list, args := db.InList(nil, ids)
		jobs, err := db.Collect(ctx, s.db.Reader, scanJob, `SELECT `+jobColumns+` FROM job WHERE id IN (`+list+`)`, args...)
		for _, job := range jobs {
			s.jobWatch.Publish(job.ID, job)
		}
		return err
	})
}
