package segment

import (
	"cmp"
	"context"
	"slices"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/db"
	"portico/store/index"
)

// SearchResult are the products that a search finds, and what they were found by. It is the same for all searches with
// one Key.
type SearchResult struct {
	index.Matches
	// Corrections are the words by which mistyped ones were found, the one of most products first.
	Corrections index.Corrections
}

func (s *SearchResult) Size() int {
	return s.Matches.Size() + s.Corrections.Size()
}

// searchLayer is what a search reads in one layer of a release.
type searchLayer struct {
	*Reader
	batches   []wordBatch      // of the base text and the shopper's languages
	dead      index.OrdinalSet // of all layers; nil for the release's own layer, which has none
	deadList  index.Ordinals   // the same in order
	deadCount int
}

// searcher runs one search.
type searcher struct {
	*Reader
	search index.Search
	layers []searchLayer
	lists  map[index.SearchToken][]index.WeightedList // of the tokens that were read, without Weight and Prefix
}

// Searched returns the products that a search finds, without dead ones. It reads
// the synonyms, the directory, the vocabularies and the lists in one statement each for each
// layer, and further lists if a word matches nothing at first.
func (r *Reader) Searched(ctx context.Context, search index.Search) (*SearchResult, error) {
	r.Reads.Add(AnyProduct)
	r.Reads.Add(AnyNode) // by liftCategory
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedSearch, Name: r.SearchKey(search.Key())}
	if kept, ok := db.Cached[*SearchResult](r.Cache, key); ok {
		return kept, nil
	}
	s, expander, err := r.newSearcher(ctx, search)
	if err != nil {
		return nil, err
	}
	result, err := s.run(ctx, expander)
	if err != nil {
		return nil, err
	}
	r.Cache.Set(key, result)
	return result, nil
}

// newSearcher reads the directories, the vocabularies and the synonyms, and returns an expander of the search for these.
func (r *Reader) newSearcher(ctx context.Context, search index.Search) (*searcher, *index.Expander, error) {
	s := &searcher{Reader: r, search: search, lists: map[index.SearchToken][]index.WeightedList{}}
	dead, err := r.Dead(ctx)
	if err != nil {
		return nil, nil, err
	}
	var sources []index.WordSource
	for _, reader := range r.layers() {
		directory, err := reader.wordDirectory(ctx)
		if err != nil {
			return nil, nil, err
		}
		layer := searchLayer{Reader: reader}
		for _, batch := range directory {
			if batch.language == "" || slices.Contains(r.languages, batch.language) {
				layer.batches = append(layer.batches, batch)
			}
		}
		if reader != r && len(dead) > 0 {
			layer.dead, layer.deadList, layer.deadCount = index.Posting{Ordinals: dead}.Set(r.Release.Ordinals), dead, len(dead)
		}
		s.layers = append(s.layers, layer)
		vocabularies, err := reader.vocabularies(ctx, layer.batches)
		if err != nil {
			return nil, nil, err
		}
		sources = append(sources, vocabularies...)
	}
	synonyms, err := r.synonyms(ctx)
	if err != nil {
		return nil, nil, err
	}
	return s, index.NewExpander(search, sources, append([]string{r.Release.Locale}, r.languages...), synonyms), nil
}

// run finds the products:
//   - those whose SKU the search is, or begins, if there are any (bySKU), and nothing else;
//   - else those that match each word by the ways of Expand and by its synonyms. A word that matches nothing so gets the ways
//     of fallBack, and if it still matches nothing, its corrections (corrected);
//   - words with digits that products have are required.
//
// Then it raises products whose name is the search as typed, or if there are none as corrected, and those of categories whose
// name is the search as corrected.
func (s *searcher) run(ctx context.Context, expander *index.Expander) (*SearchResult, error) {
	words := expander.Words()
	ways := make([][]index.Expansion, len(words))
	wholes := expander.Wholes()
	if result, err := s.bySKU(ctx, wholes); result != nil || err != nil {
		return result, err
	}
	tokens := slices.Clone(wholes)
	for i, word := range words {
		if word.Unspaced() {
			tokens = append(tokens, word.Tokens()...)
		} else {
			ways[i] = expander.Expand(i)
		}
		ways[i] = append(ways[i], expander.Synonyms(i)...)
		tokens = append(tokens, tokensOf(ways[i])...)
	}
	if err := s.read(ctx, tokens); err != nil {
		return nil, err
	}
	matches := make([]index.WordMatches, len(words))
	for i, word := range words {
		matches[i] = s.matches(ways[i])
		if word.Unspaced() {
			matches[i].Sets = append(s.unspaced(word).Sets, matches[i].Sets...)
		} else if !matches[i].Any() {
			var err error
			if matches[i], err = s.fallBack(ctx, expander, i); err != nil {
				return nil, err
			}
		}
		matches[i].Position, matches[i].Head = word.Position, word.Head
	}
	result, err := s.corrected(ctx, expander, matches, wholes)
	if err != nil || len(result.Found) == 0 {
		return result, err
	}
	text := cmp.Or(s.search.Corrected(result.Corrections), s.search.Typed)
	if err := s.liftNamed(ctx, result, store.Unique([]string{s.search.Typed, text})...); err != nil {
		return nil, err
	}
	return result, s.liftCategory(ctx, result, text)
}

// corrected matches words, mistyped ones by what they may have meant. A word that products have as typed, or in a form, may have
// meant only words that are much more frequent. In a search of several words it may have meant only words that a product has
// together with the others (index.Matches.Together).
func (s *searcher) corrected(ctx context.Context, expander *index.Expander, matches []index.WordMatches, wholes []index.SearchToken) (*SearchResult, error) {
	words, corrections := expander.Words(), index.Corrections{}
	meant := make([][]index.FoundCorrection, len(words))
	for i, word := range words {
		typed := matches[i].Products(index.WeightStem)
		if word.Unspaced() || typed == 0 && matches[i].Any() { // it has no form of its own, but a compound, a longer word or a synonym
			continue
		}
		var err error
		if meant[i], err = s.meant(ctx, expander, i, typed); err != nil {
			return nil, err
		}
	}
	listsOf := func(word index.FoundCorrection, best bool) []index.WeightedList {
		return s.matches(expander.Correction(word.SimilarWord, best)).Lists
	}
	match := func(asTyped bool) (*SearchResult, error) {
		all := slices.Clone(matches)
		for i, found := range meant {
			if len(found) > 0 && !asTyped {
				all[i].Lists = nil
			}
			for k, word := range found {
				all[i].Lists = append(all[i].Lists, listsOf(word, k == 0)...)
			}
			all[i].Required = index.HasDigit(words[i].Whole.Text) && all[i].Any()
		}
		return s.match(ctx, all, wholes)
	}
	if len(words) > 1 && slices.ContainsFunc(meant, func(found []index.FoundCorrection) bool { return len(found) > 0 }) {
		result, err := match(false)
		if err != nil {
			return nil, err
		}
		together := result.Together(len(words), s.Release.Ordinals)
		for i := range meant {
			meant[i] = slices.DeleteFunc(meant[i], func(word index.FoundCorrection) bool {
				return !slices.ContainsFunc(listsOf(word, true), func(list index.WeightedList) bool { return list.Meets(together) })
			})
		}
	}
	result, err := match(true)
	if err != nil || len(result.Found) == 0 {
		return result, err
	}
	for i, found := range meant {
		for _, word := range found {
			corrections[words[i].Whole.Text] = append(corrections[words[i].Whole.Text], word.Text)
		}
	}
	result.Corrections = corrections
	return result, nil
}

// liftNamed raises the products whose name is the first of some texts that is a name, in the base language or one of the
// shopper's: those of the same stems, and above them those of the same letters.
func (s *searcher) liftNamed(ctx context.Context, result *SearchResult, texts ...string) error {
	for _, text := range texts {
		n := 1 + len(s.languages)
		keys := make([]string, 2*n) // of letters, then of stems
		keys[0], keys[n] = index.NameKeys("", s.Release.Locale, text)
		for i, language := range s.languages {
			keys[i+1], keys[n+i+1] = index.NameKeys(language, language, text)
		}
		named, err := s.Indexed(ctx, ProductNames, keys...)
		if err != nil {
			return err
		}
		if len(named) > 0 {
			result.LiftNamed(named)
			named, err = s.Indexed(ctx, ProductNames, keys[:n]...)
			result.LiftNamed(named)
			return err
		}
	}
	return nil
}

// match matches words, and the whole search as a SKU, and charges the work.
func (s *searcher) match(ctx context.Context, words []index.WordMatches, wholes []index.SearchToken) (*SearchResult, error) {
	work := s.Release.Ordinals / 4
	for _, word := range words {
		work += word.Bytes()
	}
	if err := store.Charge(ctx, work); err != nil {
		return nil, err
	}
	var skus []index.WeightedList
	for _, token := range wholes {
		skus = append(skus, s.lists[token]...)
	}
	return &SearchResult{Matches: *index.Match(s.Release.Ordinals, s.Release.Products, words, skus)}, nil
}

// shortestSKU is the length from which a SKU is looked up whole, without punctuation.
const shortestSKU = 5

// bySKU answers a search that is a SKU with the products whose SKU it is, and those whose SKU it begins;
// nil for any other search. wholes are the search as one token (Expander.Wholes). It passes those up to the one that is a
// SKU to match, whose lists are read.
func (s *searcher) bySKU(ctx context.Context, wholes []index.SearchToken) (*SearchResult, error) {
	for _, whole := range wholes {
		if len(whole.Text) < shortestSKU || !index.HasDigit(whole.Text) {
			continue
		}
		longer := index.SearchToken{Text: whole.Text, Prefix: true}
		if err := s.read(ctx, []index.SearchToken{whole, longer}); err != nil {
			return nil, err
		}
		if !index.IsSKU(s.lists[whole]) {
			continue
		}
		ways := []index.Expansion{{One: whole, Weight: index.WeightExact}, {One: longer, Weight: index.WeightPrefix}}
		return s.match(ctx, []index.WordMatches{s.matches(ways)}, wholes[:1+slices.Index(wholes, whole)])
	}
	return nil, nil
}

// tokensOf returns the tokens of all ways.
func tokensOf(ways []index.Expansion) (tokens []index.SearchToken) {
	for _, way := range ways {
		tokens = append(tokens, way.Tokens()...)
	}
	return tokens
}

// fallBack returns where word i matches by Expander.Fallbacks.
func (s *searcher) fallBack(ctx context.Context, expander *index.Expander, i int) (index.WordMatches, error) {
	ways := expander.Fallbacks(i)
	if err := s.read(ctx, tokensOf(ways)); err != nil {
		return index.WordMatches{}, err
	}
	return s.matches(ways), nil
}

// meant returns the words that word i, which so many products have, may have meant, the word that most products have first. The
// lists of their expander.Correction are read.
func (s *searcher) meant(ctx context.Context, expander *index.Expander, i, products int) ([]index.FoundCorrection, error) {
	similar, err := s.similar(ctx, expander, i, index.OftenMeant(products))
	if err != nil {
		return nil, err
	}
	var tokens []index.SearchToken
	for _, word := range similar {
		tokens = append(tokens, index.SearchToken{Text: word.Text})
	}
	if err := s.read(ctx, tokens); err != nil {
		return nil, err
	}
	var found []index.FoundCorrection
	for i, word := range similar {
		if n := s.matches([]index.Expansion{{One: tokens[i]}}).Products(0); n > 0 {
			found = append(found, index.FoundCorrection{SimilarWord: word, Products: n})
		}
	}
	found, tokens = index.Meant(products, found), nil
	for _, word := range found {
		tokens = append(tokens, tokensOf(expander.Correction(word.SimilarWord, true))...)
	}
	return found, s.read(ctx, tokens)
}

// read adds the lists of tokens in all layers to s.lists, unless they are there.
func (s *searcher) read(ctx context.Context, tokens []index.SearchToken) error {
	tokens = slices.DeleteFunc(store.Unique(tokens), func(token index.SearchToken) bool {
		_, known := s.lists[token]
		return known
	})
	for _, layer := range s.layers {
		var numbers []int
		for _, token := range tokens {
			for _, batch := range layer.batches {
				for first, end := batch.chunks(token); first < end; first++ {
					numbers = append(numbers, first)
				}
			}
		}
		chunks, err := layer.wordChunks(ctx, store.Unique(numbers))
		if err != nil {
			return err
		}
		for _, token := range tokens {
			for _, batch := range layer.batches {
				var of []*wordChunk
				for first, end := batch.chunks(token); first < end; first++ {
					of = append(of, chunks[first])
				}
				language := uint8(1 + slices.Index(s.languages, batch.language)) // 0 is the base text
				lists := tokenLists(of, token)
				for i, list := range lists {
					weighted := index.WeightedList{OccurrenceList: list, Language: language, Dead: layer.dead, DeadCount: layer.deadCount}
					if i == 0 {
						weighted.Products = index.LiveProducts(lists, layer.deadList, s.Release.Ordinals)
					}
					s.lists[token] = append(s.lists[token], weighted)
				}
			}
		}
	}
	for _, token := range tokens { // also those without lists, so that they are not read again
		s.lists[token] = s.lists[token][:len(s.lists[token]):len(s.lists[token])]
	}
	return nil
}

// matches returns where a word matches in some ways, whose lists are read.
func (s *searcher) matches(ways []index.Expansion) (m index.WordMatches) {
	for _, way := range ways {
		if way.All != nil {
			if set := s.together(way); set != nil {
				m.Sets = append(m.Sets, *set)
			}
			continue
		}
		for _, list := range s.lists[way.One] {
			list.Weight, list.Prefix = way.Weight, way.One.Prefix
			m.Lists = append(m.Lists, list)
		}
	}
	return m
}

// set returns the live products that have one of some tokens, and those of them that have it in their name or SKU.
func (s *searcher) set(tokens ...index.SearchToken) (all, named index.OrdinalSet) {
	all, named = index.NewOrdinalSet(s.Release.Ordinals), index.NewOrdinalSet(s.Release.Ordinals)
	for _, token := range tokens {
		for _, list := range s.lists[token] {
			list.AddTo(all, named)
		}
	}
	return all, named
}

// together returns the products that have a token of each group; nil if no product has one of some group.
func (s *searcher) together(way index.Expansion) *index.WeightedSet {
	for _, group := range way.All {
		if !slices.ContainsFunc(group, func(token index.SearchToken) bool { return len(s.lists[token]) > 0 }) {
			return nil
		}
	}
	all, named := s.set(way.All[0]...)
	for _, group := range way.All[1:] {
		others, othersNamed := s.set(group...)
		all.And(others)
		named.And(othersNamed)
	}
	return &index.WeightedSet{All: all, Named: named, Weight: way.Weight}
}

// unspaced returns where a word of a script without spaces matches.
func (s *searcher) unspaced(word index.SearchWord) index.WordMatches {
	var all, named []index.OrdinalSet
	for _, token := range word.Tokens() {
		products, productsNamed := s.set(token)
		all, named = append(all, products), append(named, productsNamed)
	}
	return index.WordMatches{Sets: []index.WeightedSet{{All: word.Match(all), Named: word.Match(named), Weight: index.WeightExact}}}
}

// SearchKey adds the languages to the key of a search, because the result depends
// on them.
func (r *Reader) SearchKey(search cachekey.Key) cachekey.Key {
	return cachekey.Join(search, cachekey.New(r.languages...))
}
