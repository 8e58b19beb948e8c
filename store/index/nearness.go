package index

// place is where the name of a product has the best match of a word: 0 if that is unknown, or else 128 if the word
// is that of the search or a form of it, 16 for each number of a language, and a position of 1 to 15.
type place uint8

const (
	sureBit          = 128
	languageUnit     = 16
	positionMask     = 15
	languageMask     = sureBit - languageUnit
	maxPlaceLanguage = 7
)

// placesIn returns the places of occurrences in a list, by their code.
func (c *candidates) placesIn(list WeightedList) (places [256]place) {
	if !c.keepsPlaces() || list.Language > maxPlaceLanguage {
		return places
	}
	sure := place(0)
	if list.Weight >= WeightStem {
		sure = sureBit
	}
	for code := placedCodes; code < unknownCode; code++ {
		if position := occurrences[code].Position; position > 0 {
			places[code] = sure | place(list.Language*languageUnit+position)
		}
	}
	return places
}

// wordPlaces are the places of the first eight words of a search in one product, eight bits each.
type wordPlaces uint64

// placesOf returns the place of one word, by its number in the search.
func placesOf(number int, at place) wordPlaces { return wordPlaces(at) << (8 * number) }

// of returns the place of a word.
func (p wordPlaces) of(number int) place { return place(p >> (8 * number)) }

// What nearness adds to the values of two words.
const (
	adjacentValue = 48 // as in the search
	closeValue    = 12 // with one word between them, or the other way around
	// unsureShare is the share of these that words count of which one is only similar.
	unsureShare = 3
)

// nearness returns what two neighboring words of a search count, for their places in a name. Function words between
// them, which are left out, make the second one's position in the search more than one greater.
func nearness(first, second place, step int) uint32 {
	if first == 0 || second == 0 || (first^second)&languageMask != 0 {
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
