package publish

import (
	"portico/store/db"
	"portico/store/job"
	"portico/store/release"
)

// PublishService makes releases of what is authored, and sweeps those that
// nobody reads.
type PublishService struct {
	db        *db.DB
	jobs      *job.JobService
	releases  *release.ReleaseService
	whole     bool // publish every release whole, none as a delta
	wordBytes int  // memory for words while publishing; 0 is the default
}

// NewPublishService publishes into a database. wordBytes is the memory for the
// words of products, and as much for what else they are found by; 0 is 64 MiB.
// With whole no release is a delta.
func NewPublishService(d *db.DB, jobs *job.JobService, releases *release.ReleaseService, wordBytes int, whole bool) *PublishService {
	return &PublishService{db: d, jobs: jobs, releases: releases, whole: whole, wordBytes: wordBytes}
}
