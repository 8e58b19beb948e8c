package shop

import (
	"bytes"
	"encoding/json"
	"portico/store"
	"strconv"
	"time"
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

// text is a string whose opening quotation mark was passed over.
func (s *scan) text() string {
	end := bytes.IndexByte(s.left, '"')
	if s.failed || end < 0 {
		s.failed = true
		return ""
	}
	if bytes.IndexByte(s.left[:end], '\\') >= 0 {
		return s.escaped()
	}
	text := string(s.left[:end])
	s.left = s.left[end+1:]
	return text
}

// escaped is a text with escaped characters, which encoding/json knows.
func (s *scan) escaped() (text string) {
	for end := 0; end < len(s.left); end++ {
		switch s.left[end] {
		case '\\':
			end++
		case '"':
			s.failed = json.Unmarshal(append(append([]byte{'"'}, s.left[:end]...), '"'), &text) != nil
			s.left = s.left[end+1:]
			return text
		}
	}
	s.failed = true
	return ""
}

// member is the text of a member whose name must come next.
func (s *scan) member(name string) string {
	s.skip(name)
	s.skip(`"`)
	return s.text()
}

// texts is an array of strings of a member whose name must come next.
func (s *scan) texts(name string) []string {
	s.skip(name)
	s.skip(`[`)
	texts := []string{}
	s.list(func() {
		s.skip(`"`)
		texts = append(texts, s.text())
	})
	return texts
}

// raw is the value, of any kind, of a member whose name must come next, as it
// stands there.
func (s *scan) raw(name string) json.RawMessage {
	s.skip(name)
	depth, quoted := 0, false
	for at := 0; at < len(s.left) && !s.failed; at++ {
		c := s.left[at]
		switch {
		case quoted && c == '\\':
			at++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			depth++
		case depth == 0 && (c == ',' || c == '}' || c == ']'): // behind a value that is no object and no array
			value := s.left[:at]
			s.left = s.left[at:]
			return value
		case c == '}', c == ']':
			if depth--; depth == 0 {
				value := s.left[:at+1]
				s.left = s.left[at+1:]
				return value
			}
		}
	}
	s.failed = true
	return nil
}

// rest has encoding/json read the value of a member whose name must come next;
// an empty one it is spared.
func (s *scan) rest(name string, empty string, into any) {
	value := s.raw(name)
	if !s.failed && string(value) != empty {
		s.failed = json.Unmarshal(value, into) != nil
	}
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

// time is a time of the contract's, of a member whose name must come next.
func (s *scan) time(name string) (t bareTimestamp) {
	text := s.member(name)
	s.failed = s.failed || t.UnmarshalText([]byte(text)) != nil
	return t
}

// bareTimestamp reads the contract's times without a zone, which are UTC.
type bareTimestamp time.Time

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *bareTimestamp) UnmarshalText(text []byte) error {
	at, err := store.ReadTime(string(text))
	*t = bareTimestamp(at)
	return err
}
