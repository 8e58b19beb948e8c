package cart

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"portico/store"
	"portico/store/release"
)

// stockLeft is what the stock leaves for further lines. Nil allows every line.
type stockLeft struct {
	units map[string]*unitsLeft // by id: of products and options (release.View.UnitsOf)
	own   map[string]*unitsLeft // of bundles whose options are chosen, by their own records
}

// stockOf reads the stock of lines and their chosen options. priced has the products of the lines.
func stockOf(ctx context.Context, v *release.View, lines []LineInput, priced []release.PricedProduct) (*stockLeft, error) {
	whole, chosen := map[string]*release.Product{}, map[string]*release.Product{}
	var bundles []*release.Product
	var optionIDs []string
	for i, line := range lines {
		switch p := priced[i].Product; {
		case p == nil || priced[i].Err != nil:
		case line.Choices == nil:
			whole[p.ID()] = p
		default:
			chosen[p.ID()], bundles = p, append(bundles, p)
			for _, choice := range line.Choices {
				for _, option := range choice.Options {
					optionIDs = append(optionIDs, option.ID)
				}
			}
		}
	}
	options, err := v.ProductsByID(ctx, store.Unique(optionIDs), bundles...)
	if err != nil {
		return nil, err
	}
	maps.Copy(whole, options)
	left := &stockLeft{}
	if left.units, err = unitsByID(ctx, whole, v.UnitsOf); err == nil {
		left.own, err = unitsByID(ctx, chosen, v.OwnUnitsOf)
	}
	for id, own := range left.own {
		if own.all != store.NoStockRecord {
			left.units[id] = own
		}
	}
	return left, err
}

// unitsByID reads the stock of products.
func unitsByID(ctx context.Context, products map[string]*release.Product, read func(context.Context, []*release.Product) ([]int32, error)) (map[string]*unitsLeft, error) {
	list := slices.Collect(maps.Values(products))
	units, err := read(ctx, list)
	left := make(map[string]*unitsLeft, len(list))
	for i, n := range units {
		left[list[i].ID()] = &unitsLeft{all: int(n)}
	}
	return left, err
}

// unitsLeft is the stock of a product.
type unitsLeft struct{ all, taken int } // all is store.NoStockRecord without a limit

// need is what a line takes of a product.
type need struct {
	of    *unitsLeft
	units int
	what  string // for people
}

// problem returns why the stock does not have the units; nil if it has.
func (n need) problem() *Problem {
	left := n.of.all - n.of.taken
	switch {
	case n.of.all == store.NoStockRecord || n.units <= left:
		return nil
	case n.of.all <= 0:
		return &Problem{OutOfStock, n.what + " is out of stock. Remove it from the cart."}
	}
	return &Problem{InsufficientStock, fmt.Sprintf("%s has %d units left for this line, which needs %d. Lower the quantity.", n.what, left, n.units)}
}

// take takes the units of a line, or returns why the stock does not allow it: lines take units in their order. A bundle without
// a stock record takes those of its chosen options, and none without choices.
func (s *stockLeft) take(line LineInput) *Problem {
	if s == nil {
		return nil
	}
	needs := []need{{s.units[line.ProductID], line.Quantity, "The product"}}
	if line.Choices != nil && s.own[line.ProductID].all == store.NoStockRecord {
		needs = nil
		for _, choice := range line.Choices {
			for _, option := range choice.Options {
				needs = append(needs, need{cmp.Or(s.units[option.ID], &unitsLeft{}), line.Quantity * option.Quantity, fmt.Sprintf("The option %q of the component %q", option.ID, choice.Component)})
			}
		}
	}
	for i, n := range needs {
		if problem := n.problem(); problem != nil {
			for _, taken := range needs[:i] {
				taken.of.taken -= taken.units
			}
			return problem
		}
		n.of.taken += n.units
	}
	return nil
}
