package segment

import (
	"context"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/db"
	"portico/store/index"
)

// similarWords are the words that a mistyped one may have meant.
type similarWords []index.SimilarWord

func (s similarWords) Size() int {
	n := 24
	for _, word := range s {
		n += 24 + len(word.Text)
	}
	return n
}

const (
	stepsOfSimilar  = 128 // of reading the lists of a word that a mistyped one may have meant, and counting its products
	stepsOfCompared = 32  // of comparing a word of the vocabulary with a mistyped one, letter by letter
)

// similar returns expander.Corrections of word i: words that so many products have at least. It charges the comparisons to
// the context's Allowance and caches the result, for other searches that have the word.
func (s *searcher) similar(ctx context.Context, expander *index.Expander, i, products int) ([]index.SimilarWord, error) {
	word := expander.Words()[i].Whole
	key := db.CacheKey{Release: s.Release.CacheIdentity(), Kind: cachedSimilar, Name: s.SearchKey(cachekey.New(word.Text)), Number: 2 * products}
	if word.Prefix { // another result
		key.Number++
	}
	found, ok := db.Cached[similarWords](s.Cache, key)
	if !ok {
		if err := store.ChargeSteps(ctx, expander.CorrectionSteps(i, products)); err != nil {
			return nil, err
		}
		var compared int
		found, compared = expander.Corrections(i, products)
		s.Cache.Set(key, found)
		if err := store.ChargeSteps(ctx, stepsOfCompared*compared); err != nil {
			return nil, err
		}
	}
	return found, store.ChargeSteps(ctx, stepsOfSimilar*len(found))
}
