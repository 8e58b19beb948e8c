package index

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// sortScratch is memory to sort by scores.
type sortScratch struct {
	byOrdinal []uint32 // all zero between uses
	scores    []uint32 // by position in a list
	top       []scoredEntry
}

var sortScratches = sync.Pool{New: func() any { return &sortScratch{} }}

// scoredEntry is a product with its score and its position in a list.
type scoredEntry struct {
	ordinal, score uint32
	position       int
}

// compareScored compares entries, the better first: by score, then by position.
func compareScored(a, b scoredEntry) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.position, b.position))
}

// BestByScore returns the first products, at most limit, that the list would begin with after SortByScore. It keeps a heap of
// limit entries, so it costs less than to sort a long list.
func BestByScore(list Ordinals, limit, ordinals int, matches ...*Matches) Ordinals {
	s := sortScratches.Get().(*sortScratch)
	defer sortScratches.Put(s)
	top := s.top[:0] // a heap with the worst entry at 0, once there are limit entries
	for i, score := range s.scoresOf(list, ordinals, matches) {
		switch {
		case len(top) < limit:
			if top = append(top, scoredEntry{list[i], score, i}); len(top) == limit {
				slices.SortFunc(top, func(a, b scoredEntry) int { return compareScored(b, a) })
			}
		case limit > 0 && score > top[0].score: // of equal scores the earlier position stays
			top[0] = scoredEntry{list[i], score, i}
			sink(top)
		}
	}
	slices.SortFunc(top, compareScored)
	best := make(Ordinals, len(top))
	for i, entry := range top {
		best[i] = entry.ordinal
	}
	s.top = top
	return best
}

// sink restores a heap whose first entry is too good for its place.
func sink(heap []scoredEntry) {
	for at := 0; ; {
		worst := at
		for child := 2*at + 1; child <= 2*at+2 && child < len(heap); child++ {
			if compareScored(heap[child], heap[worst]) > 0 {
				worst = child
			}
		}
		if worst == at {
			return
		}
		heap[at], heap[worst] = heap[worst], heap[at]
		at = worst
	}
}

// scoresOf returns the sums of scores of the products of a list, by position. They are valid until the scratch is used again.
// Do not change them: they may be those of the only matches.
func (s *sortScratch) scoresOf(list Ordinals, ordinals int, matches []*Matches) []uint32 {
	if len(matches) == 1 && slices.Equal(list, matches[0].Found) {
		return matches[0].Scores
	}
	if len(s.byOrdinal) < ordinals {
		s.byOrdinal = make([]uint32, ordinals)
	}
	for _, m := range matches {
		for i, ordinal := range m.Found {
			s.byOrdinal[ordinal] += m.Scores[i]
		}
	}
	s.scores = s.scores[:0]
	for _, ordinal := range list {
		s.scores = append(s.scores, s.byOrdinal[ordinal])
	}
	for _, m := range matches {
		for _, ordinal := range m.Found {
			s.byOrdinal[ordinal] = 0
		}
	}
	return s.scores
}

// SortByScore sorts products by the sum of their scores in all matches, the highest first. Equal ones keep their order.
// ordinals is one above the highest ordinal, here and for BestByScore.
func SortByScore(list Ordinals, ordinals int, matches ...*Matches) {
	s := sortScratches.Get().(*sortScratch)
	defer sortScratches.Put(s)
	entries := make([]scoredEntry, len(list))
	highest, lowest := uint32(0), uint32(math.MaxUint32)
	for i, score := range s.scoresOf(list, ordinals, matches) {
		entries[i] = scoredEntry{list[i], score, i}
		highest, lowest = max(highest, score), min(lowest, score)
	}
	const bits, mask = 11, 1<<11 - 1
	from, to := entries, make([]scoredEntry, len(entries))
	for shift := 0; len(list) > 1 && shift < 32 && (highest-lowest)>>shift > 0; shift += bits { // a radix sort, which is stable
		var starts [mask + 2]int
		for _, entry := range from {
			starts[(highest-entry.score)>>shift&mask+1]++
		}
		for i := range mask {
			starts[i+1] += starts[i]
		}
		for _, entry := range from {
			at := &starts[(highest-entry.score)>>shift&mask]
			to[*at] = entry
			*at++
		}
		from, to = to, from
	}
	for i, entry := range from {
		list[i] = entry.ordinal
	}
}
