package index

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// candidates are the products that Match has found so far. It begins with the products of the rarest word (add) and looks up the
// others for these only (narrow). What a product is worth by all lists and sets of one word is first collected in best and
// placed, then counted.
type candidates struct {
	ordinals int          // one above the highest ordinal
	products int          // in the release
	words    []scoredWord // the rarest first

	found  []uint32     // sorted
	scores []uint32     // of found, by position
	lacks  []uint8      // the number of the word that is missing plus one, or 0 for none, by position in found
	places []wordPlaces // by position in found; empty for a search of one word

	best    []uint16 // of one word: how well a product matches it, by ordinal; all zero between uses
	placed  []place  // where it does so, if best is set
	touched []uint32 // ordinals for which best is set

	// The memory of one call, kept for the next.
	apart  []boundedList                  // of sortApart
	cursor occurrenceCursor               // of lookUp
	read   [markedEntries]occurrenceEntry // of addList and mark
	weak   []int                          // of dropWeak: how many products lack each word, by number as in lacks
}

// scoredWord is a word and how much it counts.
type scoredWord struct {
	WordMatches
	rarity uint32
	bytes  int  // WordMatches.Bytes
	number int  // of the word in the search, without those that are left out
	whole  bool // products have the word in another way than by its beginning
}

const (
	fullValue = WeightExact * maxStrength // of a word
	// formsPercent is the share that a second form of a word adds: of its value, scaled by what the first leaves up to fullValue.
	formsPercent = 30
)

// scoreOf returns what a value of a word adds to a score. Five bits less keep the sum of all words below completeScore.
func scoreOf(value uint16, rarity uint32) uint32 { return uint32(value>>5) * rarity }

// matchedList is a list of a word with how its occurrences count, as weigh returns it.
type matchedList struct {
	*WeightedList
	weight    uint32
	strengths *strengths
	placed    bool  // places are kept
	place     place // of each named occurrence, without its position
	adds      bool  // it counts together with the other lists of the word; else the best one counts
}

// weigh returns how the occurrences of one of the word's lists count. Those of at least WeightStem are of forms of
// the word, and add.
func (w *scoredWord) weigh(list *WeightedList, places bool) (m matchedList) {
	m = matchedList{WeightedList: list, weight: list.Weight, strengths: wordStrengths, placed: places, place: placeIn(list), adds: list.Weight >= WeightStem}
	if list.Prefix && !w.whole {
		m.weight *= onlyPrefixFactor
	}
	if w.Head || list.Prefix { // an OccurrenceUnion, which stands for beginnings, kept what counts most by headStrengths
		m.strengths = headStrengths
	}
	return m
}

// value returns what an occurrence of the list counts, at most fullValue.
func (m *matchedList) value(code occurrenceCode) uint16 {
	return uint16(m.strengths.of(code) * m.weight)
}

var candidatePool = sync.Pool{New: func() any { return &candidates{} }}

// begin prepares to match words, the rarest first.
func (c *candidates) begin(ordinals, products int, words []WordMatches) {
	c.ordinals, c.products, c.words = ordinals, products, c.words[:0]
	if len(c.best) < ordinals {
		c.best, c.placed = make([]uint16, ordinals), make([]place, ordinals)
	}
	for i, word := range words {
		c.words = append(c.words, scoredWord{word, word.rarity(products), word.Bytes(), i, word.whole()})
	}
	slices.SortStableFunc(c.words, func(a, b scoredWord) int { return a.bytes - b.bytes })
}

// reset removes all candidates.
func (c *candidates) reset() {
	c.found, c.scores, c.lacks, c.places = c.found[:0], c.scores[:0], c.lacks[:0], c.places[:0]
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
			c.narrow(word, false)
		}
	}
}

// matchAllButOne finds the products that match all words, or all but one that is not required. There are at least two words. The
// products have the rarest required word; if no word is required, one of the two rarest.
func (c *candidates) matchAllButOne() {
	c.reset()
	required := slices.IndexFunc(c.words, func(word scoredWord) bool { return word.Required })
	if required < 0 {
		c.add(c.words[0], 0)
		c.narrow(c.words[1], true)
		c.add(c.words[1], uint8(c.words[0].number+1))
		for _, word := range c.words[2:] {
			c.narrow(word, true)
		}
		return
	}
	c.add(c.words[required], 0)
	for i, word := range c.words {
		if i != required {
			c.narrow(word, true)
		}
	}
}

// Products that all lack the same word say little if there are many of them: more than mostWeakProducts, and more than
// 1/weakShare of all products.
const (
	mostWeakProducts = 10
	weakShare        = 10
)

// dropWeak removes the products that lack a word and have of the others only parts of their SKU, and those that are too
// many without the same word. Call it only after matchAllButOne: a search of one word has no places.
func (c *candidates) dropWeak() {
	c.weak = append(c.weak[:0], make([]int, len(c.words)+1)...)
	for _, lack := range c.lacks {
		c.weak[lack]++
	}
	kept := 0
	for i, lack := range c.lacks {
		if lack > 0 && (c.weak[lack] > max(mostWeakProducts, c.products/weakShare) || c.places[i].onlySKU(len(c.words), int(lack)-1)) {
			continue
		}
		c.keep(kept, i)
		kept++
	}
	c.truncate(kept)
}

// keep moves a candidate to an earlier position.
func (c *candidates) keep(to, from int) {
	c.found[to], c.scores[to], c.lacks[to], c.places[to] = c.found[from], c.scores[from], c.lacks[from], c.places[from]
}

// truncate removes the candidates from position n on.
func (c *candidates) truncate(n int) {
	c.found, c.scores, c.lacks, c.places = c.found[:n], c.scores[:n], c.lacks[:n], c.places[:n]
}

// add adds the products that match a word and are not found yet. lack is of all of them, as in lacks. If nothing is found yet
// and no two lists overlap, it appends list after list. Else it marks what each product is worth by all lists and sets, and
// takes the marked ones in order.
func (c *candidates) add(word scoredWord, lack uint8) {
	if len(c.found) == 0 && len(word.Sets) == 0 && c.sortApart(word.Lists) {
		for _, list := range c.apart {
			c.addList(word, list.WeightedList, lack)
		}
		return
	}
	for i := range word.Lists {
		c.mark(word.weigh(&word.Lists[i], c.keepsPlaces()))
	}
	for _, set := range word.Sets {
		for _, ordinal := range set.All.List() {
			c.improve(ordinal, set.value(ordinal), 0, false)
		}
	}
	for _, ordinal := range c.found { // narrow counted the word for them
		c.best[ordinal] = 0
	}
	before := len(c.found)
	c.takeMarked(word)
	c.setLacks(lack)
	if before > 0 {
		c.merge(before)
	}
}

// boundedList is a list whose first and last ordinal are known.
type boundedList struct {
	*WeightedList
	first, last uint32
}

// sortApart reports whether no list overlaps with another, as those of the parts of an index that is built in parts, and
// keeps them in order in apart.
func (c *candidates) sortApart(lists []WeightedList) bool {
	c.apart = c.apart[:0]
	for i := range lists {
		if first, last, found := lists[i].bounds(); found {
			c.apart = append(c.apart, boundedList{&lists[i], first, last})
		}
	}
	slices.SortFunc(c.apart, func(a, b boundedList) int { return cmp.Compare(a.first, b.first) })
	for i := 1; i < len(c.apart); i++ {
		if c.apart[i].first <= c.apart[i-1].last {
			return false
		}
	}
	return true
}

// addList is add for a list of which all ordinals are above those found.
func (c *candidates) addList(word scoredWord, of *WeightedList, lack uint8) {
	list, places := word.weigh(of, c.keepsPlaces()), c.keepsPlaces()
	worth, weight, dead, rarity := list.strengths, list.weight, list.Dead, word.rarity
	kept := len(c.found)
	most := kept + list.OccurrenceList.Count()
	found, scores := slices.Grow(c.found, most-kept)[:most], slices.Grow(c.scores, most-kept)[:most]
	reader := list.reader()
	for {
		entries := c.read[:]
		n := reader.read(entries)
		for _, entry := range entries[:n] {
			if dead != nil && dead.Has(entry.ordinal) {
				continue
			}
			value := uint16(worth.of(entry.code) * weight) // list.value, with its members in local variables: this runs for each entry
			found[kept], scores[kept] = entry.ordinal, scoreOf(value, rarity)
			kept++
			if places {
				c.places = append(c.places, placesOf(word.number, list.at(entry.code)))
			}
		}
		if n < len(entries) {
			break
		}
	}
	c.found, c.scores = found[:kept], scores[:kept]
	c.setLacks(lack)
}

// setLacks sets what the candidates lack that were found last.
func (c *candidates) setLacks(lack uint8) {
	before := len(c.lacks)
	c.lacks = slices.Grow(c.lacks, len(c.found)-before)[:len(c.found)]
	for i := range c.lacks[before:] {
		c.lacks[before+i] = lack
	}
}

// mark sets in best and placed what the products of a list are worth, together with the lists that were marked before.
func (c *candidates) mark(list matchedList) {
	worth, weight, dead, best, touched := list.strengths, list.weight, list.Dead, c.best, c.touched
	reader := list.reader()
	for n := markedEntries; n == markedEntries; {
		n = reader.read(c.read[:])
		for _, entry := range c.read[:n] {
			if dead != nil && dead.Has(entry.ordinal) {
				continue
			}
			value := uint16(worth.of(entry.code) * weight) // as in addList
			if best[entry.ordinal] != 0 {
				c.improve(entry.ordinal, value, list.at(entry.code), list.adds)
				continue
			}
			touched, best[entry.ordinal] = append(touched, entry.ordinal), value
			if list.placed {
				c.placed[entry.ordinal] = list.at(entry.code)
			}
		}
	}
	c.touched = touched
}

// improve counts a way in which a product matches: together with those before if it adds, or else if it is better. The result
// depends on the order of the lists that have the product, so callers give them in one that does not depend on the layers of a
// release.
func (c *candidates) improve(ordinal uint32, value uint16, at place, adds bool) {
	was := c.best[ordinal]
	switch {
	case was == 0:
		c.touched = append(c.touched, ordinal)
		c.best[ordinal], c.placed[ordinal] = value, at
	case adds:
		more, less := max(was, value), min(was, value)
		c.best[ordinal] = more + uint16((fullValue-uint32(more))*uint32(less)/fullValue*formsPercent/100)
		c.placed[ordinal] = c.placed[ordinal].or(at)
	case was < value:
		c.best[ordinal], c.placed[ordinal] = value, at
	}
}

// takeMarked appends the marked products in order and removes their marks.
func (c *candidates) takeMarked(word scoredWord) {
	n, most := len(c.found), len(c.found)+len(c.touched)+1
	found, scores := slices.Grow(c.found, most-n)[:most], slices.Grow(c.scores, most-n)[:most]
	var places []wordPlaces
	if c.keepsPlaces() {
		places = slices.Grow(c.places, most-n)[:most]
	}
	// take appends a product whose value is not 0, without a branch on that: n is only advanced for such a value, so the next
	// call overwrites any other.
	take := func(ordinal uint32) {
		value := c.best[ordinal]
		found[n], scores[n] = ordinal, scoreOf(value, word.rarity)
		if places != nil {
			places[n] = placesOf(word.number, c.placed[ordinal])
		}
		n += int((uint32(value) + math.MaxUint16) >> 16)
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
			if at+4 <= len(best) && best[at]|best[at+1]|best[at+2]|best[at+3] == 0 {
				at += 3
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

// narrow adds the values of a word to the candidates, and removes those without the word. With mayLack it keeps those that lack no
// other word, unless the word is required.
func (c *candidates) narrow(word scoredWord, mayLack bool) {
	if len(c.found) == 0 {
		return
	}
	for i := range word.Lists {
		list := word.weigh(&word.Lists[i], true)
		if list.marks == nil || list.count < seekFactor*len(c.found) {
			c.mark(list)
		} else {
			c.lookUp(list)
		}
	}
	for _, set := range word.Sets {
		for _, ordinal := range c.found {
			if set.All.Has(ordinal) {
				c.improve(ordinal, set.value(ordinal), 0, false)
			}
		}
	}
	kept := 0
	for i, ordinal := range c.found {
		value := c.best[ordinal]
		switch {
		case value > 0:
			c.places[i] |= placesOf(word.number, c.placed[ordinal])
			c.scores[i] += scoreOf(value, word.rarity)
		case word.Required || !mayLack || c.lacks[i] > 0:
			continue
		default:
			c.lacks[i] = uint8(word.number + 1)
		}
		c.keep(kept, i)
		kept++
	}
	c.truncate(kept)
	for _, ordinal := range c.touched {
		c.best[ordinal] = 0
	}
	c.touched = c.touched[:0]
}

// lookUp is mark for the candidates only.
func (c *candidates) lookUp(list matchedList) {
	c.cursor.reset(list.OccurrenceList)
	for _, ordinal := range c.found {
		if code, found := c.cursor.find(ordinal); found && (list.Dead == nil || !list.Dead.Has(ordinal)) {
			c.improve(ordinal, list.value(code), list.at(code), list.adds)
		}
	}
}

// merge sorts candidates of which those before a position and those from it on are sorted.
func (c *candidates) merge(from int) {
	found, scores, lacks, places := slices.Clone(c.found), slices.Clone(c.scores), slices.Clone(c.lacks), slices.Clone(c.places)
	for to, first, second := 0, 0, from; to < len(found); to++ {
		at := first
		if first == from || second < len(found) && found[second] < found[first] {
			at = second
			second++
		} else {
			first++
		}
		c.found[to], c.scores[to], c.lacks[to], c.places[to] = found[at], scores[at], lacks[at], places[at]
	}
}
