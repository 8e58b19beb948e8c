package graph

import (
	"context"
	"fmt"

	"portico/graph/model"
	"portico/internal/auth"
	"portico/store"
	"portico/store/release/segment"
)

// tooMany says that a list of arguments is over its bound.
func tooMany(member string, n, most int) error {
	return &store.Error{Code: store.Unprocessable, Path: []string{member}, Detail: fmt.Sprintf("must be at most %d, got %d", most, n)}
}

func outOfBounds(member string, n, least, most int) error {
	return &store.Error{Code: store.Unprocessable, Path: []string{member}, Detail: fmt.Sprintf("must be between %d and %d, got %d", least, most, n)}
}

func notID(id string, path ...string) error {
	return &store.Error{Code: store.Invalid, Path: path, Detail: fmt.Sprintf("is neither a global id nor one of the service's own: %q", id)}
}

// nodesByID finds things of any type by global ids or the service's own, each
// type in one batch, in the order of the ids; nil for what is not there.
func (r *Resolver) nodesByID(ctx context.Context, ids []string) ([]model.Node, error) {
	byType := map[string][]string{}
	var kinds, own []string // kinds in the order of the ids, so that the same refusal is told each time
	for i, sent := range ids {
		kind, id, ok := store.ParseGlobalID(sent)
		if !ok {
			if id, ok = store.CanonicalID(sent); !ok {
				return nil, notID(sent, "ids", fmt.Sprint(i))
			}
			own = append(own, id)
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
	owners, err := r.nodesByOwnID(ctx, own)
	if err != nil {
		return nil, err
	}
	list := make([]model.Node, len(ids))
	for i, sent := range ids {
		if kind, id, ok := store.ParseGlobalID(sent); ok {
			list[i] = found[store.GlobalID(kind, id)]
		} else {
			list[i] = owners[store.LocalID(sent)]
		}
	}
	return list, nil
}

// typesOfOwnIDs are the types that an own id may name, in the order in which
// they are looked up. Other types take a global id: an own id would otherwise
// name a stock record once its product has left the catalog.
func typesOfOwnIDs() []string {
	return []string{store.TypeProduct, store.TypeHierarchy, store.TypeCatalogNode}
}

// nodesByOwnID finds things by own ids, each as the first type that has it. It
// finds nothing of types that the token may not read, nor before a catalog is
// published.
func (r *Resolver) nodesByOwnID(ctx context.Context, ids []string) (map[string]model.Node, error) {
	owners := map[string]model.Node{}
	for _, kind := range typesOfOwnIDs() {
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
				owners[id] = node
			} else {
				left = append(left, id)
			}
		}
		ids = left
	}
	return owners, nil
}

func (r *Resolver) nodesOfType(ctx context.Context, kind string, ids []string, into map[string]model.Node) error {
	if kind == store.TypeStock {
		if err := auth.Require(ctx, "Query.stock"); err != nil {
			return err
		}
		byID, err := r.store.StocksByID(ctx, ids)
		gather(model.Siblings[model.Stock](pick(ids, byID)), into)
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
		gather(model.Siblings[model.Product](pick(ids, byID)), into)
		return err
	case store.TypeFile:
		byID, err := r.filesFor(ctx, ids)
		gather(pick(ids, byID), into)
		return err
	}
	byID, err := v.NodesByID(ctx, ids)
	for _, node := range model.Siblings[model.CatalogNode](pick(ids, byID)) {
		// Under the type that was asked for, where the node is of that kind.
		if kind == store.TypeCatalogNode {
			into[store.GlobalID(kind, node.ID)] = node
		} else if node.Kind == segment.KindHierarchy {
			into[store.GlobalID(kind, node.ID)] = model.Siblings[model.Hierarchy]([]*segment.CatalogNode{node.CatalogNode})[0]
		}
	}
	return err
}

// publishedOfType finds releases and jobs, one by one: nobody asks for many.
func (r *Resolver) publishedOfType(ctx context.Context, kind string, ids []string, into map[string]model.Node) error {
	for _, id := range ids {
		var node model.Node
		var err error
		if kind == store.TypeJob {
			node, err = nodeOrNil(r.Query().Job(ctx, id))
		} else if err = auth.Require(ctx, "Query.catalogReleases"); err == nil {
			node, err = nodeOrNil(orNull(r.store.ReleaseByID(ctx, id)))
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

// nodeOrNil is nil as an interface too for what is not there.
func nodeOrNil[T any, P interface {
	*T
	model.Node
}](value P, err error) (model.Node, error) {
	if value == nil {
		return nil, err
	}
	return value, err
}

func (r *Resolver) promotionsOfType(ctx context.Context, kind string, ids []string, into map[string]model.Node) error {
	if err := auth.Require(ctx, "Query.promotions"); err != nil {
		return err
	}
	if kind == store.TypePromotion {
		byID, err := r.store.PromotionsByID(ctx, ids)
		gather(pick(ids, byID), into)
		return err
	}
	byID, err := r.store.PromotionCodesByID(ctx, ids)
	gather(pick(ids, byID), into)
	return err
}

// authoredLists are the lists that the types of what is authored come in, by
// their coordinates.
var authoredLists = map[string]string{
	store.TypeCatalog: "Query.catalogs", store.TypeCatalogRule: "Query.catalogRules",
	store.TypeAuthoredHierarchy: "Query.authoredHierarchies", store.TypeAuthoredNode: "Query.authoredNodes",
}

func (r *Resolver) authoredOfType(ctx context.Context, kind string, ids []string, into map[string]model.Node) error {
	switch kind {
	case store.TypeCatalog:
		byID, err := r.store.CatalogsByID(ctx, ids)
		gather(pick(ids, byID), into)
		return err
	case store.TypeCatalogRule:
		byID, err := r.store.CatalogRulesByID(ctx, ids)
		gather(pick(ids, byID), into)
		return err
	case store.TypeAuthoredHierarchy:
		byID, err := r.store.AuthoredHierarchiesByID(ctx, ids)
		gather(pick(ids, byID), into)
		return err
	}
	byID, err := r.store.AuthoredNodesByID(ctx, ids)
	gather(model.Siblings[model.AuthoredNode](pick(ids, byID)), into)
	return err
}

func gather[T model.Node](list []T, into map[string]model.Node) {
	for _, node := range list {
		into[node.GlobalID()] = node
	}
}
