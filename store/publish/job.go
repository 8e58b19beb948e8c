package publish

import (
	"context"
	"encoding/json"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/job"
	"portico/store/release/routing"
	"portico/store/release/segment"
)

// publishInput is what a job of the kind JobPublish is to do.
type publishInput struct {
	CatalogID string `json:"catalog_id"`
	Serve     bool   `json:"serve"`

	// Ends is the hold that the catalog had when the job was made, by
	// release.Hold's Below. A roll-back that comes later holds.
	Ends int64 `json:"ends,omitempty"`
}

// publishResult is what it did.
type publishResult struct {
	ReleaseID int64 `json:"release_id"`
}

// PublishLater has a worker publish a catalog, or preview it. A job that
// waits to do the same is the answer where there is one. NOT_FOUND for an
// unknown catalog.
func (s *PublishService) PublishLater(ctx context.Context, actor store.Actor, catalogID string, serve bool) (*job.Job, error) {
	hold, err := routing.HoldOf(ctx, s.db.Reader, catalogID)
	if err != nil {
		return nil, err
	}
	input := publishInput{CatalogID: catalogID, Serve: serve}
	if serve && hold.Holds() {
		input.Ends = hold.Below
	}
	return job.Enqueue(ctx, s.jobs, actor, job.JobPublish, input, 0, func(ctx context.Context, t *db.Tx) error {
		return catalog.CatalogExists(ctx, t.Session, catalogID)
	})
}

// PublishJob does it. Done again, after a worker was gone, it makes another
// release; what the first began is swept.
func PublishJob(ctx context.Context, s *PublishService, task *job.Job, progress func(done, total int)) (any, error) {
	var input publishInput
	if err := json.Unmarshal(task.Input, &input); err != nil {
		return nil, err
	}
	release, err := s.publish(ctx, task.Actor, input.CatalogID, publication{input.Serve, input.Ends}, progress)
	if err != nil {
		return nil, err
	}
	return publishResult{release.ID}, nil
}

// ReleaseOfJob is the release that a job made; NOT_FOUND when it made none,
// or the release is no longer kept.
func (s *PublishService) ReleaseOfJob(ctx context.Context, task *job.Job) (*segment.Release, error) {
	var result publishResult
	if task.Kind != job.JobPublish || task.State != job.JobSucceeded || json.Unmarshal(task.Result, &result) != nil {
		return nil, store.NotFoundf(nil, "The job has made no release.")
	}
	return segment.KeptRelease(ctx, s.db.Reader, result.ReleaseID)
}
