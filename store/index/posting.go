package index

import (
	"slices"
	"sort"
)

// Posting are the products that a term keeps: those under runs of an index,
// each of one value and in order, or some places. What is asked of it costs
// what it finds, not what the shop has.
type Posting struct {
	Runs   []PackedHashes
	Places Ordinals // in order
}

// Len is how many there are; those with several of the values count several
// times.
func (p Posting) Len() int {
	n := len(p.Places)
	for _, run := range p.Runs {
		n += len(run) / IndexEntry
	}
	return n
}

func (p Posting) holds(place uint32) bool {
	if _, found := slices.BinarySearch(p.Places, place); found {
		return true
	}
	return slices.ContainsFunc(p.Runs, func(run PackedHashes) bool {
		n := len(run) / IndexEntry
		at := sort.Search(n, func(i int) bool { return run.place(i) >= place })
		return at < n && run.place(at) == place
	})
}

// manyTimes is how much longer a list must be than another for it to be
// cheaper to look each of the other's up in it than to go through it.
const manyTimes = 64

// Ordinals are the products in order, each once; those of the release go so
// far.
func (p Posting) Ordinals(far int) Ordinals {
	if len(p.Runs) > 1 && p.Len()*manyTimes > far {
		return p.Set(far).List()
	}
	found := make(Ordinals, 0, p.Len())
	found = append(found, p.Places...)
	for _, run := range p.Runs {
		for i := range len(run) / IndexEntry {
			found = append(found, run.place(i))
		}
	}
	if len(p.Runs) > 1 {
		slices.Sort(found)
		found = slices.Compact(found)
	}
	return found
}

// Among keeps of a list what the posting holds, in the list's own memory.
func (p Posting) Among(found Ordinals, far int) Ordinals {
	if len(found)*manyTimes < p.Len() {
		return slices.DeleteFunc(found, func(place uint32) bool { return !p.holds(place) })
	}
	return p.Set(far).Among(found)
}

// Set is the products as a set; those of the release go so far.
func (p Posting) Set(far int) OrdinalSet {
	set := NewOrdinalSet(far)
	for _, place := range p.Places {
		set.Add(place)
	}
	for _, run := range p.Runs {
		for i := range len(run) / IndexEntry {
			set.Add(run.place(i))
		}
	}
	return set
}

// Intersect keeps what both sorted lists have.
func Intersect(a, b Ordinals) Ordinals {
	both := make(Ordinals, 0, min(len(a), len(b)))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			both, a, b = append(both, a[0]), a[1:], b[1:]
		}
	}
	return both
}
