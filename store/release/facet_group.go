package release

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/db"
	"portico/store/release/segment"
)

// The attributes of FacetGroupQuery.
const (
	FacetOptions         = segment.OptionValues    // groups by the name of the variation
	FacetAttributeValues = segment.AttributeValues // groups by the key of the attribute
)

// FacetGroupQuery requests the number of products of a list for each option or each value of filterable
// attributes.
type FacetGroupQuery struct {
	Attribute string // FacetOptions or FacetAttributeValues
	Name      string // of one group; empty for all
	List      ProductQuery
}

// FacetGroup is the values of one variation or attribute, in the order of Facet.
type FacetGroup struct {
	Name   string
	Values []FacetValue
}

// FacetGroupsOfNodes returns the groups of several nodes, by name, in as many statements as for one. The
// ids are those of FacetOfNodes. All groups of a list are counted at once.
func (v *View) FacetGroupsOfNodes(ctx context.Context, nodeIDs []string, query FacetGroupQuery) (map[string][]FacetGroup, error) {
	counts, err := v.countedOfNodes(ctx, nodeIDs, query.Attribute, query.List)
	if err != nil {
		return nil, err
	}
	found := make(map[string][]FacetGroup, len(nodeIDs))
	for id, counted := range counts {
		byName := map[string][]FacetValue{}
		for _, c := range counted {
			name, value, _ := strings.Cut(c.Value, segment.NameEnd)
			if query.Name == "" || name == query.Name {
				byName[name] = append(byName[name], FacetValue{value, c.Count})
			}
		}
		groups := make([]FacetGroup, 0, len(byName))
		for name, values := range byName {
			groups = append(groups, FacetGroup{name, values})
		}
		slices.SortFunc(groups, func(a, b FacetGroup) int { return cmp.Compare(a.Name, b.Name) })
		found[id] = groups
	}
	return found, nil
}

// PriceRange is the lowest and the highest current price of some products, in minor units of the view's
// currency.
type PriceRange struct{ Min, Max int64 }

// Size is the memory in bytes.
func (*PriceRange) Size() int { return 32 }

// PriceRangeOfNodes returns the prices of the lists of several nodes, in as many statements as for one;
// nil for a list without a priced product. The ids are those of FacetOfNodes.
func (v *View) PriceRangeOfNodes(ctx context.Context, nodeIDs []string, query ProductQuery) (map[string]*PriceRange, error) {
	v, lists, err := v.listsToCount(ctx, nodeIDs, query)
	if err != nil {
		return nil, err
	}
	prices, err := v.Prices(ctx, v.Currency) // of the release of the lists, which has epochs of its own
	if err != nil {
		return nil, err
	}
	epoch := prices.Epoch(store.Micros(v.now))
	v.valid.narrow(prices.Bounds(epoch))
	found := make(map[string]*PriceRange, len(nodeIDs))
	for id, list := range lists {
		if found[id], err = list.priceRange(ctx, epoch); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// priceRange returns the prices of a list in an epoch, and caches them, for a list without any as Unpriced.
func (o *resultOrder) priceRange(ctx context.Context, epoch int) (*PriceRange, error) {
	key := db.CacheKey{Release: o.Release.CacheIdentity(), Kind: cachedPriceRange, Name: cachekey.Join(cachekey.New(o.Currency), o.key()), Number: epoch}
	if kept, ok := db.Cached[*PriceRange](o.Cache, key); ok {
		return kept.orNil(), nil
	}
	found, err := o.foundSet(ctx)
	if err != nil {
		return nil, err
	}
	if err := store.Charge(ctx, countedWork*found.total); err != nil {
		return nil, err
	}
	r := &PriceRange{}
	if r.Min, r.Max, err = o.PriceBounds(ctx, o.Currency, epoch, found.set); err != nil {
		return nil, err
	}
	if !o.filter.Live() {
		o.Cache.Set(key, r)
	}
	return r.orNil(), nil
}

// orNil returns nil for the range of a list without a priced product.
func (r *PriceRange) orNil() *PriceRange {
	if r.Max == segment.Unpriced {
		return nil
	}
	return r
}

// PickFacet returns the first values, at most the given number, and the selected ones, some of which no product
// may have.
func PickFacet(values []FacetValue, selected []string, first int) []FacetValue {
	return facetCounts(values).pick(selected, first)
}
