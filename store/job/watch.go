package job

import (
	"context"

	"portico/store/db"
)

// Watcher is a subscription to a job.
type Watcher struct{ *db.Subscription[*Job] }

// Watch subscribes to a job, starting with the given state. Each poll reads all watched
// jobs with one statement. Close the watcher when done.
func (s *Service) Watch(job *Job) *Watcher {
	w := &Watcher{s.jobWatch.Subscribe([]string{job.ID})}
	w.Offer(job.ID, job)
	return w
}

// Watched reports whether somebody watches a job.
func (s *Service) Watched() bool { return s.jobWatch.Subscribed() }

// Follow wakes a worker if jobs wait, and reads the watched jobs.
func (s *Service) Follow(ctx context.Context, waiting bool) error {
	if waiting {
		s.wakeWorker()
	}
	jobs, err := db.CollectIn(ctx, s.db.Reader, scanJob, s.jobWatch.SubscribedIDs(), `SELECT `+jobColumns+` FROM job WHERE id IN ($in)`)
	for _, job := range jobs {
		s.jobWatch.Publish(job.ID, job)
	}
	return err
}
