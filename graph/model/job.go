package model

import (
	"time"

	"portico/store"
	"portico/store/job"
	"portico/store/publish"
	"portico/store/publish/compare"
)

// Job is a background job.
type Job struct{ *job.Job }

// ActorName returns who started it.
func (j *Job) ActorName() string { return string(j.Actor) }

// ErrorText returns the error, or nil.
func (j *Job) ErrorText() *string {
	return store.NonEmpty(j.Error)
}

// RunAt returns when a scheduled job starts, or nil.
func (j *Job) RunAt() *time.Time { return NonZeroTime(j.Job.RunAt) }

// CatalogUUID returns the catalog that it publishes, or nil.
func (j *Job) CatalogUUID() *string { return store.NonEmpty(publish.CatalogOfJob(j.Job)) }

// LabelText returns the label of the release that it makes, or nil.
func (j *Job) LabelText() *string { return store.NonEmpty(publish.NotesOfJob(j.Job).Label) }

// Diff returns what a dry run found, or nil.
func (j *Job) Diff() (*compare.DifferenceSummary, error) {
	found, err := publish.DifferencesOfJob(j.Job)
	return ReleaseDiff(found), err
}

// ReleaseDiff returns differences with members as the inputs of mutations have them; nil for nil.
func ReleaseDiff(found *compare.DifferenceSummary) *compare.DifferenceSummary {
	if found != nil {
		for _, change := range found.Changes {
			for i, m := range change.Members {
				change.Members[i] = ShownChange(string(change.Kind), m)
			}
		}
	}
	return found
}

// StartedAt returns when the job started, or nil.
func (j *Job) StartedAt() *time.Time { return NonZeroTime(j.Job.StartedAt) }

// FinishedAt returns when the job finished, or nil.
func (j *Job) FinishedAt() *time.Time { return NonZeroTime(j.Job.FinishedAt) }

// NonZeroTime returns a pointer to a time, or nil for the zero time.
func NonZeroTime(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}
