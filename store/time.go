package store

import (
	"fmt"
	"strings"
	"time"
)

// ParseTime parses a time that a client sent; INVALID if malformed.
func ParseTime(text string) (time.Time, error) {
	t, err := ReadTime(text)
	if err != nil {
		return t, Invalidf(nil, "%q is not a time; use the form 2012-05-30T00:00:00.000Z.", Abbreviate(text))
	}
	return t, nil
}

// ReadTime parses RFC 3339, or the same without a zone, which means UTC. A date may have
// HH:MM after T or a space, or no time of day. It truncates to milliseconds.
func ReadTime(text string) (time.Time, error) {
	if t, ok := readUsualTime(text); ok {
		return t, nil
	}
	const bare = "2006-01-02T15:04:05.999999999"
	first, second := time.RFC3339Nano, bare
	if len(text) == len("2012-05-30T00:00:00.000") { // the usual form without a zone
		first, second = second, first
	}
	for _, layout := range [...]string{first, second, "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, text); err == nil {
			t = t.UTC().Truncate(time.Millisecond)
			if t.Year() < 1 || t.Year() > 9999 {
				break
			}
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time", text)
}

// readUsualTime is ReadTime for the form of AppendTime, with or without the zone, until the 28th of a
// month, which every month has. ok is false for any other text.
func readUsualTime(text string) (t time.Time, ok bool) {
	const usual = "0000-00-00T00:00:00.000"
	text = strings.TrimSuffix(text, "Z")
	if len(text) != len(usual) {
		return t, false
	}
	for i := range len(usual) {
		if c := text[i]; usual[i] != '0' && c != usual[i] || usual[i] == '0' && (c < '0' || c > '9') {
			return t, false
		}
	}
	number := func(from, until int) (n int) {
		for _, digit := range []byte(text[from:until]) {
			n = 10*n + int(digit-'0')
		}
		return n
	}
	year, month, day, hour, minute, second := number(0, 4), number(5, 7), number(8, 10), number(11, 13), number(14, 16), number(17, 19)
	if year < 1 || month < 1 || month > 12 || day < 1 || day > 28 || hour > 23 || minute > 59 || second > 59 {
		return t, false
	}
	return time.Date(year, time.Month(month), day, hour, minute, second, number(20, 23)*1e6, time.UTC), true
}

// FormatTime formats as RFC 3339 in UTC with milliseconds: 2012-05-30T00:00:00.000Z.
func FormatTime(t time.Time) string { return string(AppendTime(nil, t)) }

// FormatTimeBare is FormatTime without the zone, as /catalog shows times.
func FormatTimeBare(t time.Time) string {
	text := AppendTime(make([]byte, 0, 24), t)
	return string(text[:len(text)-1])
}

// AppendTime appends FormatTime(t). The year must be 0 to 9999.
func AppendTime(dst []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	text := [...]byte{'0', '0', '0', '0', '-', '0', '0', '-', '0', '0', 'T', '0', '0', ':', '0', '0', ':', '0', '0', '.', '0', '0', '0', 'Z'}
	addDigits(text[0:4], year)
	addDigits(text[5:7], int(month))
	addDigits(text[8:10], day)
	addDigits(text[11:13], hour)
	addDigits(text[14:16], minute)
	addDigits(text[17:19], second)
	addDigits(text[20:23], t.Nanosecond()/1e6)
	return append(dst, text[:]...)
}

// addDigits adds the digits of number to zeros, from the last on.
func addDigits(zeros []byte, number int) {
	for i := len(zeros) - 1; number > 0; i, number = i-1, number/10 {
		zeros[i] += byte(number % 10)
	}
}

// StoredTime parses a time that was already checked; the zero time if empty.
func StoredTime(text string) time.Time {
	t, err := ReadTime(text)
	if err != nil {
		return time.Time{}
	}
	return t
}

// Micros is a time as it is stored: microseconds since 1970, UTC.
func Micros(t time.Time) int64 { return t.UnixMicro() }

// FromMicros is the inverse of Micros.
func FromMicros(us int64) time.Time { return time.UnixMicro(us).UTC() }

// OptionalMicros is FromMicros, with the zero time for 0.
func OptionalMicros(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return FromMicros(us)
}
