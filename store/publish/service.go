// Package publish makes releases of what is authored, whole or as a delta of
// one that is served, in bounded memory and short transactions; and sweeps those
// that nobody reads. It may import the words of store, authoring, catalog, db,
// index, job and release.
package publish

import (
	"time"

	"portico/store"
	"portico/store/db"
	"portico/store/job"
	"portico/store/release"
	"portico/store/release/routing"
)

func ignoreNotFound(err error) error {
	if store.HasCode(err, store.NotFound) {
		return nil
	}
	return err
}

// PublishProgress is told how far a publication is.
type PublishProgress func(done, total int)

// publishBatch is how many products are written in one transaction.
const publishBatch = 1000

// publication says what becomes of a release that is made.
type publication struct {
	serve bool
	ends  int64 // the hold that it ends, by release.Hold's Below; 0 for none
}

// may tells whether a catalog with this hold is published; a *release.HeldError if not.
func (p publication) may(hold routing.Hold) error {
	if p.serve && hold.Holds() && hold.Below != p.ends {
		return &routing.HeldError{Hold: hold}
	}
	return nil
}

// errSwept says that a build was taken for dead.
var errSwept = &store.Error{Code: store.Conflict, Detail: "The release was swept while it was built, because it had not moved for long; publish again."}

const (
	releaseRemembered = time.Hour   // since a release was served, for those who page through it
	releasesMost      = 20          // of a catalog, however many were served of late
	buildingStale     = time.Minute // without a sign of life, a build is dead
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
