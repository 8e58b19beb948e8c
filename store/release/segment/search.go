package segment

import (
	"context"
	"slices"
	"strings"

	"portico/store"
	"portico/store/db"
	"portico/store/index"
)

// WordHits are the products that contain a word, and those that have it in
// their name or SKU.
type WordHits struct{ All, Named index.OrdinalSet }

// Hits finds the products of each word of a search, in two statements for each
// layer. Dead products are among them.
func (r *Reader) Hits(ctx context.Context, search index.Search) ([]WordHits, error) {
	r.Reads.Add(AnyProduct)
	var tokens []index.SearchToken
	for _, w := range search.Words {
		if r.Release.Format < formatOfSyllables && (w.Pairs != nil || strings.HasSuffix(w.Whole.Text, index.SyllableEnd)) {
			return nil, r.missing(ctx, "index of words without spaces")
		}
		tokens = append(tokens, w.Tokens()...)
	}
	found := make([]WordHits, len(tokens))
	for i := range found {
		found[i] = WordHits{index.NewOrdinalSet(r.Release.Ordinals), index.NewOrdinalSet(r.Release.Ordinals)}
	}
	for _, layer := range r.layers() {
		if err := layer.addHits(ctx, tokens, found); err != nil {
			return nil, err
		}
	}
	words := make([]WordHits, len(search.Words))
	for i, w := range search.Words {
		n := len(w.Tokens())
		var all, named []index.OrdinalSet
		for _, hit := range found[:n] {
			all, named = append(all, hit.All), append(named, hit.Named)
		}
		words[i], found = WordHits{w.Match(all), w.Match(named)}, found[n:]
	}
	return words, nil
}

// addHits adds the products of each token in the own layer.
func (r *Reader) addHits(ctx context.Context, tokens []index.SearchToken, found []WordHits) error {
	directory, err := r.wordDirectory(ctx)
	if err != nil {
		return err
	}
	wanted := make([][]int, len(tokens)) // chunks
	for i, token := range tokens {
		for _, segment := range directory {
			if segment.language == "" || slices.Contains(r.languages, segment.language) {
				for first, end := segment.chunks(token); first < end; first++ {
					wanted[i] = append(wanted[i], first)
				}
			}
		}
	}
	chunks, err := r.wordChunks(ctx, store.Unique(slices.Concat(wanted...)))
	if err != nil {
		return err
	}
	work := 0
	for _, numbers := range wanted {
		work += r.Release.Ordinals / 4 // two sets
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
				found[i].All.Add(ordinal)
				if isNamed {
					found[i].Named.Add(ordinal)
				}
			})
		}
	}
	return nil
}

// Searched returns the products that a search keeps, in order. Dead products
// are among them.
func (r *Reader) Searched(ctx context.Context, search index.Search) (index.Ordinals, error) {
	r.Reads.Add(AnyProduct)
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedSearch, Name: r.SearchName(search.String())}
	if kept, ok := db.Cached[index.Ordinals](r.Cache, key); ok {
		return kept, nil
	}
	found, err := r.Hits(ctx, search)
	if err != nil {
		return nil, err
	}
	all := found[0].All
	for _, other := range found[1:] {
		all.And(other.All)
	}
	list := all.List()
	r.Cache.Set(key, list)
	return list, nil
}

// SearchName adds the languages to a search's name, because the result depends
// on them.
func (r *Reader) SearchName(name string) string { return name + "@" + strings.Join(r.languages, ",") }
