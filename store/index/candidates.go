package index

import (
	"encoding/binary"
	"slices"
	"sync"
)

// candidates are the products that Match has found so far. It begins with the rarest word and looks up the
// others for its products only.
type candidates struct {
	ordinals, products int
	words              []scoredWord

	found   []uint32     // sorted
	scores  []uint32     // of found, by position
	missing []uint8      // words that are missing, by position in found
	places  []wordPlaces // by position in found; empty for a search of one word

	best    []uint8 // of one word: how well a product matches it, by ordinal; all zero between uses
	placed  []place // where it does so, if best is set
	touched []uint32
	cursor  occurrenceCursor
}

// scoredWord is a word and how much it counts.
type scoredWord struct {
	WordMatches
	rarity uint32
	bytes  int
	number int // of the word in the search, without those that are left out
}

var candidatePool = sync.Pool{New: func() any { return &candidates{} }}

// begin prepares to match words, the rarest first.
func (c *candidates) begin(ordinals, products int, words []WordMatches) {
	c.ordinals, c.products, c.words = ordinals, products, c.words[:0]
	if len(c.best) < ordinals {
		c.best, c.placed = make([]uint8, ordinals), make([]place, ordinals)
	}
	for i, word := range words {
		c.words = append(c.words, scoredWord{word, word.rarity(products), word.Bytes(), i})
	}
	slices.SortStableFunc(c.words, func(a, b scoredWord) int { return a.bytes - b.bytes })
}

func (c *candidates) reset() {
	c.found, c.scores, c.missing, c.places = c.found[:0], c.scores[:0], c.missing[:0], c.places[:0]
}

// keepsPlaces reports whether places are needed.
func (c *candidates) keepsPlaces() bool { return len(c.words) > 1 }

// matchAll finds the products that match all words.
func (c *candidates) matchAll() {
	c.reset()
	for i, word := range c.words {
		if i == 0 {
			c.add(word, 0)
		} else {
			c.narrow(word, 0)
		}
	}
}

// matchAllButOne finds the products that match all words but one, which is not required. So they have the
// rarest required word, or else one of the two rarest words.
func (c *candidates) matchAllButOne() {
	c.reset()
	required := slices.IndexFunc(c.words, func(word scoredWord) bool { return word.Required })
	if required < 0 {
		c.add(c.words[0], 0)
		c.narrow(c.words[1], 1)
		c.add(c.words[1], 1)
		for _, word := range c.words[2:] {
			c.narrow(word, 1)
		}
		return
	}
	c.add(c.words[required], 0)
	for i, word := range c.words {
		if i != required {
			c.narrow(word, 1)
		}
	}
}

// wordValues are what occurrences of a word count, by their code: at most 255, and at least 1.
type wordValues [256]uint8

func valuesOf(weight uint32) (values wordValues) {
	for code, value := range fieldValues {
		values[code] = uint8(max(1, value*weight/256))
	}
	return values
}

// add adds the products that match a word and are not found yet, which miss some others.
func (c *candidates) add(word scoredWord, missing uint8) {
	if len(word.Lists) == 1 && len(word.Sets) == 0 && len(c.found) == 0 {
		c.addList(word.Lists[0], word, missing)
		return
	}
	for _, list := range word.Lists {
		c.mark(list)
	}
	for _, set := range word.Sets {
		values := valuesOf(set.Weight)
		for _, ordinal := range set.All.List() {
			c.improve(ordinal, values[set.code(ordinal)], 0)
		}
	}
	for _, ordinal := range c.found { // they have the word's value already
		c.best[ordinal] = 0
	}
	before := len(c.found)
	c.takeMarked(word)
	for len(c.missing) < len(c.found) {
		c.missing = append(c.missing, missing)
	}
	if before > 0 {
		c.merge(before)
	}
}

// addList is add for one list, whose products are all new.
func (c *candidates) addList(list WeightedList, word scoredWord, missing uint8) {
	values, places := valuesOf(list.Weight), c.placesIn(list)
	n := list.OccurrenceList.Count()
	c.found, c.scores, c.missing = slices.Grow(c.found, n), slices.Grow(c.scores, n), slices.Grow(c.missing, n)
	reader := list.reader()
	for {
		entries := c.cursor.entries[:]
		n := reader.read(entries)
		for _, entry := range entries[:n] {
			if list.Dead != nil && list.Dead.Has(entry.ordinal) {
				continue
			}
			c.found, c.scores = append(c.found, entry.ordinal), append(c.scores, uint32(values[entry.code])*word.rarity)
			if c.keepsPlaces() {
				c.places = append(c.places, placesOf(word.number, places[entry.code]))
			}
		}
		if n < len(entries) {
			break
		}
	}
	for len(c.missing) < len(c.found) {
		c.missing = append(c.missing, missing)
	}
}

// mark sets what the products of a list are worth, unless they are worth as much.
func (c *candidates) mark(list WeightedList) {
	values, places := valuesOf(list.Weight), c.placesIn(list)
	reader := list.reader()
	for {
		entries := c.cursor.entries[:]
		n := reader.read(entries)
		for _, entry := range entries[:n] {
			if list.Dead == nil || !list.Dead.Has(entry.ordinal) {
				c.improve(entry.ordinal, values[entry.code], places[entry.code])
			}
		}
		if n < len(entries) {
			return
		}
	}
}

func (c *candidates) improve(ordinal uint32, value uint8, at place) {
	was := c.best[ordinal]
	if was >= value {
		return
	}
	if was == 0 {
		c.touched = append(c.touched, ordinal)
	}
	c.best[ordinal], c.placed[ordinal] = value, at
}

// takeMarked appends the marked products in order and removes their marks.
func (c *candidates) takeMarked(word scoredWord) {
	n, most := len(c.found), len(c.found)+len(c.touched)+1
	found, scores := slices.Grow(c.found, most-n)[:most], slices.Grow(c.scores, most-n)[:most]
	var places []wordPlaces
	if c.keepsPlaces() {
		places = slices.Grow(c.places, most-n)[:most]
	}
	take := func(ordinal uint32) { // without a branch on the value: the last one is overwritten if it is 0
		value := uint32(c.best[ordinal])
		found[n], scores[n] = ordinal, value*word.rarity
		if places != nil {
			places[n] = placesOf(word.number, c.placed[ordinal])
		}
		n += int((value + 255) >> 8)
	}
	if len(c.touched)*binarySearchFactor < c.ordinals {
		slices.Sort(c.touched)
		for _, ordinal := range c.touched {
			take(ordinal)
			c.best[ordinal] = 0
		}
	} else {
		best := c.best[:c.ordinals]
		for at := 0; at < len(best); at++ {
			if at+8 <= len(best) && binary.LittleEndian.Uint64(best[at:]) == 0 {
				at += 7
				continue
			}
			take(uint32(at))
		}
		clear(best)
	}
	c.found, c.scores, c.touched = found[:n], scores[:n], c.touched[:0]
	if places != nil {
		c.places = places[:n]
	}
}

// seekFactor is the ratio of a list's length to the number of candidates from which it is cheaper to look them up.
const seekFactor = 2

// narrow adds the values of a word to the candidates, and removes those that do not have it if more than some words
// are missing.
func (c *candidates) narrow(word scoredWord, mostMissing uint8) {
	if len(c.found) == 0 {
		return
	}
	for _, list := range word.Lists {
		if list.marks == nil || list.count < seekFactor*len(c.found) {
			c.mark(list)
		} else {
			c.lookUp(list)
		}
	}
	for _, set := range word.Sets {
		values := valuesOf(set.Weight)
		for _, ordinal := range c.found {
			if set.All.Has(ordinal) {
				c.improve(ordinal, values[set.code(ordinal)], 0)
			}
		}
	}
	kept := 0
	for i, ordinal := range c.found {
		value, missing, places := c.best[ordinal], c.missing[i], c.places[i]
		if value > 0 {
			places |= placesOf(word.number, c.placed[ordinal])
		} else {
			if missing++; word.Required || missing > mostMissing {
				continue
			}
		}
		c.found[kept], c.scores[kept], c.missing[kept] = ordinal, c.scores[i]+uint32(value)*word.rarity, missing
		c.places[kept] = places
		kept++
	}
	c.found, c.scores, c.missing, c.places = c.found[:kept], c.scores[:kept], c.missing[:kept], c.places[:kept]
	for _, ordinal := range c.touched {
		c.best[ordinal] = 0
	}
	c.touched = c.touched[:0]
}

// lookUp is mark for the candidates only.
func (c *candidates) lookUp(list WeightedList) {
	values, places := valuesOf(list.Weight), c.placesIn(list)
	c.cursor.reset(list.OccurrenceList)
	for _, ordinal := range c.found {
		if code, found := c.cursor.find(ordinal); found && (list.Dead == nil || !list.Dead.Has(ordinal)) {
			c.improve(ordinal, values[code], places[code])
		}
	}
}

// merge sorts candidates of which those before a position and those from it on are sorted.
func (c *candidates) merge(from int) {
	found, scores, missing, places := slices.Clone(c.found), slices.Clone(c.scores), slices.Clone(c.missing), slices.Clone(c.places)
	for to, first, second := 0, 0, from; to < len(found); to++ {
		at := first
		if first == from || second < len(found) && found[second] < found[first] {
			at = second
			second++
		} else {
			first++
		}
		c.found[to], c.scores[to], c.missing[to], c.places[to] = found[at], scores[at], missing[at], places[at]
	}
}
