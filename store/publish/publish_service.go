// Package publish makes releases of what is authored, whole or as a delta of
// one that is served, in bounded memory and short transactions; and sweeps those
// that nobody reads. It may import the words of store, authoring, catalog, db,
// index, job and release.
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
	kept      int  // newest releases of a catalog, for rolling back; 0 is all
	left      func()
}

// PublishConfig says how to publish.
type PublishConfig struct {
	WordBytes int    // memory for the words of products, and as much for what else they are found by; 0 means 64 MiB
	Whole     bool   // publish every release whole, none as a delta
	Kept      int    // how many releases of a catalog are kept for rolling back; 0 is all
	Left      func() // called when a publication left work for the sweep of releases
}

// NewPublishService publishes into a database.
func NewPublishService(d *db.DB, jobs *job.JobService, releases *release.ReleaseService, config PublishConfig) *PublishService {
	return &PublishService{db: d, jobs: jobs, releases: releases, whole: config.Whole, wordBytes: config.WordBytes, kept: config.Kept, left: config.Left}
}
