package index

import "encoding/binary"

// Occurrence is where a product has a token.
type Occurrence struct {
	Named     bool  // in the name or SKU
	InSKU     bool  // in the SKU and not in the name
	WholeSKU  bool  // the token is the SKU without punctuation
	NameWords uint8 // words of that name, at most 15; 0 if not Named, or unknown
	Position  uint8 // of the word in that name, from 1; 0 if unknown
}

// AppendOccurrence encodes the occurrence of a token in a product: the step from the ordinal before,
// doubled, plus one if Named, and then the code of the occurrence.
func AppendOccurrence(list []byte, step uint32, o Occurrence) []byte {
	if !o.Named {
		return binary.AppendUvarint(list, uint64(step)<<1)
	}
	return append(binary.AppendUvarint(list, uint64(step)<<1|1), o.code())
}

// An occurrence has a code of one byte: 0 if it is not Named, then NameWords, plus 16 if InSKU and 32 if WholeSKU,
// and from placedCodes on a number for each pair of NameWords and Position.
const (
	maxNameWords = 15
	skuBit       = 16
	wholeBit     = 32
	placedCodes  = 64
	unknownCode  = 255 // Named, in a name of unknown length
)

// code returns the code of the occurrence. A token that is the whole SKU loses its Position.
func (o Occurrence) code() byte {
	words := min(o.NameWords, maxNameWords)
	switch {
	case !o.Named:
		return 0
	case words == 0:
		return unknownCode
	case !o.InSKU && !o.WholeSKU && 0 < o.Position && o.Position <= words:
		return placedCodes + words*(words-1)/2 + o.Position - 1
	}
	if o.InSKU {
		words |= skuBit
	}
	if o.WholeSKU {
		words |= wholeBit
	}
	return words
}

// occurrences are the occurrences by their codes.
var occurrences = func() (all [256]Occurrence) {
	for code := range all {
		all[code].Named = code > 0
	}
	for code := 1; code < placedCodes; code++ {
		all[code].NameWords, all[code].InSKU, all[code].WholeSKU = uint8(code&maxNameWords), code&skuBit > 0, code&wholeBit > 0
	}
	for words := uint8(1); words <= maxNameWords; words++ {
		for position := uint8(1); position <= words; position++ {
			o := Occurrence{Named: true, NameWords: words, Position: position}
			all[o.code()] = o
		}
	}
	return all
}()

// merged combines the codes of two tokens in one product: the place of the first one counts.
func merged(first, second byte) byte {
	a, b := occurrences[first], occurrences[second]
	switch {
	case !a.Named:
		return second
	case !b.Named:
		return first
	}
	if a.Position == 0 || 0 < b.Position && b.Position < a.Position {
		a.Position = b.Position
	}
	a.InSKU, a.WholeSKU, a.NameWords = a.InSKU && b.InSKU, a.WholeSKU && b.WholeSKU, min(a.NameWords, b.NameWords)
	return a.code()
}

// OccurrenceUnion combines the lists of several tokens.
type OccurrenceUnion struct {
	codes   []byte // by ordinal
	present OrdinalSet
}

// Add adds a list.
func (u *OccurrenceUnion) Add(list []byte) {
	OccurrenceList{Body: list}.Each(func(ordinal uint32, code byte) {
		if int(ordinal) >= len(u.codes) {
			n := max(2*len(u.codes), int(ordinal)+1)
			u.codes = append(u.codes, make([]byte, n-len(u.codes))...)
			u.present = append(u.present, make(OrdinalSet, (n+63)/64-len(u.present))...)
		}
		if !u.present.Has(ordinal) {
			u.present.Add(ordinal)
		} else if was := u.codes[ordinal]; was != code {
			code = merged(was, code)
		}
		u.codes[ordinal] = code
	})
}

// Take returns the combined list and empties the union.
func (u *OccurrenceUnion) Take() (list []byte) {
	last := uint32(0)
	for _, ordinal := range u.present.List() {
		list = AppendOccurrence(list, ordinal-last, occurrences[u.codes[ordinal]])
		last = ordinal
	}
	clear(u.present)
	return list
}
