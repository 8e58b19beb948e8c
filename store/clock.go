package store

import "time"

// micros is how a time is kept: UTC microseconds since 1970.
func micros(t time.Time) int64 { return t.UnixMicro() }

// fromMicros is the time that micros kept, in UTC.
func fromMicros(us int64) time.Time { return time.UnixMicro(us).UTC() }

// now is the injected clock's time, in UTC, truncated to milliseconds as
// every stored time is.
func (s *Store) now() time.Time { return s.clock().UTC().Truncate(time.Millisecond) }

// sinceMicros is fromMicros, but the zero time for none.
func sinceMicros(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return fromMicros(us)
}
