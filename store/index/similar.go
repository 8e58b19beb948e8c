package index

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
)

// SimilarWord is a word of a vocabulary that a typed word may have meant.
type SimilarWord struct {
	Text     string
	Distance int // edits: letters inserted, deleted, replaced, or swapped with the next; one more for another first letter
}

// MaxDistance is how many edits a word may be away from a vocabulary word: none below 4 letters, one
// below longCorrected, else two, and none for a word that is too long for vocabularies.
func MaxDistance(word string) int {
	switch n := utf8.RuneCountInString(word); {
	case n < 4:
		return 0
	case n < longCorrected:
		return 1
	case n <= maxVocabularyLength:
		return 2
	}
	return 0
}

// longCorrected is the number of letters from which a word may have any typos.
const longCorrected = 7

// bigramIndex finds words by pairs of neighboring letters. A word is as often in it as it has pairs.
type bigramIndex struct {
	ends  [1<<bigramBits + 1]uint32 // words of bigram b are from ends[b] until ends[b+1] in words
	words []uint32                  // of each bigram: those of most products first
}

const bigramBits = 12

// bigramOf returns the bucket of two letters, which some pairs share; 0 stands before a word.
func bigramOf(a, b rune) uint32 { return (uint32(a)*31 + uint32(b)*1021) & (1<<bigramBits - 1) }

// eachBigram yields the bigrams of a word, beginning with that of its start.
func eachBigram(word string, yield func(bigram uint32)) {
	before := rune(0)
	for _, r := range word {
		yield(bigramOf(before, r))
		before = r
	}
}

// newBigramIndex counts the words of each bigram, and then fills them in, the most frequent words first.
func newBigramIndex(v *Vocabulary) *bigramIndex {
	x := &bigramIndex{}
	for i := range v.Len() {
		eachBigram(v.Word(uint32(i)), func(b uint32) { x.ends[b+1]++ })
	}
	for b := range len(x.ends) - 1 {
		x.ends[b+1] += x.ends[b]
	}
	next := x.ends
	x.words = make([]uint32, x.ends[len(x.ends)-1])
	byCount := make([]uint32, v.Len())
	for i := range byCount {
		byCount[i] = uint32(i)
	}
	slices.SortStableFunc(byCount, func(a, b uint32) int { return cmp.Compare(v.counts[b], v.counts[a]) })
	for _, i := range byCount {
		eachBigram(v.Word(i), func(b uint32) {
			x.words[next[b]] = i
			next[b]++
		})
	}
	return x
}

// similarScratch is memory of Similar.
type similarScratch struct {
	shared []uint16 // bigrams shared with the typed word, by word of the vocabulary; all zero between uses
	seen   []uint32 // the words that share any
}

var similarScratches = sync.Pool{New: func() any { return &similarScratch{} }}

// Similar returns the words of at least some products that are within most edits of a word, or those that begin with such a
// word if prefix is set, in the order of SortSimilar. compared is the number of words whose distance it computed.
func (v *Vocabulary) Similar(word string, most int, prefix bool, products int) (found []SimilarWord, compared int) {
	if most == 0 || v.Len() == 0 {
		return nil, 0
	}
	x := v.bigrams()
	scratch := similarScratches.Get().(*similarScratch)
	defer similarScratches.Put(scratch)
	if len(scratch.shared) < v.Len() {
		scratch.shared = make([]uint16, v.Len())
	}
	scratch.seen = scratch.seen[:0]
	eachBigram(word, func(b uint32) {
		for _, i := range x.words[x.ends[b]:x.ends[b+1]] {
			if v.Count(i) < products {
				break
			}
			if scratch.shared[i] == 0 {
				scratch.seen = append(scratch.seen, i)
			}
			scratch.shared[i]++
		}
	})
	letters := []rune(word)
	var table distanceTable
	// A word has as many bigrams as letters. An edit changes two of them, a swap three. The bound is for one swap: two swaps
	// in a short word are not found.
	least := max(1, len(letters)-2*most-1)
	for _, i := range scratch.seen {
		shared := int(scratch.shared[i])
		scratch.shared[i] = 0
		if shared < least {
			continue
		}
		text := v.Word(i)
		if len(text) < len(word)-4*most || // a letter has up to four bytes
			!prefix && len(text) > len(word)+4*most {
			continue
		}
		compared++
		if distance := table.correction(letters, text, most, prefix); distance <= most {
			found = append(found, SimilarWord{text, distance})
		}
	}
	SortSimilar(found)
	return found, compared
}

// correction returns how many edits text is away from a typed word that it corrects, or more than most. This is the rule of all
// corrections. A short word is an edit away from many others, and likelier one that the shop does not have: it has one typo
// (isMistyped). A longer word may have any, and another first letter counts as one more. With prefix it is the least distance to a
// prefix of text.
func (t *distanceTable) correction(word []rune, text string, most int, prefix bool) int {
	if len(word) < longCorrected {
		if isMistyped(word, []rune(text), prefix) {
			return 1
		}
		return most + 1
	}
	distance := t.distance(word, text, most, prefix)
	if distance <= most && !beginsAlike(word, text) {
		distance++ // the first letter is seldom wrong
	}
	return distance
}

// isMistyped reports whether a word has one typo of another, or of its beginning with prefix: two swapped neighbors; in a word of
// five letters and more also one missing, added, or replaced by a likely one, which is not the first.
func isMistyped(word, other []rune, prefix bool) bool {
	same := func(a, b []rune) bool {
		return len(a) <= len(b) && slices.Equal(a, b[:len(a)]) && (prefix || len(a) == len(b))
	}
	at := 0
	for at < min(len(word), len(other)) && word[at] == other[at] {
		at++
	}
	typed, meant := word[at:], other[at:]
	switch {
	case len(typed) > 1 && len(meant) > 1 && typed[0] == meant[1] && typed[1] == meant[0]:
		return same(typed[2:], meant[2:])
	case len(word) < 5 || at == 0:
		return false
	case len(meant) > 0 && same(typed, meant[1:]):
		return true
	case len(typed) > 0 && same(typed[1:], meant):
		return !prefix || len(typed) > 1 // else any word with the same beginning
	case len(typed) == 0 || len(meant) == 0 || !same(typed[1:], meant[1:]):
		return false
	}
	return isLikely(typed[0], meant[0]) || // or the other one of two letters is doubled, as in brulle
		len(meant) > 1 && typed[0] == word[at-1] && meant[0] == meant[1] || len(typed) > 1 && typed[0] == typed[1] && meant[0] == word[at-1]
}

// isLikely reports whether one letter is often typed for another: they are neighbors on a keyboard, whose keys are then 1, 10 or
// 11 apart, or sound alike. Of a script that is not here, none is.
func isLikely(a, b rune) bool {
	const keyboard = "qwertyuiop asdfghjkl  zxcvbnm"
	x, y := strings.IndexRune(keyboard, a), strings.IndexRune(keyboard, b)
	apart := max(x-y, y-x)
	return x >= 0 && y >= 0 && (apart == 1 || apart == 10 || apart == 11) || slices.ContainsFunc(soundsAlike, func(group string) bool {
		return strings.ContainsRune(group, a) && strings.ContainsRune(group, b)
	})
}

// soundsAlike are groups of letters.
var soundsAlike = strings.Fields("aeiouy ck kq cs sz bp dt fvw gj аеиоуыэюя αεηιουω")

// beginsAlike reports whether two words have the same first letter, or the first two letters of one are swapped.
func beginsAlike(word []rune, text string) bool {
	first, n := utf8.DecodeRuneInString(text)
	second, _ := utf8.DecodeRuneInString(text[n:])
	return first == word[0] || len(word) > 1 && second == word[0] && first == word[1]
}

// SortSimilar sorts words by distance, then by text.
func SortSimilar(list []SimilarWord) {
	slices.SortFunc(list, func(a, b SimilarWord) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.Text, b.Text))
	})
}

// distanceTable computes the optimal string alignment distance. It holds three rows.
type distanceTable struct {
	rows [3][maxVocabularyLength + 1]int
	text [maxVocabularyLength]rune
}

// distance returns the edits between two words, or more than most. With prefix it is the least distance
// to a prefix of text.
func (t *distanceTable) distance(word []rune, text string, most int, prefix bool) int {
	n := 0
	for _, r := range text {
		if n == maxVocabularyLength {
			return most + 1
		}
		t.text[n] = r
		n++
	}
	if n < len(word)-most || !prefix && n > len(word)+most {
		return most + 1
	}
	if prefix {
		n = min(n, len(word)+most)
	}
	before, above, row := &t.rows[0], &t.rows[1], &t.rows[2]
	for j := range n + 1 {
		row[j] = j
	}
	for i, letter := range word {
		before, above, row = above, row, before
		row[0] = i + 1
		least := row[0]
		for j := range n {
			edits := above[j]
			if letter != t.text[j] {
				edits = 1 + min(edits, above[j+1], row[j])
				if i > 0 && j > 0 && letter == t.text[j-1] && word[i-1] == t.text[j] {
					edits = min(edits, before[j-1]+1)
				}
			}
			row[j+1] = edits
			least = min(least, edits)
		}
		if least > most {
			return most + 1
		}
	}
	if !prefix {
		return row[n]
	}
	return slices.Min(row[:n+1])
}

// SimilarSteps returns how many steps Similar takes to find the words to compare with a word, in the sense of store.ChargeSteps: one
// for each word that shares a pair of letters with it.
func (v *Vocabulary) SimilarSteps(word string, products int) (steps int) {
	if v.Len() == 0 {
		return 0
	}
	x := v.bigrams()
	eachBigram(word, func(b uint32) {
		words := x.words[x.ends[b]:x.ends[b+1]]
		steps += sort.Search(len(words), func(i int) bool { return v.Count(words[i]) < products })
	})
	return steps
}
