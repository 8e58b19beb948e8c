package index

import (
	"math"
	"slices"
)

// The weights of the ways in which a word matches, of 256. What a word counts by where it stands is in strength.go.
const (
	WeightExact       = 256
	WeightTranscribed = 252 // Käse as kaese
	WeightJoined      = 250 // tooth paste as toothpaste
	WeightStem        = 246
	WeightSplit       = 220 // icecream as ice cream
	WeightCompound    = 190 // Futter in Hundefutter
	WeightTypo        = 150 // lessLikely less if another is likelier
	WeightSynonym     = 120
	WeightPrefix      = 30 // below all others, in the description too
	lessLikely        = 30
	// onlyPrefixFactor raises the weight of WeightPrefix for a word that no text has whole.
	onlyPrefixFactor = 6
)

// WeightedList is a list of the products that have a token, and how well that answers a word.
type WeightedList struct {
	OccurrenceList
	Weight    uint32
	Prefix    bool       // the token is the beginning of the words that products have
	Language  uint8      // a number for the language of the texts: nearness counts within a name
	Dead      OrdinalSet // products that do not count; nil for none
	DeadCount int        // of Dead
	// Products is how many live products have the token in the list's layer and language. Of several lists for these only the
	// first has it, others have 0, so that a sum counts nothing twice.
	Products int
}

// WordMatches is where a word of a search matches.
type WordMatches struct {
	Lists []WeightedList
	// Sets are further products, such as those of a word without spaces.
	Sets []WeightedSet
	// Required is whether the word may not be missing.
	Required bool
	// Position is SearchWord.Position.
	Position int
	// Head is SearchWord.Head: the role of the word in names counts.
	Head bool
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

// Count counts matches. From limit on it may return fewer than there are: it does not read a list whose bytes show that it
// is long enough. A product that matches in several ways counts repeatedly.
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
		list.each(func(uint32, occurrenceCode) { n++ })
	}
	for _, set := range w.Sets {
		n += set.All.Len()
	}
	return n
}

// Products counts about the products that have the word in some way of at least a weight: the sum over tokens. It does
// not depend on how the products are spread over lists.
func (w WordMatches) Products(leastWeight uint32) (n int) {
	for _, list := range w.Lists {
		if !list.Prefix && list.Weight >= leastWeight {
			n += list.Products
		}
	}
	return n
}

// whole reports whether products have the word in another way than by its beginning.
func (w WordMatches) whole() bool { return len(w.Sets) > 0 || w.Products(0) > 0 }

// frequency is about how many of all products match, at least 1. Those that have only the beginning of the word count if
// none has it whole.
func (w WordMatches) frequency(products int) int {
	n := w.Products(0)
	for _, list := range w.Lists {
		if list.Prefix && !w.whole() {
			n += list.Products
		}
	}
	for _, set := range w.Sets {
		n += set.All.Len()
	}
	return max(1, min(n, products))
}

// LiveProducts counts the products of some lists that are not dead, each once. dead is sorted, and ordinals is one above the
// highest ordinal.
func LiveProducts(lists []OccurrenceList, dead Ordinals, ordinals int) (n int) {
	if len(lists) == 1 {
		return lists[0].Count() - lists[0].countOf(dead)
	}
	set := NewOrdinalSet(ordinals)
	for _, list := range lists {
		list.Each(func(ordinal uint32, _ occurrenceCode) { set.Add(ordinal) })
	}
	return set.Len() - set.LenOf(dead)
}

// rarity is how much a word counts, from 12 for a word that all products have; about 8 more each time half as many have it.
func (w WordMatches) rarity(products int) uint32 {
	return uint32(8 * math.Log2(2+float64(products)/float64(w.frequency(products))))
}

// maxOccurrenceBytes is the length of the longest encoded occurrence: a number of five bytes and two codes.
const maxOccurrenceBytes = 7

// each is Each without what is dead.
func (l WeightedList) each(found func(ordinal uint32, code occurrenceCode)) {
	if l.Dead == nil {
		l.Each(found)
		return
	}
	l.Each(func(ordinal uint32, code occurrenceCode) {
		if !l.Dead.Has(ordinal) {
			found(ordinal, code)
		}
	})
}

// AddTo adds the products of the list to sets: all, and those that have the token in their name or SKU.
func (l WeightedList) AddTo(all, named OrdinalSet) {
	l.each(func(ordinal uint32, code occurrenceCode) {
		all.Add(ordinal)
		if code.name > 0 {
			named.Add(ordinal)
		}
	})
}

// Meets reports whether a product of a set is in the list.
func (l WeightedList) Meets(set OrdinalSet) (meets bool) {
	l.each(func(ordinal uint32, _ occurrenceCode) { meets = meets || set.Has(ordinal) })
	return meets
}

// Strengths of products in a WeightedSet.
const (
	namedSetStrength = 215
	setStrength      = 130
)

// value returns what a product of the set counts.
func (s WeightedSet) value(ordinal uint32) uint16 {
	if s.Named.Has(ordinal) {
		return uint16(namedSetStrength * s.Weight)
	}
	return uint16(setStrength * s.Weight)
}

// Matches are the products that a search finds, by ordinal, with their scores.
type Matches struct {
	Found  Ordinals
	Scores []uint32 // by position in Found: higher is better
	// full is the score of a product that has all words as well as possible, without completeScore and nearness.
	full uint32
}

// Size is about the memory in bytes.
func (m *Matches) Size() int { return 64 + 4*len(m.Found) + 4*len(m.Scores) }

// LiftMembers raises the products of a category whose name is the search, by half of what words can count.
func (m *Matches) LiftMembers(members OrdinalSet) {
	for i, ordinal := range m.Found {
		if members.Has(ordinal) {
			m.Scores[i] += m.full / 2
		}
	}
}

// LiftNamed raises products whose name is the search above others, but not above those whose SKU it is. Products that were not
// found stay out.
func (m *Matches) LiftNamed(named Ordinals) {
	for _, ordinal := range named {
		if at, found := slices.BinarySearch(m.Found, ordinal); found && m.Scores[at] < skuScore {
			m.Scores[at] += completeScore
		}
	}
}

// Together returns the products that have two words or more of a search of so many words; ordinals is one above the highest.
func (m *Matches) Together(words, ordinals int) OrdinalSet {
	set := NewOrdinalSet(ordinals)
	for i, ordinal := range m.Found {
		if words > 2 || m.Scores[i] >= completeScore { // at most one is missing
			set.Add(ordinal)
		}
	}
	return set
}

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
const completeScore = 1 << 24

// skuScore is the score of a product whose SKU is the search. It is above those of products that LiftNamed raised twice.
const skuScore = 4 * completeScore

// fewMatches is how many products must have all words so that none with a word missing is found.
const fewMatches = 3

// Match finds the products that match all words; if those are fewer than fewMatches, also those that match all
// but one, which must not be Required, unless what is left is too weak (dropWeak). A product that matches all words ranks above those, and one that has
// neighboring words of the search near each other in its name above one that has them apart. skus are lists of the whole search as a
// token: the products whose SKU it is come first, and if there are any, no word may be missing. ordinals is one above the highest
// ordinal, and products is the number of products in the release, by which rare words count more.
func Match(ordinals, products int, words []WordMatches, skus []WeightedList) *Matches {
	c := candidatePool.Get().(*candidates)
	defer candidatePool.Put(c)
	c.begin(ordinals, products, words)
	named := wholeSKUs(skus)
	c.matchAll()
	if len(c.found) < fewMatches && len(words) > 1 && len(named) == 0 {
		c.matchAllButOne()
		c.dropWeak()
	}
	c.addNearness()
	m := &Matches{Found: slices.Clone(c.found), Scores: slices.Clone(c.scores)}
	for _, word := range c.words {
		m.full += scoreOf(fullValue, word.rarity)
	}
	for i, lack := range c.lacks {
		if lack == 0 {
			m.Scores[i] += completeScore
		}
	}
	for _, ordinal := range named {
		at, found := slices.BinarySearch(m.Found, ordinal)
		if !found {
			m.Found, m.Scores = slices.Insert(m.Found, at, ordinal), slices.Insert(m.Scores, at, 0)
		}
		m.Scores[at] = skuScore
	}
	return m
}

// wholeSKUs returns the products whose SKU is a token, given its lists.
func wholeSKUs(skus []WeightedList) (found []uint32) {
	for _, list := range skus {
		list.each(func(ordinal uint32, code occurrenceCode) {
			if namePlaces[code.name].WholeSKU {
				found = append(found, ordinal)
			}
		})
	}
	return found
}

// IsSKU reports whether a token, given by its lists, is the SKU of some product.
func IsSKU(lists []WeightedList) bool { return len(wholeSKUs(lists)) > 0 }
