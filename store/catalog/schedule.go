package catalog

import (
	"time"

	"portico/store"
	"portico/store/authoring"
)

// scheduleSource is the time in which a price, sale or rule applies, as in import files: from ValidFrom
// until just before ValidTo. An empty time is open; From and To return 0 for it.
type scheduleSource struct {
	ValidFrom string `json:"valid_from,omitempty"`
	ValidTo   string `json:"valid_to,omitempty"`
}

// From returns when it begins, in microseconds.
func (s *scheduleSource) From() int64 { return scheduleMicros(s.ValidFrom) }

// To returns when it ends, in microseconds.
func (s *scheduleSource) To() int64 { return scheduleMicros(s.ValidTo) }

// timeOrNil returns a stored time; nil if it is empty.
func timeOrNil(text string) *time.Time {
	if text == "" {
		return nil
	}
	return new(store.StoredTime(text))
}

// scheduleMicros returns a time in microseconds; 0 if it is empty.
func scheduleMicros(text string) int64 {
	if text == "" {
		return 0
	}
	return store.Micros(store.StoredTime(text))
}

func (s *scheduleSource) check(f *authoring.Validator, member string) {
	f.Time(member+".valid_from", &s.ValidFrom)
	f.Time(member+".valid_to", &s.ValidTo)
	if s.ValidFrom != "" && s.ValidTo != "" && s.ValidTo <= s.ValidFrom {
		f.Add(member+".valid_to", "must be after the schedule's start, %s, got %s", s.ValidFrom, s.ValidTo)
	}
}
