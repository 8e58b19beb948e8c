package dialect

import (
	"context"
	"errors"
	"time"
)

// StandbyTimeout limits a query on a standby with its connection. The primary is read after it.
const StandbyTimeout = 2 * time.Second

// What is wrong with a standby.
var (
	ErrNotReplayed = errors.New("the standby has not replayed the release")
	ErrNotStandby  = errors.New("it does not replicate the database that --database-url names")
)

// wantedReleaseKey is the context key of the WantedRelease that a query reads, for which the pool
// checks the connection.
type wantedReleaseKey struct{}

// WithRelease returns a context whose queries run only on a connection that has replayed a release, and else
// return ErrNotReplayed or ErrNotStandby.
func WithRelease(ctx context.Context, wanted WantedRelease) context.Context {
	return context.WithValue(ctx, wantedReleaseKey{}, wanted)
}

// ReleaseOf returns the release of WithRelease.
func ReleaseOf(ctx context.Context) (wanted WantedRelease, ok bool) {
	wanted, ok = ctx.Value(wantedReleaseKey{}).(WantedRelease)
	return wanted, ok
}

// WantedRelease is a release of the database. After the database was replaced, its Phase differs, so that what seenReleases has
// is not believed.
type WantedRelease struct {
	Number    int64
	Published int64  // microseconds
	Identity  string // of the primary
	Phase     int64  // of the identityGuard of store/db
}
