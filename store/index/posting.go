package index

import (
	"slices"
	"sort"
)

// Posting holds the products that match a filter term: runs of an index, each of one value
// and sorted, or Places. Operations cost as much as the matches, not as the shop has
// products.
type Posting struct {
	Runs   []PackedHashes
	Places Ordinals // sorted
}

// Len is the number of matches; a product with several of the values counts repeatedly.
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

// binarySearchFactor is how many times longer a list must be than another, so that binary searches in
// it are cheaper than reading it.
const binarySearchFactor = 64

// Ordinals returns the distinct matches in order. far is the number of products.
func (p Posting) Ordinals(far int) Ordinals {
	if len(p.Runs) > 1 && p.Len()*binarySearchFactor > far {
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

// Among filters a list in place to the matches.
func (p Posting) Among(found Ordinals, far int) Ordinals {
	if len(found)*binarySearchFactor < p.Len() {
		return slices.DeleteFunc(found, func(place uint32) bool { return !p.holds(place) })
	}
	return p.Set(far).Among(found)
}

// Set returns the matches as a set. far is the number of products.
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

// Intersect returns the common elements of two sorted lists.
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
