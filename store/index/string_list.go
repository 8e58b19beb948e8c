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
	heads []uint64 // of each string, to find it in memory that is close together
}

// headOf returns the first eight bytes of a string, which sort as the string does.
func headOf(s string) uint64 {
	var head [8]byte
	copy(head[:], s)
	return binary.BigEndian.Uint64(head[:])
}

// Add appends a string, which must sort after the others.
func (p *StringList) Add(s string) {
	p.text.WriteString(s)
	p.ends = append(p.ends, uint32(p.text.Len()))
	p.heads = append(p.heads, headOf(s))
}

// Len is the number of strings.
func (p *StringList) Len() int { return len(p.ends) }

// At returns the string at index i.
func (p *StringList) At(i uint32) string {
	start := uint32(0)
	if i > 0 {
		start = p.ends[i-1]
	}
	return p.text.String()[start:p.ends[i]]
}

// Find returns the index of a string, or where it would be.
func (p *StringList) Find(s string) (at uint32, found bool) {
	head := headOf(s)
	i := sort.Search(len(p.heads), func(i int) bool {
		return p.heads[i] > head || p.heads[i] == head && p.At(uint32(i)) >= s
	})
	return uint32(i), i < len(p.ends) && p.At(uint32(i)) == s
}
