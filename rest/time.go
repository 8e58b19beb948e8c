package rest

import (
	"time"

	"portico/store"
)

// catalogTime is a time as it is written under /catalog: in UTC without a zone.
type catalogTime time.Time

// MarshalJSON implements json.Marshaler.
func (t catalogTime) MarshalJSON() ([]byte, error) {
	return time.Time(t).UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000"`), nil
}

// timeOrNull formats a time. It returns nil for nil.
func timeOrNull(t *time.Time) *string {
	if t == nil {
		return nil
	}
	text := store.FormatTime(*t)
	return &text
}

// timeFormat is the format of times outside /catalog, in UTC.
const timeFormat = "2006-01-02T15:04:05.000Z"

// appendTime appends a time with its zone, or null.
func appendTime(dst []byte, t *time.Time) []byte {
	if t == nil {
		return append(dst, "null"...)
	}
	return append(store.AppendTime(append(dst, '"'), *t), '"')
}

// nonZero returns a pointer to t, or nil if t is zero.
func nonZero(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// appendTimestamps appends "timestamps":{…}.
func appendTimestamps(dst []byte, created, updated *time.Time) []byte {
	dst = appendTime(append(dst, `"timestamps":{"created_at":`...), created)
	return append(appendTime(append(dst, `,"updated_at":`...), updated), '}')
}

// timestamps are the times of a resource outside /catalog.
type timestamps struct {
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
}

func newTimestamps(created, updated time.Time) timestamps {
	return timestamps{store.FormatTime(created), store.FormatTime(updated)}
}
