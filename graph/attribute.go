package graph

import (
	"context"

	"portico/graph/model"
	"portico/store"
	"portico/store/release"
	"portico/store/release/segment"
)

func (r queryResolver) Attributes(ctx context.Context) ([]*release.AttributeDefinition, error) {
	v, err := r.catalog(ctx, "Query.attributes")
	if err != nil {
		return nil, err
	}
	return v.AttributeDefinitions(ctx)
}

// maxAttributeKeys is the largest number of keys of Product.attributes and CatalogNode.attributes.
const maxAttributeKeys = 100

func (r productResolver) Attributes(ctx context.Context, obj *model.Product, keys []string) ([]*release.AttributeValue, error) {
	return attributesOf(ctx, r.Resolver, obj.BatchRow, keys, func(v *release.View, all []*model.Product) ([][]*release.AttributeValue, error) {
		return v.AttributesOf(ctx, storedProducts(all), keys)
	})
}

func (r catalogNodeResolver) Attributes(ctx context.Context, obj *model.CatalogNode, keys []string) ([]*release.AttributeValue, error) {
	return attributesOf(ctx, r.Resolver, obj.BatchRow, keys, func(v *release.View, all []*model.CatalogNode) ([][]*release.AttributeValue, error) {
		return v.NodeAttributes(ctx, mapRows(all, func(n *model.CatalogNode) *segment.CatalogNode { return n.CatalogNode }), keys)
	})
}

// attributesOf returns the attributes with keys of a row, and loads those of its batch.
func attributesOf[T any](ctx context.Context, r *Resolver, row model.BatchRow[T], keys []string, load func(*release.View, []T) ([][]*release.AttributeValue, error)) ([]*release.AttributeValue, error) {
	if len(keys) > maxAttributeKeys {
		return nil, store.Unprocessablef([]string{"keys"}, "must have at most %d keys, got %d", maxAttributeKeys, len(keys))
	}
	return model.LoadBy(ctx, row, edgeKey("attributes", keys), r, func(r *Resolver, ctx context.Context, all []T) ([][]*release.AttributeValue, error) {
		v, err := r.View(ctx)
		if err != nil {
			return nil, err
		}
		return load(v, all)
	})
}
