package catalog

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"portico/store"
)

// DocumentScanner parses JSON that this package wrote, member by member in the written order, many
// times faster than encoding/json. Anything unexpected, such as another order of members,
// sets Failed; then use encoding/json. Texts share the memory of Input.
type DocumentScanner struct {
	Input  string
	Failed bool
}

// Skip consumes required text.
func (s *DocumentScanner) Skip(text string) {
	if !s.TrySkip(text) {
		s.Failed = true
	}
}

// TrySkip consumes optional text and reports whether it was there.
func (s *DocumentScanner) TrySkip(text string) bool {
	if s.Failed || len(s.Input) < len(text) || s.Input[:len(text)] != text {
		return false
	}
	s.Input = s.Input[len(text):]
	return true
}

// Text parses a string after its opening quote.
func (s *DocumentScanner) Text() string {
	end := strings.IndexByte(s.Input, '"')
	if s.Failed || end < 0 {
		s.Failed = true
		return ""
	}
	text := s.Input[:end]
	if strings.IndexByte(text, '\\') >= 0 {
		return s.escaped()
	}
	s.Input = s.Input[end+1:]
	return text
}

// escaped parses a string with escapes.
func (s *DocumentScanner) escaped() (text string) {
	for end := 0; end < len(s.Input); end++ {
		switch s.Input[end] {
		case '\\':
			end++
		case '"':
			escaped := s.Input[:end]
			s.Input = s.Input[end+1:]
			if text, ok := unescaped(escaped); ok {
				return text
			}
			s.Failed = json.Unmarshal([]byte(`"`+escaped+`"`), &text) != nil
			return text
		}
	}
	s.Failed = true
	return ""
}

// unescaped decodes one-letter escapes, which most descriptions have; ok is false for
// others.
func unescaped(escaped string) (text string, ok bool) {
	var b strings.Builder
	b.Grow(len(escaped))
	for len(escaped) > 0 {
		at := strings.IndexByte(escaped, '\\')
		if at < 0 {
			at = len(escaped)
		}
		plain := escaped[:at]
		if strings.ContainsFunc(plain, func(c rune) bool { return c < ' ' }) || !utf8.ValidString(plain) {
			return "", false
		}
		b.WriteString(plain)
		if at == len(escaped) {
			break
		}
		if at+1 == len(escaped) {
			return "", false
		}
		letter := strings.IndexByte(`"\/bfnrt`, escaped[at+1])
		if letter < 0 {
			return "", false
		}
		b.WriteByte("\"\\/\b\f\n\r\t"[letter])
		escaped = escaped[at+2:]
	}
	return b.String(), true
}

// Member parses a string member. name is the text before the opening quote: ,"id":
func (s *DocumentScanner) Member(name string) string {
	s.Skip(name)
	s.Skip(`"`)
	return s.Text()
}

// Texts parses an array of strings.
func (s *DocumentScanner) Texts(name string) []string {
	s.Skip(name)
	s.Skip(`[`)
	var buffer [8]string // on the stack, so that most arrays are one allocation
	texts := buffer[:0]
	s.List(func() {
		s.Skip(`"`)
		texts = append(texts, s.Text())
	})
	return append([]string{}, texts...)
}

// Raw returns the JSON of a member, without parsing it.
func (s *DocumentScanner) Raw(name string) string {
	s.Skip(name)
	depth, quoted := 0, false
	for at := 0; at < len(s.Input) && !s.Failed; at++ {
		c := s.Input[at]
		switch {
		case quoted && c == '\\':
			at++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			depth++
		case depth == 0 && (c == ',' || c == '}' || c == ']'): // after a value that is not an object or array
			value := s.Input[:at]
			s.Input = s.Input[at:]
			return value
		case c == '}', c == ']':
			if depth--; depth == 0 {
				value := s.Input[:at+1]
				s.Input = s.Input[at+1:]
				return value
			}
		}
	}
	s.Failed = true
	return ""
}

// Unmarshal parses a member with encoding/json, unless its JSON is empty, such as {}: then into stays as it is.
func (s *DocumentScanner) Unmarshal(name string, empty string, into any) {
	value := s.Raw(name)
	if !s.Failed && value != empty {
		s.Failed = json.Unmarshal([]byte(value), into) != nil
	}
}

// number parses a whole number of up to nine digits.
func (s *DocumentScanner) number() int {
	end := 0
	for end < len(s.Input) && end < 10 && '0' <= s.Input[end] && s.Input[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(s.Input[:end])
	if s.Failed || err != nil || end == 10 {
		s.Failed = true
		return 0
	}
	s.Input = s.Input[end:]
	return n
}

// Boolean parses true or false.
func (s *DocumentScanner) Boolean() bool {
	if s.TrySkip("true") {
		return true
	}
	s.Skip("false")
	return false
}

// List calls item for each element of an array after its opening bracket.
func (s *DocumentScanner) List(item func()) {
	if s.TrySkip("]") {
		return
	}
	for !s.Failed {
		item()
		if s.TrySkip("]") {
			return
		}
		s.Skip(",")
	}
}

// Time parses a time member.
func (s *DocumentScanner) Time(name string) (t BareTimestamp) {
	at, err := store.ReadTime(s.Member(name))
	s.Failed = s.Failed || err != nil
	return BareTimestamp(at)
}

// BareTimestamp parses times without a zone, which are UTC.
type BareTimestamp time.Time

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *BareTimestamp) UnmarshalText(text []byte) error {
	at, err := store.ReadTime(string(text))
	*t = BareTimestamp(at)
	return err
}
