package index

import (
	"encoding/binary"
	"sort"
	"strings"
)

// StringList is a sorted list of strings in one piece of memory.
type StringList struct {
	text  strings.Builder
	ends  []uint32
	heads []uint64 // headOf of each string, so that Find mostly reads memory that is close together
}

// headOf returns the first eight bytes of a string, which sort as the string does.
func headOf(s string) uint64 {
	var head [8]byte
	copy(head[:], s)
	return binary.BigEndian.Uint64(head[:])
}

// Add appends a string, which must sort after the others.
func (l *StringList) Add(s string) {
	l.text.WriteString(s)
	l.ends = append(l.ends, uint32(l.text.Len()))
	l.heads = append(l.heads, headOf(s))
}

// Len is the number of strings.
func (l *StringList) Len() int { return len(l.ends) }

// At returns the string at index i.
func (l *StringList) At(i uint32) string {
	start := uint32(0)
	if i > 0 {
		start = l.ends[i-1]
	}
	return l.text.String()[start:l.ends[i]]
}

// Find returns the index of a string, or where it would be.
func (l *StringList) Find(s string) (at uint32, found bool) {
	head := headOf(s)
	i := sort.Search(len(l.heads), func(i int) bool {
		return l.heads[i] > head || l.heads[i] == head && l.At(uint32(i)) >= s
	})
	return uint32(i), i < len(l.ends) && l.At(uint32(i)) == s
}
