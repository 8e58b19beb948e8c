package index

// place is where the name of a product has the best match of a word. It has sureBit if the word is that of the search or a
// form of it. Three bits are the number of the language, and four the position, from 1. Position 0 is unknown.
type place uint8

const (
	sureBit          = 128
	languageUnit     = 16
	positionMask     = 15
	languageMask     = sureBit - languageUnit
	maxPlaceLanguage = 7
	noPlace          = 0       // not in the name, or nobody knows where
	skuPlace         = sureBit // a part of the SKU only: no position, so it is near to nothing
)

// placeIn returns what the places of a list's named occurrences have in common: all but the position. It is noPlace for a
// language whose number does not fit.
func placeIn(list *WeightedList) place {
	if list.Language > maxPlaceLanguage {
		return noPlace
	}
	at := place(list.Language * languageUnit)
	if !list.Prefix && list.Weight >= WeightStem {
		at |= sureBit
	}
	return at
}

// at returns the place of an occurrence; noPlace if places are not kept.
func (m *matchedList) at(code occurrenceCode) place {
	if !m.placed {
		return noPlace
	}
	switch o := &namePlaces[code.name]; {
	case o.Position > 0 && m.Language <= maxPlaceLanguage:
		return m.place | place(o.Position)
	case o.InSKU && code.text == 0:
		return skuPlace
	}
	return noPlace
}

// or returns the place of a word that was found in two ways: the first one with a position, else the place if both are the
// same, else noPlace.
func (p place) or(other place) place {
	switch {
	case p&positionMask > 0 || p == other:
		return p
	case other&positionMask > 0:
		return other
	}
	return noPlace
}

// wordPlaces are the places of the first eight words of a search in one product, eight bits each.
type wordPlaces uint64

// placesOf returns the place of one word, by its number in the search.
func placesOf(number int, at place) wordPlaces { return wordPlaces(at) << (8 * number) }

// of returns the place of a word.
func (p wordPlaces) of(number int) place { return place(p >> (8 * number)) }

// onlySKU reports whether all words but a missing one are parts of the SKU. Those after the first eight are not known.
func (p wordPlaces) onlySKU(words, missing int) bool {
	for number := range words {
		if number != missing && p.of(number) != skuPlace {
			return false
		}
	}
	return true
}

// What nearness adds to the values of two words.
const (
	adjacentValue = 300 // as in the search
	closeValue    = 75  // with one word between them, or the other way around
	// unsureShare is the share of these that words count of which one is only similar.
	unsureShare = 3
)

// nearness returns what two neighboring words of a search count, for their places in a name; 0 if one has no position, or
// if they are in texts of two languages. step is the distance between the words in the search. It is above 1 if function
// words between them were left out.
func nearness(first, second place, step int) uint32 {
	if first&positionMask == 0 || second&positionMask == 0 || (first^second)&languageMask != 0 {
		return 0
	}
	value := uint32(0)
	switch found := int(second&positionMask) - int(first&positionMask); found {
	case 0, 1, step: // both may match one word, such as a compound
		value = adjacentValue
	case -1, 2:
		value = closeValue
	}
	if first&second&sureBit == 0 {
		value /= unsureShare
	}
	return value
}

// addNearness adds to the scores what neighboring words of the search count for being near each other in names.
func (c *candidates) addNearness() {
	if !c.keepsPlaces() {
		return
	}
	byNumber := make([]scoredWord, len(c.words))
	for _, word := range c.words {
		byNumber[word.number] = word
	}
	for number := range len(byNumber) - 1 {
		first, second := byNumber[number], byNumber[number+1]
		rarity, step := min(first.rarity, second.rarity), second.Position-first.Position
		for i, places := range c.places {
			c.scores[i] += rarity * nearness(places.of(number), places.of(number+1), step)
		}
	}
}
