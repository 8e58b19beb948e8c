package model

import (
	"time"

	"portico/store/job"
)

// Job is a background job.
type Job struct{ *job.Job }

// ActorName returns who started it.
func (j *Job) ActorName() string { return string(j.Actor) }

// ErrorText returns the error, or nil.
func (j *Job) ErrorText() *string {
	if j.Error == "" {
		return nil
	}
	return &j.Error
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
