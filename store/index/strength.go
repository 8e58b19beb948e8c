package index

// How much a word counts for a product that has it, by BM25F: the name counts as nameWeight repetitions, more
// occurrences in the description count less each, and an occurrence in a long text counts less. The usual lengths are
// constants, so that the order does not depend on which products a release stores in which layer.
const (
	nameWeight      = 10
	saturation      = 1.2 // k1: with this many occurrences a word counts half
	usualNameWords  = 6
	usualTextWords  = 100
	nameLengthShare = 0.4  // b: how much the length counts
	textLengthShare = 0.75 // the same of a description
	maxStrength     = 255
	// leastText is the strength from which a word in a description begins. It is above all of words by their beginning.
	leastText = 0.14
	// textBesideName is the share of its strength that a word adds in the description of a product whose name has it.
	textBesideName = 30   // percent
	mostText       = 0.75 // the strength that a word in a description comes near to
	skuStrength    = 180  // of a word that is a part of the SKU
)

// strengths are the strengths of words in names and descriptions, by occurrenceCode.
type strengths struct {
	names, texts [256]uint32
	textShares   [256]uint32 // how much the strength in the description counts beside the name, of 65536 / maxStrength
}

// of returns the strength of an occurrence, from 1 to maxStrength: that of the name, and of what is left up to maxStrength a
// share for the description. It has no branch, because the processor could not predict one.
func (s *strengths) of(code occurrenceCode) uint32 {
	name := s.names[code.name]
	return name + (maxStrength-name)*s.texts[code.text]*s.textShares[code.name]>>16
}

// The strengths of words of a search. The role of a word in a name counts for the head of the search only: for laptop in
// "gaming laptop".
var (
	headStrengths = newStrengths([roleCount]float64{RoleOther: 0.7, RoleHead: 1, RoleLater: 0.9, RoleAside: 0.6})
	wordStrengths = newStrengths([roleCount]float64{RoleOther: 0.9, RoleHead: 0.9, RoleLater: 0.88, RoleAside: 0.8})
)

// wholeShare is 65536 / maxStrength, rounded up.
const wholeShare = 258

// newStrengths computes the strengths of all codes, given how much a word of each role in a name counts.
func newStrengths(byRole [roleCount]float64) *strengths {
	var s strengths
	saturated := func(frequency, length, usual, share float64) float64 {
		return frequency / (frequency + saturation*(1-share+share*length/usual))
	}
	for code, o := range namePlaces {
		s.textShares[code] = wholeShare * textBesideName / 100
		switch {
		case o.WholeSKU:
			s.names[code] = maxStrength
		case o.InSKU:
			s.names[code] = skuStrength
		case o.Named:
			s.names[code] = uint32(maxStrength * byRole[o.Role] * saturated(nameWeight, float64(o.NameWords), usualNameWords, nameLengthShare))
		default:
			s.textShares[code] = wholeShare
		}
	}
	for code := textLengths; code < len(s.texts); code++ {
		text := saturated(float64(code/textLengths), float64(textLength(code%textLengths)), usualTextWords, textLengthShare)
		s.texts[code] = uint32(maxStrength * (leastText + (mostText-leastText)*text))
	}
	return &s
}
