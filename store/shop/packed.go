package shop

import (
	"sort"
	"strings"
)

// packed is a sorted list of strings in little memory.
type packed struct {
	text strings.Builder
	ends []uint32
}

// add appends a string, which must sort after the others.
func (p *packed) add(s string) {
	p.text.WriteString(s)
	p.ends = append(p.ends, uint32(p.text.Len()))
}

func (p *packed) len() int { return len(p.ends) }

func (p *packed) at(i uint32) string {
	start := uint32(0)
	if i > 0 {
		start = p.ends[i-1]
	}
	return p.text.String()[start:p.ends[i]]
}

// find returns where a string stands.
func (p *packed) find(s string) (at uint32, found bool) {
	i := sort.Search(len(p.ends), func(i int) bool { return p.at(uint32(i)) >= s })
	return uint32(i), i < len(p.ends) && p.at(uint32(i)) == s
}

// adjacency is a list of lists, filled one list after the other.
type adjacency struct {
	to   []uint32
	ends []uint32
}

func (a *adjacency) add(to uint32) { a.to = append(a.to, to) }
func (a *adjacency) len() int      { return len(a.ends) }
func (a *adjacency) end()          { a.ends = append(a.ends, uint32(len(a.to))) }

func (a *adjacency) of(i uint32) []uint32 {
	if int(i) >= len(a.ends) {
		return nil
	}
	start := uint32(0)
	if i > 0 {
		start = a.ends[i-1]
	}
	return a.to[start:a.ends[i]]
}

// reverse lists for each parent its children, in their order.
func reverse(parents []int32) adjacency {
	a := adjacency{ends: make([]uint32, len(parents))}
	for _, parent := range parents {
		if parent >= 0 {
			a.ends[parent]++
		}
	}
	total := uint32(0)
	next := make([]uint32, len(parents))
	for i, n := range a.ends {
		next[i] = total
		total += n
		a.ends[i] = total
	}
	a.to = make([]uint32, total)
	for child, parent := range parents {
		if parent >= 0 {
			a.to[next[parent]] = uint32(child)
			next[parent]++
		}
	}
	return a
}
