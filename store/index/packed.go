package index

import (
	"sort"
	"strings"
)

// Packed is a sorted list of strings in little memory.
type Packed struct {
	text strings.Builder
	ends []uint32
}

// Add appends a string, which must sort after the others.
func (p *Packed) Add(s string) {
	p.text.WriteString(s)
	p.ends = append(p.ends, uint32(p.text.Len()))
}

// Len is how many there are.
func (p *Packed) Len() int { return len(p.ends) }

// At is the string that was added as number i.
func (p *Packed) At(i uint32) string {
	start := uint32(0)
	if i > 0 {
		start = p.ends[i-1]
	}
	return p.text.String()[start:p.ends[i]]
}

// Find returns where a string stands.
func (p *Packed) Find(s string) (at uint32, found bool) {
	i := sort.Search(len(p.ends), func(i int) bool { return p.At(uint32(i)) >= s })
	return uint32(i), i < len(p.ends) && p.At(uint32(i)) == s
}

// Adjacency is a list of lists, filled one list after the other.
type Adjacency struct {
	To   []uint32
	Ends []uint32
}

// Add appends to the list that is being filled, which End ends; Len counts
// those that were ended.
func (a *Adjacency) Add(to uint32) { a.To = append(a.To, to) }
func (a *Adjacency) Len() int      { return len(a.Ends) }
func (a *Adjacency) End()          { a.Ends = append(a.Ends, uint32(len(a.To))) }

// Of is the list of number i; nil beyond the last.
func (a *Adjacency) Of(i uint32) []uint32 {
	if int(i) >= len(a.Ends) {
		return nil
	}
	start := uint32(0)
	if i > 0 {
		start = a.Ends[i-1]
	}
	return a.To[start:a.Ends[i]]
}

// Reverse lists for each parent its children, in their order.
func Reverse(parents []int32) Adjacency {
	a := Adjacency{Ends: make([]uint32, len(parents))}
	for _, parent := range parents {
		if parent >= 0 {
			a.Ends[parent]++
		}
	}
	total := uint32(0)
	next := make([]uint32, len(parents))
	for i, n := range a.Ends {
		next[i] = total
		total += n
		a.Ends[i] = total
	}
	a.To = make([]uint32, total)
	for child, parent := range parents {
		if parent >= 0 {
			a.To[next[parent]] = uint32(child)
			next[parent]++
		}
	}
	return a
}
