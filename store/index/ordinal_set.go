package index

import (
	"math"
	"math/bits"
	"slices"
)

// OrdinalSet is a bitset of ordinals, which must be below the number that the set was made for. Methods that take another
// set need one for as many ordinals, unless they say otherwise.
type OrdinalSet []uint64

// NewOrdinalSet returns a set for ordinals below the given number.
func NewOrdinalSet(ordinals int) OrdinalSet { return make(OrdinalSet, (ordinals+63)/64) }

// Add adds an ordinal.
func (s OrdinalSet) Add(ordinal uint32) { s[ordinal/64] |= 1 << (ordinal % 64) }

// Remove removes an ordinal.
func (s OrdinalSet) Remove(ordinal uint32) { s[ordinal/64] &^= 1 << (ordinal % 64) }

// Has reports whether an ordinal is in the set.
func (s OrdinalSet) Has(ordinal uint32) bool { return s[ordinal/64]&(1<<(ordinal%64)) != 0 }

// Size is the memory in bytes.
func (s OrdinalSet) Size() int { return 24 + 8*len(s) }

// Clone returns a copy.
func (s OrdinalSet) Clone() OrdinalSet { return slices.Clone(s) }

// Or adds the elements of other.
func (s OrdinalSet) Or(other OrdinalSet) {
	for i := range s {
		s[i] |= other[i]
	}
}

// And removes the elements that are not in other.
func (s OrdinalSet) And(other OrdinalSet) {
	for i := range s {
		s[i] &= other[i]
	}
}

// AndNot removes the elements that are in other.
func (s OrdinalSet) AndNot(other OrdinalSet) {
	for i := range s {
		s[i] &^= other[i]
	}
}

// Len counts the elements.
func (s OrdinalSet) Len() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// LenIn counts the elements that are also in other, which may be for more or fewer ordinals.
func (s OrdinalSet) LenIn(other OrdinalSet) (n int) {
	for i, word := range s[:min(len(s), len(other))] {
		n += bits.OnesCount64(word & other[i])
	}
	return n
}

// LenOf counts the elements among some ordinals.
func (s OrdinalSet) LenOf(list Ordinals) (n int) {
	for _, ordinal := range list {
		n += int(s[ordinal/64] >> (ordinal % 64) & 1)
	}
	return n
}

// Each yields the elements in order.
func (s OrdinalSet) Each(yield func(ordinal uint32)) {
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			yield(uint32(64*i + bits.TrailingZeros64(word)))
		}
	}
}

// List returns the elements in order.
func (s OrdinalSet) List() Ordinals { return s.AppendTo(make(Ordinals, 0, s.Len())) }

// AppendTo appends the elements in order.
func (s OrdinalSet) AppendTo(list Ordinals) Ordinals {
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			list = append(list, uint32(64*i+bits.TrailingZeros64(word)))
		}
	}
	return list
}

// AppendCommon appends the elements that are also in other, in order.
func (s OrdinalSet) AppendCommon(other OrdinalSet, list Ordinals) Ordinals {
	for i, word := range s {
		for word &= other[i]; word != 0; word &= word - 1 {
			list = append(list, uint32(64*i+bits.TrailingZeros64(word)))
		}
	}
	return list
}

// FilterKeys removes elements whose key is not between two, both inclusive, or that have none. keys are by ordinal. The
// subtraction as unsigned numbers checks both bounds at once.
func (s OrdinalSet) FilterKeys(keys []int64, low, high int64) {
	if low > high {
		clear(s)
		return
	}
	for i, word := range s {
		of := keys[min(64*i, len(keys)):min(64*i+64, len(keys))]
		kept := word
		for ; word != 0; word &= word - 1 {
			bit := bits.TrailingZeros64(word)
			if bit >= len(of) || uint64(of[bit])-uint64(low) > uint64(high)-uint64(low) {
				kept &^= 1 << bit
			}
		}
		s[i] = kept
	}
}

// Bounds returns the lowest and the highest key of the elements that have one, which is at least least. Without
// any, highest is below lowest.
func (s OrdinalSet) Bounds(keys []int64, least int64) (lowest, highest int64) {
	lowest, highest = math.MaxInt64, math.MinInt64
	for i, word := range s {
		of := keys[min(64*i, len(keys)):min(64*i+64, len(keys))]
		for ; word != 0; word &= word - 1 {
			if bit := bits.TrailingZeros64(word); bit < len(of) && of[bit] >= least {
				lowest, highest = min(lowest, of[bit]), max(highest, of[bit])
			}
		}
	}
	return lowest, highest
}

// Filter removes ordinals that are not in the set from list, in place.
func (s OrdinalSet) Filter(list Ordinals) Ordinals {
	n := 0
	for _, ordinal := range list {
		if s.Has(ordinal) {
			list[n] = ordinal
			n++
		}
	}
	return list[:n]
}
