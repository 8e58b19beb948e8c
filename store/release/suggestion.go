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

// The most suggestions of a kind, and the products whose names complete a text.
const (
	MaxSuggestions     = 20
	completionProducts = 30
)

// Suggest returns suggestions for a text, at most first of each kind, the best first. It returns none for
// a text without letters and digits, and INVALID for a text that is no valid search, or if first is not
// between 1 and MaxSuggestions.
func (v *View) Suggest(ctx context.Context, text string, first int) (*Suggestions, error) {
	if first < 1 || first > MaxSuggestions {
		return nil, store.Invalidf([]string{"first"}, "must be between 1 and %d, got %d", MaxSuggestions, first)
	}
	search, err := index.NewSearch(text)
	if err != nil {
		return nil, store.Invalidf([]string{"text"}, "%s", store.AsErrors(err)[0].Detail)
	}
	s := &Suggestions{}
	if search.Empty() {
		return s, nil
	}
	products, err := v.bestMatches(ctx, search, max(first, completionProducts))
	if err != nil {
		return nil, err
	}
	names := make([]string, len(products))
	for i, p := range products {
		names[i] = p.Name()
	}
	s.Products, s.Completions = products[:min(first, len(products))], index.Completions(text, names, first)
	if s.CorrectedTo, err = v.correctedTo(ctx, search, names); err != nil {
		return nil, err
	}
	tree, err := v.Tree(ctx)
	if err != nil {
		return nil, err
	}
	if err := store.Charge(ctx, nodeNameWork*len(tree.Nodes)); err != nil {
		return nil, err
	}
	for _, node := range tree.Nodes {
		if search.Names(node.Name) {
			s.Nodes = append(s.Nodes, node)
		}
	}
	slices.SortStableFunc(s.Nodes, func(a, b *segment.CatalogNode) int { return cmp.Compare(len(a.Name), len(b.Name)) })
	s.Nodes = s.Nodes[:min(first, len(s.Nodes))]
	return s, nil
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
		if result.CorrectedTo == "" {
			texts = append(texts, search.Typed)
			continue
		}
		products, err := v.bestMatches(ctx, search, completionProducts)
		if err != nil {
			return "", err
		}
		names := make([]string, len(products))
		for i, p := range products {
			names[i] = p.Name()
		}
		corrected = true
		text, err := v.correctedTo(ctx, search, names)
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	if !corrected {
		return "", nil
	}
	return strings.Join(texts, " "), nil
}

// correctedTo returns a search with mistyped words replaced. Their accents are as in the names that have
// them.
func (v *View) correctedTo(ctx context.Context, search index.Search, names []string) (string, error) {
	result, err := v.Searched(ctx, search)
	if err != nil || result.CorrectedTo == "" {
		return "", err
	}
	return index.Spelled(result.CorrectedTo, names), nil
}
