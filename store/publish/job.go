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

// publishInput is the input of a job of the kind JobPublish.
type publishInput struct {
	CatalogID string `json:"catalog_id"`
	Serve     bool   `json:"serve"`

	// Ends is Hold.Below of the hold that the catalog had when the job was
	// made. A later roll-back still holds.
	Ends int64 `json:"ends,omitempty"`
}

// publishResult is its result.
type publishResult struct {
	ReleaseID int64 `json:"release_id"`
}

// PublishLater enqueues a job that publishes a catalog, or previews it. It returns
// a queued job that does the same if there is one. NOT_FOUND for an unknown
// catalog.
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

// PublishJob runs such a job. A job that runs again after its worker died makes
// another release; the sweep deletes the unfinished one.
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

// ReleaseOfJob returns the release that a job made; NOT_FOUND when it made none,
// or when the release is no longer kept.
func (s *PublishService) ReleaseOfJob(ctx context.Context, task *job.Job) (*segment.Release, error) {
	var result publishResult
	if task.Kind != job.JobPublish || task.State != job.JobSucceeded || json.Unmarshal(task.Result, &result) != nil {
		return nil, store.NotFoundf(nil, "The job has made no release.")
	}
	return segment.KeptRelease(ctx, s.db.Reader, result.ReleaseID)
}
