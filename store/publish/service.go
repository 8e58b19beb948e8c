// Package publish makes releases of the authored catalogs, whole or as a delta of
// the served one, in bounded memory and short transactions, and deletes releases
// that nobody reads. A publicationPlan says what a release will hold, a
// releaseWriter writes it, and Service runs both. It must not import shop.
package publish

import (
	"cmp"
	"time"

	"portico/store"
	"portico/store/db"
	"portico/store/job"
	"portico/store/release"
	"portico/store/release/routing"
)

// ignoreNotFound returns nil for NOT_FOUND, else err.
func ignoreNotFound(err error) error {
	if store.HasCode(err, store.NotFound) {
		return nil
	}
	return err
}

// Progress is called with the number of products written, and the total.
type Progress func(done, total int)

// publishBatch is the number of products written in one transaction.
const publishBatch = 1000

// publication is what to do with the new release.
type publication struct {
	serve bool
	ends  int64 // Hold.Below of the hold that it ends; 0 for none, or anyHold
	notes ReleaseNotes

	// publish and makeBases set these.
	base   bool // a base for later deltas, which is never shown; serve is false then
	onBase bool // a delta is put upon the base, whatever is between
	whole  bool // no delta
}

// anyHold ends the hold that the catalog has when the publication begins.
const anyHold = -1

// may returns a *routing.HeldError if the catalog's hold forbids the publication.
func (p publication) may(hold routing.Hold) error {
	if p.serve && hold.Holds() && hold.Below != p.ends {
		return &routing.HeldError{Hold: hold}
	}
	return nil
}

// errSwept is returned when a sweep deleted the release while it was built.
var errSwept = &store.Error{Code: store.Conflict, Detail: "The release was deleted while it was built, because it showed no progress for a minute. Publish again."}

const (
	releaseRemembered = time.Hour   // how long a release is kept after it was served, for clients that page through it
	releasesMost      = 20          // releases kept of a catalog, however many were served in that time
	buildingStale     = time.Minute // a build without progress for so long is dead
)

// Service publishes catalogs, and sweeps releases.
type Service struct {
	db        *db.DB
	jobs      *job.Service
	releases  *release.Service
	whole     bool   // no deltas
	wordBytes int    // memory for words; 0 is the default
	kept      int    // newest releases of a catalog; 0 is all
	factor    int    // layerFactor
	left      func() // Config.Left
}

// Config configures a Service.
type Config struct {
	WordBytes int    // memory for the words of products, and as much again for the other indexes; 0 means 64 MiB
	Whole     bool   // publish whole releases, no deltas
	Kept      int    // releases of a catalog to keep for rolling back; 0 is all
	Factor    int    // of the sizes of layers, for tests; 0 means 4, and a negative one that deltas are always put upon the served release
	Left      func() // called when a publication leaves work for SweepReleases; never nil
}

// NewService returns a service for a database.
func NewService(d *db.DB, jobs *job.Service, releases *release.Service, config Config) *Service {
	return &Service{db: d, jobs: jobs, releases: releases, whole: config.Whole, wordBytes: config.WordBytes, kept: config.Kept, factor: cmp.Or(config.Factor, layerFactor), left: config.Left}
}
