package graph

import (
	"context"
	"fmt"

	"portico/graph/model"
	"portico/internal/auth"
	"portico/store"
	"portico/store/release/segment"
)

// notID is the error for a text that is not an id.
func notID(id string, path ...string) error {
	return &store.Error{Code: store.Invalid, Path: path, Detail: fmt.Sprintf("must be a global id or a uuid, got %q", id)}
}

// nodesByID returns objects of any type by global or stored ids, in order; nil for unknown ids. It reads
// all ids of a type at once.
func (r *Resolver) nodesByID(ctx context.Context, ids []string) ([]model.Node, error) {
	byType := map[string][]string{}
	var kinds, storedIDs []string // kinds are in the order of the ids, so that the same request has the same error
	for i, sent := range ids {
		kind, id, ok := store.ParseGlobalID(sent)
		if !ok {
			if id, ok = store.CanonicalID(sent); !ok {
				return nil, notID(sent, "ids", fmt.Sprint(i))
			}
			storedIDs = append(storedIDs, id)
			continue
		}
		if byType[kind] == nil {
			kinds = append(kinds, kind)
		}
		byType[kind] = append(byType[kind], id)
	}
	found := map[string]model.Node{}
	for _, kind := range kinds {
		if err := r.nodesOfType(ctx, kind, byType[kind], found); err != nil {
			return nil, err
		}
	}
	storedNodes, err := r.nodesByStoredID(ctx, storedIDs)
	if err != nil {
		return nil, err
	}
	list := make([]model.Node, len(ids))
	for i, sent := range ids {
		if kind, id, ok := store.ParseGlobalID(sent); ok {
			list[i] = found[store.GlobalID(kind, id)]
		} else {
			list[i] = storedNodes[store.LocalID(sent)]
		}
	}
	return list, nil
}

// storedIDTypes returns the types that are searched for a stored id, in order. Other types need a global
// id: the stored id of a stock record is that of its product, which may have left the catalog.
func storedIDTypes() []string {
	return []string{store.TypeProduct, store.TypeHierarchy, store.TypeCatalogNode}
}

// nodesByStoredID returns objects by stored ids, of the first type that has the id. It skips types that
// the token may not read, and finds nothing before a catalog is published.
func (r *Resolver) nodesByStoredID(ctx context.Context, ids []string) (map[string]model.Node, error) {
	storedNodes := map[string]model.Node{}
	for _, kind := range storedIDTypes() {
		if len(ids) == 0 {
			break
		}
		found := map[string]model.Node{}
		err := r.nodesOfType(ctx, kind, ids, found)
		if err != nil && !store.HasCode(err, store.Forbidden) && !store.HasCode(err, store.NotFound) {
			return nil, err
		}
		var left []string
		for _, id := range ids {
			if node := found[store.GlobalID(kind, id)]; node != nil {
				storedNodes[id] = node
			} else {
				left = append(left, id)
			}
		}
		ids = left
	}
	return storedNodes, nil
}

// nodesOfType adds the objects of a type to into, by global id. It requires the scope of the type. What
// is left after the cases is a node or hierarchy.
func (r *Resolver) nodesOfType(ctx context.Context, kind string, ids []string, into map[string]model.Node) error {
	if kind == store.TypeStock {
		if err := auth.Require(ctx, "Query.stock"); err != nil {
			return err
		}
		byID, err := r.store.Stock.ByID(ctx, ids)
		addNodes(model.NewBatch[model.Stock](valuesByID(ids, byID)), into)
		return err
	}
	if kind == store.TypeRelease || kind == store.TypeJob {
		return r.publishedOfType(ctx, kind, ids, into)
	}
	if kind == store.TypePromotion || kind == store.TypePromotionCode {
		return r.promotionsOfType(ctx, kind, ids, into)
	}
	if list := authoredLists[kind]; list != "" {
		if err := auth.Require(ctx, list); err != nil {
			return err
		}
		return r.authoredOfType(ctx, kind, ids, into)
	}
	v, err := r.View(ctx)
	if err != nil {
		return err
	}
	switch kind {
	case store.TypeProduct:
		byID, err := v.ProductsByID(ctx, ids)
		addNodes(model.NewBatch[model.Product](valuesByID(ids, byID)), into)
		return err
	case store.TypeFile:
		byID, err := r.filesFor(ctx, ids)
		addNodes(valuesByID(ids, byID), into)
		return err
	}
	byID, err := v.NodesByID(ctx, ids)
	for _, node := range model.NewBatch[model.CatalogNode](valuesByID(ids, byID)) {
		// Any node is a CatalogNode; only roots are a Hierarchy.
		if kind == store.TypeCatalogNode {
			into[store.GlobalID(kind, node.ID)] = node
		} else if node.Kind == segment.KindHierarchy {
			into[store.GlobalID(kind, node.ID)] = model.NewBatch[model.Hierarchy]([]*segment.CatalogNode{node.CatalogNode})[0]
		}
	}
	return err
}

// publishedOfType is nodesOfType for releases and jobs. It reads them one by one, because clients request few.
func (r *Resolver) publishedOfType(ctx context.Context, kind string, ids []string, into map[string]model.Node) error {
	for _, id := range ids {
		var node model.Node
		var err error
		if kind == store.TypeJob {
			node, err = nodeOrNil(r.Query().Job(ctx, id))
		} else if err = auth.Require(ctx, "Query.catalogReleases"); err == nil {
			node, err = nodeOrNil(orNull(singleRow[model.CatalogRelease](r.store.Releases.Get(ctx, id))))
		}
		if err != nil {
			return err
		}
		if node != nil {
			into[node.GlobalID()] = node
		}
	}
	return nil
}

// nodeOrNil returns a nil interface for a nil pointer.
func nodeOrNil[T any, P interface {
	*T
	model.Node
}](value P, err error) (model.Node, error) {
	if value == nil {
		return nil, err
	}
	return value, err
}

// promotionsOfType is nodesOfType for promotions and codes.
func (r *Resolver) promotionsOfType(ctx context.Context, kind string, ids []string, into map[string]model.Node) error {
	if err := auth.Require(ctx, "Query.promotions"); err != nil {
		return err
	}
	if kind == store.TypePromotion {
		byID, err := r.store.Promotions.ByID(ctx, ids)
		addNodes(model.NewBatch[model.Promotion](valuesByID(ids, byID)), into)
		return err
	}
	byID, err := r.store.Codes.ByID(ctx, ids)
	addNodes(valuesByID(ids, byID), into)
	return err
}

// authoredLists maps authored types to the coordinate whose scope they need.
var authoredLists = map[string]string{
	store.TypeCatalog: "Query.catalogs", store.TypeCatalogRule: "Query.catalogRules",
	store.TypeAuthoredHierarchy: "Query.authoredHierarchies", store.TypeAuthoredCatalogNode: "Query.authoredCatalogNodes",
	store.TypeAuthoredProduct: "Query.authoredProducts", store.TypePricebook: "Query.pricebooks",
	store.TypeAuthoredPrice: "Query.authoredPrices", store.TypeAuthoredModifier: "Query.authoredPriceModifiers", store.TypeAuthoredFile: "Query.authoredFiles",
	store.TypeAuthoredAttribute: "Query.authoredAttributes", store.TypeAuthoredRedirect: "Query.authoredRedirects",
	store.TypeSynonym: "Query.synonyms",
}

// authoredOfType is nodesOfType for the types of authoredLists. The last is TypeAuthoredCatalogNode.
func (r *Resolver) authoredOfType(ctx context.Context, kind string, ids []string, into map[string]model.Node) error {
	switch kind {
	case store.TypeCatalog:
		byID, err := r.store.Catalogs.ByID(ctx, ids)
		addNodes(model.NewBatch[model.Catalog](valuesByID(ids, byID)), into)
		return err
	case store.TypeCatalogRule:
		byID, err := r.store.Catalogs.RulesByID(ctx, ids)
		addNodes(model.NewBatch[model.CatalogRule](valuesByID(ids, byID)), into)
		return err
	case store.TypeAuthoredProduct:
		byID, err := r.store.Catalogs.AuthoredProductsByID(ctx, ids)
		addNodes(model.NewBatch[model.AuthoredProduct](valuesByID(ids, byID)), into)
		return err
	case store.TypeAuthoredPrice:
		byID, err := r.store.Catalogs.Prices.ByIDs(ctx, ids)
		addNodes(model.NewBatch[model.AuthoredPrice](valuesByID(ids, byID)), into)
		return err
	case store.TypeAuthoredModifier:
		return addByID(ctx, ids, r.store.Catalogs.Modifiers.ByIDs, into)
	case store.TypePricebook:
		return addByID(ctx, ids, r.store.Catalogs.Pricebooks.ByIDs, into)
	case store.TypeAuthoredFile:
		return addByID(ctx, ids, r.store.Catalogs.AuthoredFiles.ByIDs, into)
	case store.TypeAuthoredAttribute:
		return addByID(ctx, ids, r.store.Catalogs.AuthoredAttributes.ByIDs, into)
	case store.TypeAuthoredRedirect:
		return addByID(ctx, ids, r.store.Catalogs.AuthoredRedirects.ByIDs, into)
	case store.TypeSynonym:
		return addByID(ctx, ids, r.store.Catalogs.Synonyms.ByIDs, into)
	case store.TypeAuthoredHierarchy:
		return addByID(ctx, ids, r.store.Catalogs.AuthoredHierarchiesByID, into)
	}
	byID, err := r.store.Catalogs.AuthoredNodesByID(ctx, ids)
	addNodes(model.NewBatch[model.AuthoredCatalogNode](valuesByID(ids, byID)), into)
	return err
}

// addByID adds the resources that read returns for ids.
func addByID[T model.Node](ctx context.Context, ids []string, read func(context.Context, []string) (map[string]T, error), into map[string]model.Node) error {
	byID, err := read(ctx, ids)
	addNodes(valuesByID(ids, byID), into)
	return err
}

// addNodes adds nodes to into, by global id.
func addNodes[T model.Node](list []T, into map[string]model.Node) {
	for _, node := range list {
		into[node.GlobalID()] = node
	}
}
