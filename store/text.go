package store

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// CleanText tells whether both engines can keep the text as it is.
func CleanText(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

// ParseTime reads a time as callers write it; INVALID when it is none.
func ParseTime(text string) (time.Time, error) {
	t, err := ReadTime(text)
	if err != nil {
		return t, Invalidf(nil, "%q is no time; write it as 2012-05-30T00:00:00.000Z.", Short(text))
	}
	return t, nil
}

// ReadTime reads RFC 3339 or, as the contract shows times, the same without
// a zone, which means UTC; a date may be followed by HH:MM after T or a space,
// or by nothing. It truncates to milliseconds.
func ReadTime(text string) (time.Time, error) {
	const bare = "2006-01-02T15:04:05.999999999"
	first, second := time.RFC3339Nano, bare
	if len(text) == len("2012-05-30T00:00:00.000") { // as the contract shows times: no zone has that length
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
	return time.Time{}, fmt.Errorf("%q is no time", text)
}

// FormatTime is RFC 3339 in UTC with milliseconds: 2012-05-30T00:00:00.000Z.
func FormatTime(t time.Time) string { return string(AppendTime(nil, t)) }

// FormatTimeBare is FormatTime without the zone, as the contract shows times
// under /catalog.
func FormatTimeBare(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000") }

// AppendTime appends a moment as it is shown: in UTC, with milliseconds and a
// Z. Years are 0 to 9999, as dates are written.
func AppendTime(dst []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	dst = appendDigits(dst, year, 4)
	dst = appendDigits(append(dst, '-'), int(month), 2)
	dst = appendDigits(append(dst, '-'), day, 2)
	dst = appendDigits(append(dst, 'T'), hour, 2)
	dst = appendDigits(append(dst, ':'), minute, 2)
	dst = appendDigits(append(dst, ':'), second, 2)
	dst = appendDigits(append(dst, '.'), t.Nanosecond()/1e6, 3)
	return append(dst, 'Z')
}

// appendDigits appends the last n digits of a number.
func appendDigits(dst []byte, number, n int) []byte {
	mark := len(dst)
	for range n {
		dst = append(dst, '0')
	}
	for i := mark + n - 1; i >= mark; i, number = i-1, number/10 {
		dst[i] = byte('0' + number%10)
	}
	return dst
}

// Short keeps a message readable whatever it quotes.
func Short(text string) string {
	if len(text) > 40 {
		return strings.ToValidUTF8(text[:40], "") + "…"
	}
	return text
}

// CheckedTime reads a time that check made canonical; the zero time where
// there is none.
func CheckedTime(text string) time.Time {
	t, err := ReadTime(text)
	if err != nil {
		return time.Time{}
	}
	return t
}

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
