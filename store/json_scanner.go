package store

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// ExactMembers makes encoding/json match member names exactly. By default it ignores
// their case, so that Name and name are the same member. The result is raw with every
// name changed that matches a member of shape only by case. changed is false, and the
// result raw itself, if there are none. In invalid JSON, only the part before the error
// is checked.
func ExactMembers(raw []byte, shape reflect.Type) (exact []byte, changed bool) {
	s := &jsonScanner{raw: raw}
	s.value(shape, 0)
	if exact = s.result(); exact == nil {
		return raw, false
	}
	return exact, true
}

// jsonScanner scans a JSON value along its type: it changes names (ExactMembers) or numbers (NormalizeIntegers), or reports
// unknown members.
type jsonScanner struct {
	raw      []byte
	pos      int
	integers bool // change the form of integers, else the case of names

	unknown func(name []byte, of *structMembers) // called with each unknown member, if it is set
	path    []string                             // of the value, for unknown

	changed []byte // raw up to copied, with changes; nil if none
	copied  int
}

// replace replaces the bytes of raw between two positions.
func (s *jsonScanner) replace(from, to int, text string) {
	s.changed = append(append(s.changed, s.raw[s.copied:from]...), text...)
	s.copied = to
}

// result returns raw with the changes; nil if there are none.
func (s *jsonScanner) result() []byte {
	if s.changed == nil {
		return nil
	}
	return append(s.changed, s.raw[s.copied:]...)
}

// maxScanDepth is the depth limit of encoding/json.
const maxScanDepth = 10_000

// value reads one value. A nil shape has no members to check.
func (s *jsonScanner) value(shape reflect.Type, depth int) {
	s.space()
	if s.pos >= len(s.raw) || depth > maxScanDepth {
		s.pos = len(s.raw)
		return
	}
	shape = indirect(shape)
	switch s.raw[s.pos] {
	case '{':
		s.object(shape, depth)
	case '[':
		var element reflect.Type
		if shape != nil && (shape.Kind() == reflect.Slice || shape.Kind() == reflect.Array) {
			element = shape.Elem()
		}
		index := 0
		s.each(']', func() {
			s.below(nil, index, func() { s.value(element, depth+1) })
			index++
		})
	case '"':
		s.text()
	default:
		start := s.pos
		for s.pos < len(s.raw) && !strings.ContainsRune(",]} \t\r\n", rune(s.raw[s.pos])) {
			s.pos++
		}
		if s.integers && shape != nil && shape.Kind() >= reflect.Int && shape.Kind() <= reflect.Int64 {
			number := string(s.raw[start:s.pos])
			if digits, ok := integerDigits(number); ok && digits != number {
				s.replace(start, s.pos, digits)
			}
		}
	}
}

// object reads an object and changes names that match a member only by case.
func (s *jsonScanner) object(shape reflect.Type, depth int) {
	var members *structMembers
	var element reflect.Type
	switch {
	case shape == nil:
	case shape.Kind() == reflect.Struct:
		members = membersOf(shape)
	case shape.Kind() == reflect.Map:
		element = shape.Elem()
	}
	s.each('}', func() {
		start := s.pos
		name := s.text()
		member := element
		if members != nil {
			known := false
			switch member, known = members.named(name); {
			case known || s.integers: // NormalizeIntegers changes no names
			case s.unknown != nil:
				s.unknown(name, members)
			case members.matchesFolded(name):
				s.replace(start+1, start+2, "-") // no member's name begins with this
			}
		}
		s.space()
		if s.pos < len(s.raw) && s.raw[s.pos] == ':' {
			s.pos++
		}
		s.below(name, 0, func() { s.value(member, depth+1) })
	})
}

// below runs do with the path of a member, or of an element of an array, whose name is nil. Only unknown needs the path.
func (s *jsonScanner) below(name []byte, index int, do func()) {
	if s.unknown == nil {
		do()
		return
	}
	step := string(unescaped(name))
	if name == nil {
		step = strconv.Itoa(index)
	}
	s.path = append(s.path, step)
	do()
	s.path = s.path[:len(s.path)-1]
}

// each reads the elements of an object or array up to its closing bracket.
func (s *jsonScanner) each(closing byte, element func()) {
	s.pos++
	for {
		s.space()
		if s.pos >= len(s.raw) {
			return
		}
		switch s.raw[s.pos] {
		case closing:
			s.pos++
			return
		case ',':
			s.pos++
			continue
		}
		before := s.pos
		if element(); s.pos == before { // invalid JSON
			s.pos = len(s.raw)
		}
	}
}

// text reads a string and returns what is between its quotes; nil if it is not a string.
func (s *jsonScanner) text() []byte {
	if s.raw[s.pos] != '"' {
		return nil
	}
	start := s.pos + 1
	for at := start; ; {
		end := bytes.IndexByte(s.raw[at:], '"')
		if end < 0 {
			s.pos = len(s.raw)
			return nil
		}
		at += end
		escapes := 0
		for at-escapes > start && s.raw[at-escapes-1] == '\\' {
			escapes++
		}
		if at++; escapes%2 == 0 {
			s.pos = at
			return s.raw[start : at-1]
		}
	}
}

func (s *jsonScanner) space() {
	for s.pos < len(s.raw) && (s.raw[s.pos] == ' ' || s.raw[s.pos] == '\n' || s.raw[s.pos] == '\t' || s.raw[s.pos] == '\r') {
		s.pos++
	}
}

// structMembers are the members of a struct by their JSON names.
type structMembers struct {
	types map[string]reflect.Type
	names []string // in the order of the fields
}

// membersByType caches *structMembers by type.
var membersByType sync.Map

func membersOf(shape reflect.Type) *structMembers {
	if known, ok := membersByType.Load(shape); ok {
		return known.(*structMembers)
	}
	m := &structMembers{types: map[string]reflect.Type{}}
	for _, field := range reflect.VisibleFields(shape) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || field.Anonymous && name == "" || !field.IsExported() {
			continue
		}
		if name == "" {
			name = field.Name
		}
		if _, twice := m.types[name]; !twice { // the outermost wins
			m.names = append(m.names, name)
			m.types[name] = field.Type
		}
	}
	known, _ := membersByType.LoadOrStore(shape, m)
	return known.(*structMembers)
}

// MemberType returns the type of the member called name.
func MemberType(shape reflect.Type, name string) (reflect.Type, bool) {
	if shape.Kind() == reflect.Map {
		return shape.Elem(), true
	}
	found, known := membersOf(shape).types[name]
	return found, known
}

// KnownPath returns the steps of a path up to the first that is neither a member that its type has nor an index. An error may name
// these. Other steps are text of the client.
func KnownPath(shape reflect.Type, path []string) []string {
	for i, step := range path {
		known := false
		if shape = indirect(shape); shape != nil && shape.Kind() == reflect.Struct {
			shape, known = MemberType(shape, step)
		} else if shape != nil && (shape.Kind() == reflect.Slice || shape.Kind() == reflect.Array) {
			shape, known = shape.Elem(), strings.Trim(step, "0123456789") == ""
		}
		if !known {
			return path[:i]
		}
	}
	return path
}

// named returns the type of the member called name, which may contain escapes.
func (m *structMembers) named(name []byte) (reflect.Type, bool) {
	if bytes.IndexByte(name, '\\') >= 0 {
		name = unescaped(name)
	}
	shape, known := m.types[string(name)]
	return shape, known
}

// matchesFolded reports whether encoding/json would match name to a member.
func (m *structMembers) matchesFolded(name []byte) bool {
	text := string(unescaped(name))
	for _, known := range m.names {
		if strings.EqualFold(known, text) {
			return true
		}
	}
	return false
}

// unescaped decodes the escapes of a name.
func unescaped(name []byte) []byte {
	var text string
	if json.Unmarshal(append(append([]byte{'"'}, name...), '"'), &text) != nil {
		return name
	}
	return []byte(text)
}
