package index

import (
	"sort"
	"strings"
)

// Packed is a sorted list of strings in compact memory.
type Packed struct {
	text strings.Builder
	ends []uint32
}

// Add appends a string, which must sort after the others.
func (p *Packed) Add(s string) {
	p.text.WriteString(s)
	p.ends = append(p.ends, uint32(p.text.Len()))
}

// Len is the number of strings.
func (p *Packed) Len() int { return len(p.ends) }

// At returns the string at index i.
func (p *Packed) At(i uint32) string {
	start := uint32(0)
	if i > 0 {
		start = p.ends[i-1]
	}
	return p.text.String()[start:p.ends[i]]
}

// Find returns the index of a string, or where it would be.
func (p *Packed) Find(s string) (at uint32, found bool) {
	i := sort.Search(len(p.ends), func(i int) bool { return p.At(uint32(i)) >= s })
	return uint32(i), i < len(p.ends) && p.At(uint32(i)) == s
}

// AdjacencyList is a list of lists, filled one after the other.
type AdjacencyList struct {
	Items []uint32
	Ends  []uint32
}

// Add appends to the current list, End completes it, and Len is the number of complete lists.
func (a *AdjacencyList) Add(to uint32) { a.Items = append(a.Items, to) }
func (a *AdjacencyList) Len() int      { return len(a.Ends) }
func (a *AdjacencyList) End()          { a.Ends = append(a.Ends, uint32(len(a.Items))) }

// Of returns list i; nil if there is none.
func (a *AdjacencyList) Of(i uint32) []uint32 {
	if int(i) >= len(a.Ends) {
		return nil
	}
	start := uint32(0)
	if i > 0 {
		start = a.Ends[i-1]
	}
	return a.Items[start:a.Ends[i]]
}

// Reverse returns the children of each parent in order.
func Reverse(parents []int32) AdjacencyList {
	a := AdjacencyList{Ends: make([]uint32, len(parents))}
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
	a.Items = make([]uint32, total)
	for child, parent := range parents {
		if parent >= 0 {
			a.Items[next[parent]] = uint32(child)
			next[parent]++
		}
	}
	return a
}
