package release

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"portico/store"
	"portico/store/index"
	"portico/store/release/segment"
)

// Suggestions are what a shopper may look for who has typed a part of a search.
type Suggestions struct {
	Completions []string // the text with its last word completed by words of product names, the most frequent first
	Products    []*Product
	Nodes       []*segment.CatalogNode // whose names have all words
	CorrectedTo string                 // the text with mistyped words replaced; empty if none was
}

// The most suggestions of a kind, and the number of products whose names complete a text, at least.
const (
	MaxSuggestions     = 20
	completionProducts = 30
)

// Suggest returns suggestions for a text, at most first of each kind, the best first. Mistyped words are
// replaced as a search does; what the replaced text finds comes first. It returns none for a text without
// letters and digits, and INVALID for a text that is no valid search, or if first is not between 1 and
// MaxSuggestions.
func (v *View) Suggest(ctx context.Context, text string, first int) (*Suggestions, error) {
	if first < 1 || first > MaxSuggestions {
		return nil, store.Invalidf([]string{"first"}, "must be between 1 and %d, got %d", MaxSuggestions, first)
	}
	search, err := index.NewSearch(text)
	if err != nil {
		return nil, store.Invalidf([]string{"text"}, "%s", store.AsErrors(err)[0].Detail)
	}
	s := &Suggestions{}
	if len(search.Words) == 0 {
		return s, nil
	}
	result, err := v.Searched(ctx, search)
	if err != nil {
		return nil, err
	}
	correctedTo := search.Corrected(result.Corrections)
	meant, named := search, []nodeMatch{{search.Names, nodeNameWork}}                     // what is typed, then what was meant, then what is similar
	if corrected, err := index.NewSearch(correctedTo); err == nil && !corrected.Empty() { // mistyped, or only nodes have the words
		meant = corrected
		named = append(named, nodeMatch{meant.Names, nodeNameWork})
	}
	named = append(named, nodeMatch{meant.SimilarlyNames, 8 * nodeNameWork}) // it computes distances
	products, err := v.bestMatches(ctx, meant, max(first, completionProducts))
	if err != nil {
		return nil, err
	}
	names := productNames(products)
	s.Products, s.Completions = products[:min(first, len(products))], index.Completions(text, result.Corrections, names, first)
	s.CorrectedTo = index.Spelled(correctedTo, names)
	s.Nodes, err = v.namedNodes(ctx, named, first)
	return s, err
}

// nodeMatch is a way to find nodes by their names, and the work of it for each node, in bytes of an Allowance.
type nodeMatch struct {
	finds func(name string) bool
	work  int
}

// namedNodes returns at most n nodes that the first of several ways finds that finds any; the shortest name first.
func (v *View) namedNodes(ctx context.Context, ways []nodeMatch, n int) (nodes []*segment.CatalogNode, err error) {
	tree, err := v.Tree(ctx)
	if err != nil {
		return nil, err
	}
	for _, way := range ways {
		if err := store.Charge(ctx, way.work*len(tree.Nodes)); err != nil {
			return nil, err
		}
		for _, node := range tree.Nodes {
			if way.finds(v.NodeName(node)) {
				nodes = append(nodes, v.Localized(node))
			}
		}
		if len(nodes) > 0 {
			break
		}
	}
	slices.SortStableFunc(nodes, func(a, b *segment.CatalogNode) int { return cmp.Compare(len(a.Name), len(b.Name)) })
	return nodes[:min(n, len(nodes))], nil
}

// nodeNameWork is the work of comparing the name of a node, in bytes of an Allowance.
const nodeNameWork = 64

// bestMatches returns at most n listed products that a search finds, the best first.
func (v *View) bestMatches(ctx context.Context, search index.Search, n int) ([]*Product, error) {
	slice, err := v.Products(ctx, ProductQuery{Filter: ProductFilter{Searches: []index.Search{search}}, Sort: store.Sort{By: store.SortRelevance}, Page: store.Page{First: &n}})
	if err != nil {
		return nil, err
	}
	return slice.Items, nil
}

// CorrectedTo returns the searches of a filter with mistyped words replaced by those that the result was
// found by; empty if none was.
func (v *View) CorrectedTo(ctx context.Context, filter ProductFilter) (string, error) {
	var texts []string
	corrected := false
	for _, search := range filter.Searches {
		result, err := v.Searched(ctx, search)
		if err != nil {
			return "", err
		}
		correctedTo := search.Corrected(result.Corrections)
		if correctedTo == "" {
			texts = append(texts, search.Typed)
			continue
		}
		products, err := v.bestMatches(ctx, search, completionProducts)
		if err != nil {
			return "", err
		}
		corrected = true
		texts = append(texts, index.Spelled(correctedTo, productNames(products)))
	}
	if !corrected {
		return "", nil
	}
	return strings.Join(texts, " "), nil
}

func productNames(products []*Product) []string {
	names := make([]string, len(products))
	for i, p := range products {
		names[i] = p.Name()
	}
	return names
}
