package store

import "time"

// Micros is how a time is kept: UTC microseconds since 1970.
func Micros(t time.Time) int64 { return t.UnixMicro() }

// FromMicros is the time that micros kept, in UTC.
func FromMicros(us int64) time.Time { return time.UnixMicro(us).UTC() }

// SinceMicros is FromMicros, but the zero time for none.
func SinceMicros(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return FromMicros(us)
}
