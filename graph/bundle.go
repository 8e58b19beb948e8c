package graph

import (
	"context"

	"portico/graph/model"
	"portico/store"
	"portico/store/release"
)

func (r queryResolver) ProductConfigured(ctx context.Context, id string, choices []*release.BundleChoice) (*model.Product, error) {
	v, err := r.catalog(ctx, "Query.productConfigured")
	if err != nil {
		return nil, err
	}
	product, err := v.ConfiguredProduct(ctx, store.LocalID(id), localChoices(valuesOf(choices)))
	return orNull(singleRow[model.Product](product, err))
}

// Product returns the bundle without the choices.
func (r configuredResolver) Product(ctx context.Context, obj *model.Product) (*model.Product, error) {
	products, err := r.ProductsByID(ctx, []string{obj.ID()}, nil)
	return products[obj.ID()], err
}

// localChoices converts the global ids of choices to stored ones.
func localChoices(choices []release.BundleChoice) []release.BundleChoice {
	local := make([]release.BundleChoice, len(choices))
	for i, choice := range choices {
		local[i] = release.BundleChoice{Component: choice.Component, Options: make([]release.BundleOption, len(choice.Options))}
		for k, option := range choice.Options {
			local[i].Options[k] = release.BundleOption{ID: store.LocalID(option.ID), Quantity: option.Quantity}
		}
	}
	return local
}
