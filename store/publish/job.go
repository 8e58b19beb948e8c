package publish

import (
	"context"
	"encoding/json"
	"time"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/job"
	"portico/store/publish/compare"
	"portico/store/release/routing"
	"portico/store/release/segment"
)

// publishInput is the input of a job of the kinds JobPublish and JobPublishDryRun.
type publishInput struct {
	CatalogID string `json:"catalog_id"`
	Serve     bool   `json:"serve"`
	ReleaseNotes

	// Ends is Hold.Below of the hold that the catalog had when the job was
	// made. A later roll-back still holds.
	Ends int64 `json:"ends,omitempty"`
}

// publishResult is the result of a job of the kind JobPublish.
type publishResult struct {
	ReleaseID int64 `json:"release_id"`
}

// PublicationRequest is how to publish a catalog by a job.
type PublicationRequest struct {
	Serve bool // serve the release; otherwise it is a preview
	Notes ReleaseNotes

	// At is when the job starts; the zero time is at once. It publishes what is authored then. If the catalog is rolled
	// back after the request and before the job starts, the job fails: a roll-back stays until somebody publishes
	// who knows of it. A request for a catalog that is rolled back already ends that.
	At time.Time

	// DryRun makes a job that returns what the publication would change (DifferencesOfJob), and publishes nothing.
	DryRun bool
}

// maxAhead is how long before its time a publication can be scheduled. The texts below say it in days.
const maxAhead = 366 * 24 * time.Hour

// check returns the UNPROCESSABLE errors of RequestPublication.
func (r PublicationRequest) check(now time.Time) error {
	switch {
	case r.DryRun && !r.At.IsZero():
		return store.Unprocessablef([]string{"at"}, "must be null in a dry run, which says what a publication would change now")
	case r.DryRun && r.Notes != (ReleaseNotes{}):
		return store.Unprocessablef([]string{"label"}, "must be null in a dry run, and so must note: no release is made")
	case !r.At.IsZero() && !r.At.After(now):
		return store.Unprocessablef([]string{"at"}, "must be in the future, got %s; it is %s now. Leave it out to publish at once.", store.FormatTime(r.At), store.FormatTime(now))
	case r.At.After(now.Add(maxAhead)):
		return store.Unprocessablef([]string{"at"}, "must be at most 366 days from now, got %s", store.FormatTime(r.At))
	}
	return r.Notes.check()
}

// PublishLater enqueues a job that publishes a catalog, or previews it. It returns
// a queued job that does the same if there is one. NOT_FOUND for an unknown
// catalog.
func (s *Service) PublishLater(ctx context.Context, actor store.Actor, catalogID string, serve bool) (*job.Job, error) {
	return s.RequestPublication(ctx, actor, catalogID, PublicationRequest{Serve: serve})
}

// RequestPublication is PublishLater with a time, notes, or as a dry run. UNPROCESSABLE for a time that has passed or is more
// than 366 days ahead, and for notes that are too long.
func (s *Service) RequestPublication(ctx context.Context, actor store.Actor, catalogID string, request PublicationRequest) (*job.Job, error) {
	if err := request.check(s.db.Now()); err != nil {
		return nil, err
	}
	hold, err := routing.HoldOf(ctx, s.db.Reader, catalogID)
	if err != nil {
		return nil, err
	}
	input, kind := publishInput{CatalogID: catalogID, Serve: request.Serve, ReleaseNotes: request.Notes}, job.Publish
	if request.DryRun {
		input, kind = publishInput{CatalogID: catalogID}, job.PublishDryRun
	} else if request.Serve && hold.Holds() {
		input.Ends = hold.Below
	}
	return s.jobs.Schedule(ctx, actor, kind, input, 0, request.At, func(ctx context.Context, t *db.Tx) error {
		return catalog.CatalogExists(ctx, t.Session, catalogID)
	})
}

// RunPublication runs a job of the kind JobPublish. A job that runs again after its worker died makes
// another release; the sweep deletes the unfinished one.
func (s *Service) RunPublication(ctx context.Context, task *job.Job, progress func(done, total int)) (any, error) {
	var input publishInput
	if err := json.Unmarshal(task.Input, &input); err != nil {
		return nil, err
	}
	release, err := s.publish(ctx, task.Actor, input.CatalogID, publication{serve: input.Serve, ends: input.Ends, notes: input.ReleaseNotes}, progress)
	if err != nil {
		return nil, err
	}
	unpriced, _ := s.releases.Unpriced(ctx) // an error cannot undo the publication
	for _, name := range unpriced {
		s.db.Log.WarnContext(ctx, "shoppers see no price in a catalog", "catalog", name)
	}
	return publishResult{release.ID}, nil
}

// RunDryRun runs a job of the kind JobPublishDryRun.
func (s *Service) RunDryRun(ctx context.Context, task *job.Job, progress func(done, total int)) (any, error) {
	var input publishInput
	if err := json.Unmarshal(task.Input, &input); err != nil {
		return nil, err
	}
	found, err := s.DryRun(ctx, input.CatalogID, compare.MaxSummarized, progress)
	if err != nil {
		return nil, err
	}
	return found.Summary(), nil
}

// ReleaseOfJob returns the release that a job made; NOT_FOUND when it made none,
// or when the release is no longer kept.
func (s *Service) ReleaseOfJob(ctx context.Context, task *job.Job) (*segment.Release, error) {
	var result publishResult
	if task.Kind != job.Publish || task.State != job.Succeeded || json.Unmarshal(task.Result, &result) != nil {
		return nil, store.NotFoundf(nil, "The job has made no release.")
	}
	return segment.KeptRelease(ctx, s.db.Reader, result.ReleaseID)
}

// DifferencesOfJob returns what a dry run found; nil for another job, and until it is done.
func DifferencesOfJob(task *job.Job) (*compare.DifferenceSummary, error) {
	if task.Kind != job.PublishDryRun || task.State != job.Succeeded {
		return nil, nil
	}
	found := &compare.DifferenceSummary{}
	return found, json.Unmarshal(task.Result, found)
}

// CatalogOfJob returns the id of the catalog that a job publishes; empty for another job.
func CatalogOfJob(task *job.Job) string {
	var input publishInput
	if task.Kind != job.Publish && task.Kind != job.PublishDryRun || json.Unmarshal(task.Input, &input) != nil {
		return ""
	}
	return input.CatalogID
}

// NotesOfJob returns the notes for the release that a job makes.
func NotesOfJob(task *job.Job) ReleaseNotes {
	var input publishInput
	if json.Unmarshal(task.Input, &input) != nil {
		return ReleaseNotes{}
	}
	return input.ReleaseNotes
}
