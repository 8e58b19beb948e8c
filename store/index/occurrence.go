package index

import "encoding/binary"

// Occurrence is where a product has a token.
type Occurrence struct {
	Named     bool  // in the name or SKU
	InSKU     bool  // in the SKU and not in the name
	WholeSKU  bool  // the token is the SKU without punctuation
	NameWords uint8 // words of that name, at most 15; 0 if not Named
}

// AppendOccurrence encodes the occurrence of a token in a product: the step from the ordinal before,
// doubled, plus one if Named, and then a byte with NameWords, plus 16 if InSKU, plus 32 if WholeSKU.
func AppendOccurrence(list []byte, step uint32, o Occurrence) []byte {
	if !o.Named {
		return binary.AppendUvarint(list, uint64(step)<<1)
	}
	return append(binary.AppendUvarint(list, uint64(step)<<1|1), o.detail()&^namedBit)
}

// detail returns the occurrence in one byte.
func (o Occurrence) detail() byte {
	if !o.Named {
		return 0
	}
	detail := namedBit | min(o.NameWords, 15)
	if o.InSKU {
		detail |= skuBit
	}
	if o.WholeSKU {
		detail |= wholeBit
	}
	return detail
}

// The bits of an occurrence.
const (
	namedBit  = 64 // not stored: the step has it
	wholeBit  = 32
	skuBit    = 16
	wordsMask = 15
)

func occurrence(detail byte) Occurrence {
	return Occurrence{Named: detail&namedBit != 0, InSKU: detail&skuBit != 0, WholeSKU: detail&wholeBit != 0, NameWords: detail & wordsMask}
}

// merged combines the occurrences of two tokens in one product.
func merged(a, b Occurrence) Occurrence {
	switch {
	case !a.Named:
		return b
	case !b.Named:
		return a
	}
	return Occurrence{Named: true, InSKU: a.InSKU && b.InSKU, WholeSKU: a.WholeSKU && b.WholeSKU, NameWords: min(a.NameWords, b.NameWords)}
}

// OccurrenceUnion combines the lists of several tokens.
type OccurrenceUnion struct {
	details []byte // by ordinal, with presentBit
	present OrdinalSet
}

const presentBit = 128

// Add adds a list.
func (u *OccurrenceUnion) Add(list []byte) {
	OccurrenceList{Body: list}.Each(func(ordinal uint32, detail byte) {
		if int(ordinal) >= len(u.details) {
			n := max(2*len(u.details), int(ordinal)+1)
			u.details = append(u.details, make([]byte, n-len(u.details))...)
			u.present = append(u.present, make(OrdinalSet, (n+63)/64-len(u.present))...)
		}
		if was := u.details[ordinal]; was == 0 {
			u.present.Add(ordinal)
		} else {
			detail = merged(occurrence(was), occurrence(detail)).detail()
		}
		u.details[ordinal] = presentBit | detail
	})
}

// Take returns the combined list and empties the union.
func (u *OccurrenceUnion) Take() (list []byte) {
	last := uint32(0)
	for _, ordinal := range u.present.List() {
		list = AppendOccurrence(list, ordinal-last, occurrence(u.details[ordinal]))
		u.details[ordinal], last = 0, ordinal
	}
	clear(u.present)
	return list
}
