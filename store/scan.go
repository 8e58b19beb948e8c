package store

import (
	"bytes"
	"strconv"
)

// scan reads JSON that this package has written itself, member by member in
// the order in which they were written: many times as fast as encoding/json,
// which looks at everything twice. Anything unexpected, such as an escaped
// character or the order of an early release, fails it for good; then
// encoding/json is to read.
type scan struct {
	left   []byte
	failed bool
}

// skip passes over text that must be there.
func (s *scan) skip(text string) {
	if !s.has(text) {
		s.failed = true
	}
}

// has passes over text that may be there, and tells whether it was.
func (s *scan) has(text string) bool {
	if s.failed || len(s.left) < len(text) || string(s.left[:len(text)]) != text {
		return false
	}
	s.left = s.left[len(text):]
	return true
}

// text is what stands before the next quotation mark, which it passes over.
func (s *scan) text() string {
	end := bytes.IndexByte(s.left, '"')
	if s.failed || end < 0 || bytes.IndexByte(s.left[:end], '\\') >= 0 {
		s.failed = true
		return ""
	}
	text := string(s.left[:end])
	s.left = s.left[end+1:]
	return text
}

// number is a whole number, none of more than nine digits.
func (s *scan) number() int {
	end := 0
	for end < len(s.left) && end < 10 && '0' <= s.left[end] && s.left[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(string(s.left[:end]))
	if s.failed || err != nil || end == 10 {
		s.failed = true
		return 0
	}
	s.left = s.left[end:]
	return n
}

// boolean is true or false.
func (s *scan) boolean() bool {
	if s.has("true") {
		return true
	}
	s.skip("false")
	return false
}

// list calls item for each item of an array, whose opening bracket was
// passed over.
func (s *scan) list(item func()) {
	if s.has("]") {
		return
	}
	for !s.failed {
		item()
		if s.has("]") {
			return
		}
		s.skip(",")
	}
}
