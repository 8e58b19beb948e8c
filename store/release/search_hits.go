package release

import (
	"context"
	"slices"
	"strings"

	"portico/store"
	"portico/store/db"
	"portico/store/index"
)

// hits are the products that hold a word, and those of them that hold it in
// their name or SKU.
type hits struct{ all, named index.OrdinalSet }

// hits finds the products of each word of a search, in two statements for
// each layer. Dead ones are among them, which no list has.
func (v *View) hits(ctx context.Context, search index.Search) ([]hits, error) {
	var tokens []index.SearchToken
	for _, w := range search.Words {
		if v.Release.Format < formatOfSyllables && (w.Pairs != nil || strings.HasSuffix(w.Whole.Text, index.SyllableEnd)) {
			return nil, v.notKept(ctx, "index of words without spaces")
		}
		tokens = append(tokens, w.Tokens()...)
	}
	found := make([]hits, len(tokens))
	for i := range found {
		found[i] = hits{index.NewOrdinalSet(v.Release.Ordinals), index.NewOrdinalSet(v.Release.Ordinals)}
	}
	if base := v.base(); base != nil {
		if err := base.hitsHere(ctx, tokens, found); err != nil {
			return nil, err
		}
	}
	if err := v.hitsHere(ctx, tokens, found); err != nil {
		return nil, err
	}
	words := make([]hits, len(search.Words))
	for i, w := range search.Words {
		n := len(w.Tokens())
		var all, named []index.OrdinalSet
		for _, hit := range found[:n] {
			all, named = append(all, hit.all), append(named, hit.named)
		}
		words[i], found = hits{w.Match(all), w.Match(named)}, found[n:]
	}
	return words, nil
}

// hitsHere adds those of each token in the view's own layer.
func (v *View) hitsHere(ctx context.Context, tokens []index.SearchToken, found []hits) error {
	directory, err := v.wordDirectory(ctx)
	if err != nil {
		return err
	}
	wanted := make([][]int, len(tokens)) // chunks
	for i, token := range tokens {
		for _, segment := range directory {
			if segment.language == "" || slices.Contains(v.languages, segment.language) {
				for first, end := segment.chunks(token); first < end; first++ {
					wanted[i] = append(wanted[i], first)
				}
			}
		}
	}
	chunks, err := v.wordChunks(ctx, store.Unique(slices.Concat(wanted...)))
	if err != nil {
		return err
	}
	work := 0
	for _, numbers := range wanted {
		work += v.Release.Ordinals / 4 // two sets
		for _, number := range numbers {
			work += len(chunks[number])
		}
	}
	if err := store.Charge(ctx, work); err != nil {
		return err
	}
	for i, token := range tokens {
		for _, number := range wanted[i] {
			chunks[number].each(token, func(ordinal uint32, isNamed bool) {
				found[i].all.Add(ordinal)
				if isNamed {
					found[i].named.Add(ordinal)
				}
			})
		}
	}
	return nil
}

// searched returns the products that a search keeps, in order.
func (v *View) searched(ctx context.Context, search index.Search) (index.Ordinals, error) {
	key := db.CacheKey{Release: v.Release.identity(), Kind: cachedFilter, Name: v.searchName(search)}
	if kept, ok := db.Cached[index.Ordinals](v.Cache, key); ok {
		return kept, nil
	}
	found, err := v.hits(ctx, search)
	if err != nil {
		return nil, err
	}
	all := found[0].all
	for _, other := range found[1:] {
		all.And(other.all)
	}
	list := all.List()
	v.Cache.Set(key, list)
	return list, nil
}

// searchName tells searches apart, which depend on the shopper's languages.
func (v *View) searchName(search index.Search) string {
	return search.String() + "@" + strings.Join(v.languages, ",")
}
