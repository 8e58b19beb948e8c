package routing

import (
	"context"
	"maps"
	"time"

	"portico/internal/dependency"
	"portico/store/db"
	"portico/store/release/segment"
)

// warmer fills the caches of this process for a release before a catalog serves it.
type warmer struct {
	limit time.Duration
	warm  func(ctx context.Context)
}

// SetWarmer sets a function that fills the caches of this process for a release before a catalog serves it. warm reads
// what shoppers read most, in a context in which Table returns the next table, and handles its errors. It delays
// the switch by at most limit.
func (r *Router) SetWarmer(limit time.Duration, warm func(ctx context.Context)) {
	r.warmer.Store(&warmer{limit, warm})
}

// Warms reports whether there is such a function.
func (r *Router) Warms() bool { return r.warmer.Load() != nil }

type nextKey struct{}

// NextTable returns the table that will be current next, which Table returns in the context of a warm-up; nil in
// any other context.
func NextTable(ctx context.Context) *Table {
	next, _ := ctx.Value(nextKey{}).(*Table)
	return next
}

// WarmWritten warms for the releases that another process made catalogs serve, before this process sees it. It returns
// false if there are none.
func (r *Router) WarmWritten(ctx context.Context) bool {
	return r.Warms() && r.warm(ctx, func(ctx context.Context) (*Table, error) {
		next, err := r.readTable(ctx)
		if err != nil {
			return nil, err
		}
		return next, r.stateNext(ctx, next, func(ctx context.Context, from, to *segment.Release) (*dependency.Changes, error) {
			return segment.ChangesBetween(ctx, r.db.Reader, to.CatalogID, from.ID, to.ID)
		})
	})
}

// WarmRelease warms for a release before this process makes its catalog serve it. changes is what differs from the
// release that is served now; nil if the database has it. Of the release, PublishedAt must be final.
func (r *Router) WarmRelease(ctx context.Context, release *segment.Release, changes *dependency.Changes) {
	if !r.Warms() {
		return
	}
	r.warm(ctx, func(ctx context.Context) (*Table, error) {
		current, err := r.Table(ctx)
		if err != nil || current.releases[release.CatalogID] == nil {
			return nil, err // the first release of a catalog: nobody has read it
		}
		next := *current
		next.unpublished = true
		next.releases = maps.Clone(current.releases)
		next.releases[release.CatalogID] = release
		next.catalogs = make([]catalogEntry, len(current.catalogs))
		for i, c := range current.catalogs {
			if c.source.ID == release.CatalogID {
				c.release = release
			}
			next.catalogs[i] = c
		}
		return &next, r.stateNext(ctx, &next, func(ctx context.Context, from, to *segment.Release) (*dependency.Changes, error) {
			if changes != nil {
				return changes, nil
			}
			return segment.ChangesBetween(ctx, r.db.Reader, to.CatalogID, from.ID, to.ID)
		})
	})
}

// stateNext sets the states of a table that is not current yet.
func (r *Router) stateNext(ctx context.Context, next *Table, between comparer) (err error) {
	next.states, next.before, err = r.histories.prepare(ctx, r.db.Epoch(), next.releases, between)
	return err
}

// warm calls the function of SetWarmer if the next table serves another release, within its limit. The work counts as a job's. Of
// its context it takes the end alone, for it may belong to a request.
func (r *Router) warm(ctx context.Context, read func(context.Context) (*Table, error)) bool {
	set := r.warmer.Load() // not nil
	own, cancel := context.WithTimeout(r.db.WithThrottle(context.Background()), set.limit)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	ctx = own
	next, err := read(ctx)
	if err != nil {
		r.db.Log.Debug("could not prepare for a release before it is served", "error", err)
		return false
	}
	if next == nil || len(next.before) == 0 {
		return false
	}
	set.warm(context.WithValue(ctx, nextKey{}, next))
	return true
}

// Pause pauses a warm-up while requests wait.
func (r *Router) Pause(ctx context.Context) { db.Throttle(ctx) }
