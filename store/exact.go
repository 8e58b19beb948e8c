package store

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// ExactMembers makes encoding/json compare member names exactly, as JSON does.
// By itself encoding/json ignores their case, so that Name and name are one
// member. The result is raw with the names changed that differ from a member of
// the shape only by case, so that they match no member. It is raw itself, and
// changed is false, where there are no such names. Invalid JSON is returned as
// far as it was read.
func ExactMembers(raw []byte, shape reflect.Type) (exact []byte, changed bool) {
	s := &memberScan{raw: raw}
	s.value(shape, 0)
	if s.exact == nil {
		return raw, false
	}
	return s.exact, true
}

// memberScan reads a JSON value by its shape.
type memberScan struct {
	raw   []byte
	at    int
	exact []byte // a copy of raw with changed names; nil if none was changed
}

// maxScanDepth is that of encoding/json, which refuses what is deeper.
const maxScanDepth = 10_000

// value reads one value. A shape of nil has no members that are compared.
func (s *memberScan) value(shape reflect.Type, depth int) {
	s.space()
	if s.at >= len(s.raw) || depth > maxScanDepth {
		s.at = len(s.raw)
		return
	}
	shape = transparent(shape)
	switch s.raw[s.at] {
	case '{':
		s.object(shape, depth)
	case '[':
		var element reflect.Type
		if shape != nil && (shape.Kind() == reflect.Slice || shape.Kind() == reflect.Array) {
			element = shape.Elem()
		}
		s.each(']', func() { s.value(element, depth+1) })
	case '"':
		s.text()
	default:
		for s.at < len(s.raw) && !strings.ContainsRune(",]} \t\r\n", rune(s.raw[s.at])) {
			s.at++
		}
	}
}

// object reads an object, and changes its names that match only by case.
func (s *memberScan) object(shape reflect.Type, depth int) {
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
		start := s.at
		name := s.text()
		member := element
		if members != nil {
			known := false
			if member, known = members.named(name); !known && members.folded(name) {
				if s.exact == nil {
					s.exact = bytes.Clone(s.raw)
				}
				s.exact[start+1] = '-' // which no member's name begins with
			}
		}
		s.space()
		if s.at < len(s.raw) && s.raw[s.at] == ':' {
			s.at++
		}
		s.value(member, depth+1)
	})
}

// each reads the elements of an object or array, up to its closing bracket.
func (s *memberScan) each(closing byte, element func()) {
	s.at++
	for {
		s.space()
		if s.at >= len(s.raw) {
			return
		}
		switch s.raw[s.at] {
		case closing:
			s.at++
			return
		case ',':
			s.at++
			continue
		}
		before := s.at
		if element(); s.at == before { // invalid JSON
			s.at = len(s.raw)
		}
	}
}

// text reads a string and returns what is between its quotes; nil if it is no
// string.
func (s *memberScan) text() []byte {
	if s.raw[s.at] != '"' {
		return nil
	}
	start := s.at + 1
	for at := start; ; {
		end := bytes.IndexByte(s.raw[at:], '"')
		if end < 0 {
			s.at = len(s.raw)
			return nil
		}
		at += end
		escapes := 0
		for at-escapes > start && s.raw[at-escapes-1] == '\\' {
			escapes++
		}
		if at++; escapes%2 == 0 {
			s.at = at
			return s.raw[start : at-1]
		}
	}
}

func (s *memberScan) space() {
	for s.at < len(s.raw) && (s.raw[s.at] == ' ' || s.raw[s.at] == '\n' || s.raw[s.at] == '\t' || s.raw[s.at] == '\r') {
		s.at++
	}
}

// structMembers are the members of a struct by their names in JSON.
type structMembers struct {
	types map[string]reflect.Type
	names []string
}

// shapes caches *structMembers by type.
var shapes sync.Map

func membersOf(shape reflect.Type) *structMembers {
	if known, ok := shapes.Load(shape); ok {
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
		if _, twice := m.types[name]; !twice { // the outermost comes first
			m.names = append(m.names, name)
			m.types[name] = field.Type
		}
	}
	known, _ := shapes.LoadOrStore(shape, m)
	return known.(*structMembers)
}

// named is the type of the member with that name, as it is between quotes.
func (m *structMembers) named(name []byte) (reflect.Type, bool) {
	if bytes.IndexByte(name, '\\') >= 0 {
		name = unescaped(name)
	}
	shape, known := m.types[string(name)]
	return shape, known
}

// folded tells whether encoding/json takes the name for a member's.
func (m *structMembers) folded(name []byte) bool {
	text := string(unescaped(name))
	for _, known := range m.names {
		if strings.EqualFold(known, text) {
			return true
		}
	}
	return false
}

// unescaped is a name without escapes.
func unescaped(name []byte) []byte {
	var text string
	if json.Unmarshal(append(append([]byte{'"'}, name...), '"'), &text) != nil {
		return name
	}
	return []byte(text)
}
