package index

import (
	"slices"
	"sort"
)

// Posting holds the products that match a filter term, in Runs or in Ordinals, never in both. The cost of its methods
// depends on the number of matches, and for Filter on the length of the list, not on the number of products, unless they say
// otherwise.
type Posting struct {
	Runs     []PackedHashes // index entries; each run is of one value, by ordinal
	Ordinals Ordinals       // sorted, each once
}

// Len is the number of matches; a product with several of the values counts repeatedly.
func (p Posting) Len() int {
	n := len(p.Ordinals)
	for _, run := range p.Runs {
		n += len(run) / EntrySize
	}
	return n
}

// contains reports whether a product matches.
func (p Posting) contains(ordinal uint32) bool {
	if _, found := slices.BinarySearch(p.Ordinals, ordinal); found {
		return true
	}
	return slices.ContainsFunc(p.Runs, func(run PackedHashes) bool {
		n := len(run) / EntrySize
		i := sort.Search(n, func(i int) bool { return run.ordinal(i) >= ordinal })
		return i < n && run.ordinal(i) == ordinal
	})
}

// binarySearchFactor is the ratio of lengths of two lists above which binary searches in the longer
// one are cheaper than reading it.
const binarySearchFactor = 64

// Dense reports whether a set of the matches is cheaper than a list. productCount is one above the highest ordinal, here and
// below.
func (p Posting) Dense(productCount int) bool { return p.Len()*binarySearchFactor > productCount }

// List returns the distinct matches in order.
func (p Posting) List(productCount int) Ordinals {
	if len(p.Runs) > 1 && p.Dense(productCount) {
		return p.Set(productCount).List()
	}
	list := make(Ordinals, 0, p.Len())
	list = append(list, p.Ordinals...)
	for _, run := range p.Runs {
		for i := range len(run) / EntrySize {
			list = append(list, run.ordinal(i))
		}
	}
	if len(p.Runs) > 1 {
		slices.Sort(list)
		list = slices.Compact(list)
	}
	return list
}

// Filter returns the products of list, which is sorted, that match. It may change list.
func (p Posting) Filter(list Ordinals, productCount int) Ordinals {
	switch {
	case len(list)*binarySearchFactor < p.Len():
		return slices.DeleteFunc(list, func(ordinal uint32) bool { return !p.contains(ordinal) })
	case p.Dense(productCount):
		return p.Set(productCount).Filter(list)
	}
	return Intersect(list, p.List(productCount))
}

// Set returns the matches as a set, which takes one bit for each of productCount products.
func (p Posting) Set(productCount int) OrdinalSet {
	set := NewOrdinalSet(productCount)
	for _, ordinal := range p.Ordinals {
		set.Add(ordinal)
	}
	for _, run := range p.Runs {
		for i := range len(run) / EntrySize {
			set.Add(run.ordinal(i))
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
