package model

import (
	"time"

	"portico/store/job"
)

// Job is a background job.
type Job struct{ *job.Job }

// ActorName returns who started it.
func (j *Job) ActorName() string { return string(j.Actor) }

// ErrorText returns what failed, or nil.
func (j *Job) ErrorText() *string {
	if j.Error == "" {
		return nil
	}
	return &j.Error
}

// StartedAt and FinishedAt are nil until it has come to that.

func (j *Job) StartedAt() *time.Time  { return nonZeroTime(j.Job.StartedAt) }
func (j *Job) FinishedAt() *time.Time { return nonZeroTime(j.Job.FinishedAt) }

func nonZeroTime(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}
