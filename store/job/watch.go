package job

import (
	"context"

	"portico/store/db"
)

// JobWatcher is a subscription to a job.
type JobWatcher struct{ *db.Subscription[*Job] }

// WatchJob subscribes to a job, starting with the given state. Each poll reads all watched
// jobs with one statement. Close the watcher when done.
func (s *JobService) WatchJob(job *Job) *JobWatcher {
	w := &JobWatcher{s.jobWatch.Subscribe([]string{job.ID})}
	w.Offer(job.ID, job)
	return w
}

// Follow reads the watched jobs.
func Follow(ctx context.Context, s *JobService) error {
	jobs, err := db.CollectIn(ctx, s.db.Reader, scanJob, s.jobWatch.SubscribedIDs(), `SELECT `+jobColumns+` FROM job WHERE id IN ($in)`)
	for _, job := range jobs {
		s.jobWatch.Publish(job.ID, job)
	}
	return err
}
