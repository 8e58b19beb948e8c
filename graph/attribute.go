package graph

import (
	"context"

	"portico/graph/model"
	"portico/store"
	"portico/store/release"
)

func (r queryResolver) Attributes(ctx context.Context) ([]*release.AttributeDefinition, error) {
	v, err := r.catalog(ctx, "Query.attributes")
	if err != nil {
		return nil, err
	}
	return v.AttributeDefinitions(ctx)
}

// maxAttributeKeys is the largest number of keys of Product.attributes.
const maxAttributeKeys = 100

func (r productResolver) Attributes(ctx context.Context, obj *model.Product, keys []string) ([]*release.ProductAttribute, error) {
	if len(keys) > maxAttributeKeys {
		return nil, store.Unprocessablef([]string{"keys"}, "must have at most %d keys, got %d", maxAttributeKeys, len(keys))
	}
	return model.LoadBy(ctx, obj.BatchRow, edgeKey("attributes", keys), r.Resolver, func(r *Resolver, ctx context.Context, all []*model.Product) ([][]*release.ProductAttribute, error) {
		v, err := r.View(ctx)
		if err != nil {
			return nil, err
		}
		return v.AttributesOf(ctx, storedProducts(all), keys)
	})
}
