package db

import (
	"context"

	"portico/store/db/dialect"
)

// openStandby connects to the standby of Config.ReadURL, if there is one. A standby that
// does not respond is no error.
func (s *DB) openStandby(ctx context.Context) error {
	if s.config.ReadURL == "" {
		return nil
	}
	pool, err := s.dialect.OpenStandby(ctx, s.connection, s.pools.Identity)
	if err != nil {
		return err
	}
	s.pools.Stats = append(s.pools.Stats, pool.Stats)
	s.standby = &standby{StandbyPool: pool, classify: s.dialect.Classify, lostConnection: s.lostConnection, log: s.Log, suspected: make(chan struct{}, 1)}
	s.standby.check = func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, dialect.StandbyTimeout)
		defer cancel()
		identity, _, err := One(ctx, Session{conn: pool.DB}, Scalar[string], `SELECT `+s.pools.Identity())
		if err == nil && identity != s.identityGuard.known() {
			err = dialect.ErrNotStandby
		}
		return err
	}
	if err := s.standby.check(ctx); err != nil {
		s.standby.logLost(err)
		s.standby.suspect()
	} else {
		s.standby.usable.Store(true)
	}
	s.Go(s.standby.watch)
	return nil
}

// ReleaseReader returns a session for the rows of a published release. It reads them from
// the standby, if there is one that has replayed the release, else from the primary.
func (s *DB) ReleaseReader(release ReleaseIdentity) Session {
	in := s.Reader
	in.standby, in.release = s.standby, release
	return in
}

// StandbyStats says how releases are read from the standby.
type StandbyStats struct {
	Lost  bool             // there is a standby, and it cannot be read
	Reads map[string]int64 // queries by result: read, behind, failed or lost. All but read went to the primary
}

// StandbyStats returns zeros if there is no standby. It does not query the database.
func (s *DB) StandbyStats() StandbyStats {
	stats := StandbyStats{Lost: s.standby != nil && !s.standby.usable.Load(), Reads: map[string]int64{}}
	for i, result := range standbyResults {
		stats.Reads[result] = 0
		if s.standby != nil {
			stats.Reads[result] = s.standby.reads[i].Load()
		}
	}
	return stats
}
