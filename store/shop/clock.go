package shop

import "time"

// now is the injected clock's time, in UTC, truncated to milliseconds as
// every stored time is.
func (s *Store) now() time.Time { return s.clock().UTC().Truncate(time.Millisecond) }
