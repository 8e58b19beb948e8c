package shop

import (
	"math/bits"
	"slices"
)

// ordinalSet is a set of ordinals: a bit each.
type ordinalSet []uint64

func newOrdinalSet(ordinals int) ordinalSet { return make(ordinalSet, (ordinals+63)/64) }

func (s ordinalSet) add(ordinal uint32)      { s[ordinal/64] |= 1 << (ordinal % 64) }
func (s ordinalSet) has(ordinal uint32) bool { return s[ordinal/64]&(1<<(ordinal%64)) != 0 }

func (s ordinalSet) Size() int { return 24 + 8*len(s) }

func (s ordinalSet) clone() ordinalSet { return slices.Clone(s) }

// addAll adds what the other has.
func (s ordinalSet) addAll(other ordinalSet) {
	for i := range s {
		s[i] |= other[i]
	}
}

// keep drops what the other has not.
func (s ordinalSet) keep(other ordinalSet) {
	for i := range s {
		s[i] &= other[i]
	}
}

// list is the set in order.
func (s ordinalSet) list() ordinals {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	list := make(ordinals, 0, n)
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			list = append(list, uint32(64*i+bits.TrailingZeros64(word)))
		}
	}
	return list
}

// among keeps of a list what is in the set, in the list's own memory.
func (s ordinalSet) among(list ordinals) ordinals {
	return slices.DeleteFunc(list, func(place uint32) bool { return !s.has(place) })
}
