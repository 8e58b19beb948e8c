package index

import (
	"math"
	"slices"
	"sync"
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
	Dead      OrdinalSet // products that do not count; nil for none
	DeadCount int
}

// WordMatches is where a word of a search matches.
type WordMatches struct {
	Lists []WeightedList
	// Sets are further products, such as those of a word without spaces.
	Sets []WeightedSet
	// Required is whether the word may not be missing.
	Required bool
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
		list.each(func(uint32, byte) { n++ })
	}
	for _, set := range w.Sets {
		set.each(func(uint32, byte) { n++ })
	}
	return n
}

// maxOccurrenceBytes is the length of the longest encoded occurrence.
const maxOccurrenceBytes = 6

// each is Each without what is dead.
func (l WeightedList) each(found func(ordinal uint32, detail byte)) {
	if l.Dead == nil {
		l.Each(found)
		return
	}
	l.Each(func(ordinal uint32, detail byte) {
		if !l.Dead.Has(ordinal) {
			found(ordinal, detail)
		}
	})
}

// AddTo adds the products of the list to sets: all, and those that have the token in their name or SKU.
func (l WeightedList) AddTo(all, named OrdinalSet) {
	l.each(func(ordinal uint32, detail byte) {
		all.Add(ordinal)
		if detail&namedBit != 0 {
			named.Add(ordinal)
		}
	})
}

func (s WeightedSet) each(found func(ordinal uint32, detail byte)) {
	for _, ordinal := range s.All.List() {
		switch {
		case s.Named.Has(ordinal):
			found(ordinal, namedBit|wordsMask)
		default:
			found(ordinal, 0)
		}
	}
}

// fieldValues are how much an occurrence counts, by its byte: in the name more than in the description,
// and more the larger the share of the name is that the word makes up.
var fieldValues = func() (values [128]uint32) {
	for detail := range values {
		o := occurrence(byte(detail))
		value := uint32(40)
		switch {
		case o.WholeSKU:
			value = 255
		case o.InSKU:
			value = 110
		case o.Named:
			value = 100 + 60/uint32(max(1, o.NameWords))
		}
		values[detail] = value
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

// matchScratch is memory of Match: two values for each ordinal, all zero between uses.
type matchScratch struct {
	total, word []uint32
	found       []uint32
	touched     []uint32
}

var matchScratches = sync.Pool{New: func() any { return &matchScratch{} }}

// wordBit counts the words that a product matches, above its score.
const wordBit = 1 << 26

// completeScore is added to the score of a product that has all words. It is above all sums of values.
const completeScore = 1 << 21

// fewMatches is how many products must have all words so that none with a word missing is found.
const fewMatches = 3

// Match finds the products that match all words; if those are fewer than three, also those that match all
// but one, which must not be Required. A product that matches all words ranks above those. skus are lists of the whole search as a
// token: the products whose SKU it is come first, and if there are any, no word may be missing. ordinals bounds the ordinals, and products
// is the number of products in the release, by which rare words count more.
func Match(ordinals, products int, words []WordMatches, skus []WeightedList) *Matches {
	s := matchScratches.Get().(*matchScratch)
	defer matchScratches.Put(s)
	if len(s.total) < ordinals {
		s.total, s.word = make([]uint32, ordinals), make([]uint32, ordinals)
	}
	s.found = s.found[:0]
	order := make([]int, len(words))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return words[a].Bytes() - words[b].Bytes() })
	for i, word := range order {
		s.add(words[word], products, i == 0)
		if i > 0 {
			s.keep(uint32(i + 1))
		}
	}
	named := wholeSKUs(skus)
	if len(s.found) < fewMatches && len(words) > 1 && len(named) == 0 {
		s.clear()
		s.allButOne(words, products)
	}
	for _, ordinal := range named {
		if s.total[ordinal] == 0 {
			s.found = append(s.found, ordinal)
		}
		s.total[ordinal] = uint32(len(words))*wordBit + completeScore
	}
	s.sort(ordinals)
	m := &Matches{slices.Clone(s.found), make([]uint32, len(s.found))}
	for i, ordinal := range s.found {
		m.Scores[i] = s.total[ordinal] % wordBit
		if s.total[ordinal] >= uint32(len(words))*wordBit {
			m.Scores[i] += completeScore
		}
	}
	s.clear()
	return m
}

// allButOne finds the products that match all words but one, which is not required.
func (s *matchScratch) allButOne(words []WordMatches, products int) {
	required := uint32(0)
	for _, word := range words {
		if word.Required {
			s.add(word, products, required == 0)
			required++
			s.keep(required)
		}
	}
	for _, word := range words {
		if !word.Required {
			s.add(word, products, required == 0)
		}
	}
	s.keep(uint32(len(words) - 1))
}

// wholeSKUs returns the products whose SKU is a token, given its lists.
func wholeSKUs(skus []WeightedList) (found []uint32) {
	for _, list := range skus {
		list.each(func(ordinal uint32, detail byte) {
			if detail&wholeBit != 0 {
				found = append(found, ordinal)
			}
		})
	}
	return found
}

// IsSKU reports whether a token, given by its lists, is the SKU of some product.
func IsSKU(lists []WeightedList) bool { return len(wholeSKUs(lists)) > 0 }

// sort sorts the found products.
func (s *matchScratch) sort(ordinals int) {
	if slices.IsSorted(s.found) {
		return
	}
	if len(s.found)*binarySearchFactor < ordinals {
		slices.Sort(s.found)
		return
	}
	copy(s.found, Posting{Ordinals: s.found}.Set(ordinals).List())
}

func (s *matchScratch) clear() {
	for _, ordinal := range s.found {
		s.total[ordinal] = 0
	}
	s.found = s.found[:0]
}

// add adds the values of a word, to new products only if more is set.
func (s *matchScratch) add(word WordMatches, products int, more bool) {
	s.touched = s.touched[:0]
	var values [128]uint32
	take := func(ordinal uint32, detail byte) {
		value := values[detail]
		if was := s.word[ordinal]; was == 0 {
			s.touched = append(s.touched, ordinal)
		} else if was >= value {
			return
		}
		s.word[ordinal] = value
	}
	weigh := func(weight uint32) {
		for detail, value := range fieldValues {
			values[detail] = max(1, value*weight/256)
		}
	}
	for _, list := range word.Lists {
		weigh(list.Weight)
		list.each(take)
	}
	for _, set := range word.Sets {
		weigh(set.Weight)
		set.each(take)
	}
	rarity := uint32(8 * math.Log2(2+float64(products)/float64(max(1, len(s.touched)))))
	for _, ordinal := range s.touched {
		if s.total[ordinal] != 0 || more {
			if s.total[ordinal] == 0 {
				s.found = append(s.found, ordinal)
			}
			s.total[ordinal] += wordBit + s.word[ordinal]*rarity
		}
		s.word[ordinal] = 0
	}
}

// keep removes the products that match fewer words.
func (s *matchScratch) keep(words uint32) {
	kept := s.found[:0]
	for _, ordinal := range s.found {
		if s.total[ordinal] >= words*wordBit {
			kept = append(kept, ordinal)
		} else {
			s.total[ordinal] = 0
		}
	}
	s.found = kept
}

// SortByScore sorts products by the sum of their scores, the highest first. Equal ones keep their order.
func SortByScore(list Ordinals, ordinals int, matches ...*Matches) {
	s := matchScratches.Get().(*matchScratch)
	defer matchScratches.Put(s)
	if len(s.total) < ordinals {
		s.total, s.word = make([]uint32, ordinals), make([]uint32, ordinals)
	}
	for _, m := range matches {
		for i, ordinal := range m.Found {
			s.total[ordinal] += m.Scores[i]
		}
	}
	highest, lowest := uint32(0), uint32(math.MaxUint32)
	for _, ordinal := range list {
		highest, lowest = max(highest, s.total[ordinal]), min(lowest, s.total[ordinal])
	}
	const bits, mask = 11, 1<<11 - 1
	from, to := list, make(Ordinals, len(list))
	for shift := 0; len(list) > 1 && (highest-lowest)>>shift > 0; shift += bits { // a radix sort, which is stable
		var starts [mask + 2]int
		for _, ordinal := range from {
			starts[(highest-s.total[ordinal])>>shift&mask+1]++
		}
		for i := range mask {
			starts[i+1] += starts[i]
		}
		for _, ordinal := range from {
			at := &starts[(highest-s.total[ordinal])>>shift&mask]
			to[*at] = ordinal
			*at++
		}
		from, to = to, from
		if shift+bits >= 32 {
			break
		}
	}
	if len(list) > 0 && &from[0] != &list[0] {
		copy(list, from)
	}
	for _, m := range matches {
		for _, ordinal := range m.Found {
			s.total[ordinal] = 0
		}
	}
}
