package index

import (
	"encoding/binary"
	"sort"
)

// Occurrence is where a product has a token, and how often.
type Occurrence struct {
	Named     bool   // in the name or SKU
	InSKU     bool   // in the SKU and not in the name
	WholeSKU  bool   // the token is the SKU without punctuation
	Role      Role   // of the word in that name
	NameWords uint8  // words of that name; 0 if not Named, or unknown
	Position  uint8  // of the word in that name, from 1; 0 if unknown
	Texts     uint8  // how often it is in the description, at most maxTexts
	TextWords uint16 // words of that description; 0 if Texts is
}

// AppendOccurrence encodes the occurrence of a token in a product: four times the step from the ordinal before, plus one
// if Named and two if it is in the description, and then a byte for each of these.
func AppendOccurrence(list []byte, step uint32, o Occurrence) []byte {
	return appendCode(list, step, o.code())
}

func appendCode(list []byte, step uint32, code occurrenceCode) []byte {
	head := uint64(step) << 2
	if code.name > 0 {
		head |= 1
	}
	if code.text > 0 {
		head |= 2
	}
	list = binary.AppendUvarint(list, head)
	if code.name > 0 {
		list = append(list, code.name)
	}
	if code.text > 0 {
		list = append(list, code.text)
	}
	return list
}

// occurrenceCode is an encoded Occurrence.
type occurrenceCode struct {
	// name is 0 if the occurrence is not Named, skuBit if InSKU, plus wholeBit if WholeSKU, or else from placedCodes
	// on a number for each class of NameWords, Position and Role.
	name byte
	// text is 0 if it is not in the description, or else 16 times Texts plus a class of TextWords.
	text byte
}

// What the codes can tell apart. A change needs another ReleaseFormat.
const (
	maxTexts     = 15
	textLengths  = 16 // classes of TextWords
	skuBit       = 1
	wholeBit     = 2
	placedCodes  = 4 // the first code that has a role and a position
	maxNameWords = 15
)

// nameLengths are the most words of each class of names.
var nameLengths = [...]uint8{1, 2, 3, 4, 5, 6, 8, 11, maxNameWords}

// firstCodes are the first codes of names of each class, and that of names in which the position is not known. Each
// position has a code for each Role.
var firstCodes = func() (first [len(nameLengths) + 1]int) {
	first[0] = placedCodes
	for class, words := range nameLengths {
		first[class+1] = first[class] + int(words)*roleCount
	}
	return first
}()

// nameLengthClass returns the class of a name's length.
func nameLengthClass(words uint8) int {
	return min(sort.Search(len(nameLengths), func(i int) bool { return nameLengths[i] >= words }), len(nameLengths)-1)
}

// textLengthOf returns the class of a description's length: each is about 1.4 times as long as the one before, from 8
// words on.
func textLengthOf(words int) (class int) {
	for class < textLengths-1 && words > textLength(class) {
		class++
	}
	return class
}

// textLength returns the most words of a class: 8, 12, 16, 24, 32 and so on.
func textLength(class int) int { return 8 << (class / 2) * (2 + class%2) / 2 }

// code encodes the occurrence. A position that is unknown, or not within the most words of the name's class, is left out
// with the length of the name.
func (o Occurrence) code() (code occurrenceCode) {
	if o.Texts > 0 {
		code.text = min(o.Texts, maxTexts)*textLengths + byte(textLengthOf(int(o.TextWords)))
	}
	switch {
	case !o.Named:
	case o.InSKU || o.WholeSKU:
		if o.InSKU {
			code.name |= skuBit
		}
		if o.WholeSKU {
			code.name |= wholeBit
		}
	default:
		class, position := nameLengthClass(o.NameWords), max(1, int(o.Position))
		if o.Position == 0 || o.Position > nameLengths[class] {
			class, position = len(nameLengths), 1
		}
		code.name = byte(firstCodes[class] + (position-1)*roleCount + int(o.Role))
	}
	return code
}

// namePlaces are what the codes of names stand for, by code. NameWords are the most of the class of the name, or
// maxNameWords if Position is 0. Codes that code never returns are in it too.
var namePlaces = func() (all [256]Occurrence) {
	for code := range all {
		all[code].Named = code > 0
		all[code].InSKU, all[code].WholeSKU = code < placedCodes && code&skuBit > 0, code < placedCodes && code&wholeBit > 0
	}
	for role := range Role(roleCount) {
		for _, words := range nameLengths {
			for position := range words + 1 {
				o := Occurrence{Named: true, NameWords: words, Position: position, Role: role}
				all[o.code().name] = o
			}
		}
	}
	return all
}()

// OccurrenceUnion combines the lists of several tokens. A product has the occurrence that counts most for the head of a
// search, of equal ones the first. The zero value is empty.
type OccurrenceUnion struct {
	codes   []occurrenceCode // by ordinal
	present OrdinalSet
}

// Add adds a list.
func (u *OccurrenceUnion) Add(list []byte) {
	OccurrenceList{Body: list}.Each(func(ordinal uint32, code occurrenceCode) {
		if int(ordinal) >= len(u.codes) {
			n := max(2*len(u.codes), int(ordinal)+1)
			u.codes = append(u.codes, make([]occurrenceCode, n-len(u.codes))...)
			u.present = append(u.present, make(OrdinalSet, (n+63)/64-len(u.present))...)
		}
		if !u.present.Has(ordinal) || headStrengths.of(code) > headStrengths.of(u.codes[ordinal]) {
			u.codes[ordinal] = code
		}
		u.present.Add(ordinal)
	})
}

// Take returns the combined list and empties the union.
func (u *OccurrenceUnion) Take() (list []byte) {
	last := uint32(0)
	for _, ordinal := range u.present.List() {
		list = appendCode(list, ordinal-last, u.codes[ordinal])
		last = ordinal
	}
	clear(u.present)
	return list
}
