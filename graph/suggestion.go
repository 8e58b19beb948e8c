package graph

import (
	"context"

	"portico/graph/model"
)

func (r queryResolver) SearchSuggestions(ctx context.Context, text string, first int) (*model.SearchSuggestions, error) {
	v, err := r.catalog(ctx, "Query.searchSuggestions")
	if err != nil {
		return nil, err
	}
	suggestions, err := v.Suggest(ctx, text, first)
	if err != nil {
		return nil, err
	}
	return model.NewSearchSuggestions(suggestions), nil
}

// CorrectedTo returns what the search of a list was corrected to; nil if it was not.
func (r productConnectionResolver) CorrectedTo(ctx context.Context, obj *model.ProductConnection) (*string, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	filter, err := obj.Filter()
	if err != nil {
		return nil, err
	}
	text, err := v.CorrectedTo(ctx, filter)
	if text == "" {
		return nil, err
	}
	return &text, err
}
