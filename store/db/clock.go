package db

import "time"

// Now is the injected clock's time, in UTC, truncated to milliseconds as
// every stored time is.
func (s *DB) Now() time.Time { return s.clock().UTC().Truncate(time.Millisecond) }
