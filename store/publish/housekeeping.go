package publish

import (
	"context"
	"time"

	"portico/store"
	"portico/store/db"
)

// SweepOfReleases is the name of the sweep of SweepReleases.
const SweepOfReleases = "releases"

// SweepReleases returns the sweep that makes bases for later deltas (makeBases), and then deletes releases that nobody reads
// any more. Only the latter count as due.
func (s *Service) SweepReleases(actor store.Actor, every time.Duration) db.Sweep {
	return db.Sweep{
		Name: SweepOfReleases, Every: every,
		Run: func(ctx context.Context) error {
			if err := s.makeBases(ctx, actor); err != nil {
				return err
			}
			return s.sweepReleases(ctx, actor)
		},
		CountDue: func(ctx context.Context, most int) (int, error) {
			dead, err := s.deadReleases(ctx)
			return min(len(dead), most), err
		},
	}
}
