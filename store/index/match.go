package index

import (
	"math"
	"slices"
)

// The weights of the ways in which a word matches, of 256.
const (
	WeightExact       = 256
	WeightTranscribed = 250 // Käse as kaese
	WeightJoined      = 245 // tooth paste as toothpaste
	WeightStem        = 230
	WeightSplit       = 220 // icecream as ice cream
	WeightCompound    = 190 // Futter in Hundefutter
	WeightPrefix      = 170
	WeightSynonym     = 160 // in a short name it counts less than the word itself in a long one
	WeightTypo        = 150 // for each further edit typoStep less
	typoStep          = 30
)

// WeightedList is a list of the products that have a token, and how well that answers a word.
type WeightedList struct {
	OccurrenceList
	Weight    uint32
	Language  uint8      // a number for the language of the texts: nearness counts within a name
	Dead      OrdinalSet // products that do not count; nil for none
	DeadCount int
	// Products is how many products have the token by this and the lists after it, by LiveProducts; 0 for those
	// lists.
	Products int
}

// WordMatches is where a word of a search matches.
type WordMatches struct {
	Lists []WeightedList
	// Sets are further products, such as those of a word without spaces.
	Sets []WeightedSet
	// Required is whether the word may not be missing.
	Required bool
	// Position is that of the word in the search.
	Position int
}

// WeightedSet is a set of products that match, and those that do so by their name or SKU.
type WeightedSet struct {
	All, Named OrdinalSet
	Weight     uint32
}

// Bytes is the work of reading the matches, in bytes.
func (w WordMatches) Bytes() (n int) {
	for _, list := range w.Lists {
		n += len(list.Body)
	}
	for _, set := range w.Sets {
		n += 8 * len(set.All)
	}
	return n
}

// Any reports whether some product matches.
func (w WordMatches) Any() bool { return w.Count(1) > 0 }

// Count counts matches. From limit on it may return fewer than there are. A product that matches in
// several ways counts repeatedly.
func (w WordMatches) Count(limit int) (n int) {
	for _, list := range w.Lists {
		if n >= limit {
			return n
		}
		if live := len(list.Body)/maxOccurrenceBytes - list.DeadCount; live >= limit {
			return live
		}
		if list.Dead == nil {
			n += list.OccurrenceList.Count()
			continue
		}
		list.each(func(uint32, byte) { n++ })
	}
	for _, set := range w.Sets {
		n += set.All.Len()
	}
	return n
}

// frequency is about the number of products that match, of all: the sum over tokens. It does not depend on how the
// products are spread over lists.
func (w WordMatches) frequency(products int) (n int) {
	for _, list := range w.Lists {
		n += list.Products
	}
	for _, set := range w.Sets {
		n += set.All.Len()
	}
	return max(1, min(n, products))
}

// LiveProducts counts the products of some lists that are not dead, each once. ordinals bounds the ordinals.
func LiveProducts(lists []OccurrenceList, dead Ordinals, ordinals int) (n int) {
	if len(lists) == 1 {
		return lists[0].Count() - lists[0].countOf(dead)
	}
	set := NewOrdinalSet(ordinals)
	for _, list := range lists {
		list.Each(func(ordinal uint32, _ byte) { set.Add(ordinal) })
	}
	return set.Len() - set.LenOf(dead)
}

// rarity is how much a word counts. One that few products have counts more.
func (w WordMatches) rarity(products int) uint32 {
	return uint32(8 * math.Log2(2+float64(products)/float64(w.frequency(products))))
}

// maxOccurrenceBytes is the length of the longest encoded occurrence.
const maxOccurrenceBytes = 6

// each is Each without what is dead.
func (l WeightedList) each(found func(ordinal uint32, code byte)) {
	if l.Dead == nil {
		l.Each(found)
		return
	}
	l.Each(func(ordinal uint32, code byte) {
		if !l.Dead.Has(ordinal) {
			found(ordinal, code)
		}
	})
}

// AddTo adds the products of the list to sets: all, and those that have the token in their name or SKU.
func (l WeightedList) AddTo(all, named OrdinalSet) {
	l.each(func(ordinal uint32, code byte) {
		all.Add(ordinal)
		if occurrences[code].Named {
			named.Add(ordinal)
		}
	})
}

// code returns the code of the occurrence of a product in the set.
func (s WeightedSet) code(ordinal uint32) byte {
	if s.Named.Has(ordinal) {
		return maxNameWords
	}
	return 0
}

// fieldValues are how much an occurrence counts, by its code: in the name more than in the description,
// and more the larger the share of the name is that the word makes up.
var fieldValues = func() (values [256]uint32) {
	for code, o := range occurrences {
		value := uint32(40)
		switch {
		case o.WholeSKU:
			value = 255
		case o.InSKU:
			value = 110
		case o.Named:
			value = 100 + 60/uint32(max(1, o.NameWords))
		}
		values[code] = value
	}
	return values
}()

// Matches are the products that a search finds, by ordinal, with their scores.
type Matches struct {
	Found  Ordinals
	Scores []uint32 // by position in Found: higher is better
}

// Size is about the memory in bytes.
func (m *Matches) Size() int { return 64 + 4*len(m.Found) + 4*len(m.Scores) }

// With adds products that others find, as parentOf returns them, with the best score of those.
func (m *Matches) With(parentOf func(ordinal uint32) (parent uint32, found bool)) *Matches {
	all := make([]uint64, 0, len(m.Found)+len(m.Found)/2)
	for i, ordinal := range m.Found {
		all = append(all, uint64(ordinal)<<32|uint64(^m.Scores[i]))
		if parent, found := parentOf(ordinal); found {
			all = append(all, uint64(parent)<<32|uint64(^m.Scores[i]))
		}
	}
	slices.Sort(all) // the best of each product first
	with := &Matches{}
	for i, match := range all {
		if ordinal := uint32(match >> 32); i == 0 || ordinal != uint32(all[i-1]>>32) {
			with.Found, with.Scores = append(with.Found, ordinal), append(with.Scores, ^uint32(match))
		}
	}
	return with
}

// completeScore is added to the score of a product that has all words. It is above all sums of values.
const completeScore = 1 << 21

// fewMatches is how many products must have all words so that none with a word missing is found.
const fewMatches = 3

// Match finds the products that match all words; if those are fewer than three, also those that match all
// but one, which must not be Required. A product that matches all words ranks above those, and one that has
// neighboring words of the search near each other in its name above one that has them apart. skus are lists of the whole search as a
// token: the products whose SKU it is come first, and if there are any, no word may be missing. ordinals bounds the ordinals, and products
// is the number of products in the release, by which rare words count more.
func Match(ordinals, products int, words []WordMatches, skus []WeightedList) *Matches {
	c := candidatePool.Get().(*candidates)
	defer candidatePool.Put(c)
	c.begin(ordinals, products, words)
	named := wholeSKUs(skus)
	c.matchAll()
	if len(c.found) < fewMatches && len(words) > 1 && len(named) == 0 {
		c.matchAllButOne()
	}
	c.addNearness()
	m := &Matches{slices.Clone(c.found), slices.Clone(c.scores)}
	for i, missing := range c.missing {
		if missing == 0 {
			m.Scores[i] += completeScore
		}
	}
	for _, ordinal := range named {
		at, found := slices.BinarySearch(m.Found, ordinal)
		if !found {
			m.Found, m.Scores = slices.Insert(m.Found, at, ordinal), slices.Insert(m.Scores, at, 0)
		}
		m.Scores[at] = 2 * completeScore
	}
	return m
}

// wholeSKUs returns the products whose SKU is a token, given its lists.
func wholeSKUs(skus []WeightedList) (found []uint32) {
	for _, list := range skus {
		list.each(func(ordinal uint32, code byte) {
			if occurrences[code].WholeSKU {
				found = append(found, ordinal)
			}
		})
	}
	return found
}

// IsSKU reports whether a token, given by its lists, is the SKU of some product.
func IsSKU(lists []WeightedList) bool { return len(wholeSKUs(lists)) > 0 }
