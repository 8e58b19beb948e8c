package index

import (
	"math/bits"
	"slices"
)

// OrdinalSet is a set of ordinals: a bit each.
type OrdinalSet []uint64

// NewOrdinalSet has room for that many ordinals, from 0.
func NewOrdinalSet(ordinals int) OrdinalSet { return make(OrdinalSet, (ordinals+63)/64) }

// Add, Has and Size cost the same however many there are.
func (s OrdinalSet) Add(ordinal uint32)      { s[ordinal/64] |= 1 << (ordinal % 64) }
func (s OrdinalSet) Has(ordinal uint32) bool { return s[ordinal/64]&(1<<(ordinal%64)) != 0 }

func (s OrdinalSet) Size() int { return 24 + 8*len(s) }

func (s OrdinalSet) clone() OrdinalSet { return slices.Clone(s) }

// addAll adds what the other has.
func (s OrdinalSet) addAll(other OrdinalSet) {
	for i := range s {
		s[i] |= other[i]
	}
}

// Keep drops what the other has not.
func (s OrdinalSet) Keep(other OrdinalSet) {
	for i := range s {
		s[i] &= other[i]
	}
}

// List is the set in order.
func (s OrdinalSet) List() Ordinals {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	list := make(Ordinals, 0, n)
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			list = append(list, uint32(64*i+bits.TrailingZeros64(word)))
		}
	}
	return list
}

// Among keeps of a list what is in the set, in the list's own memory.
func (s OrdinalSet) Among(list Ordinals) Ordinals {
	return slices.DeleteFunc(list, func(place uint32) bool { return !s.Has(place) })
}
