package release

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"portico/store"
	"portico/store/catalog"
	"portico/store/release/price"
)

// BundleChoice is a shopper's choice for one component of a bundle.
type BundleChoice struct {
	Component string         `json:"component"` // its key
	Options   []BundleOption `json:"options"`
}

// BundleOption is a chosen option with its quantity.
type BundleOption struct {
	ID       string `json:"id"` // the product's
	Quantity int    `json:"quantity"`
}

// BundleChoices returns the chosen options by component key, those of each by id; by default those that the release has.
func (p *storedProduct) BundleChoices() []BundleChoice {
	var chosen map[string]map[string]int
	_ = json.Unmarshal(p.read().Meta.BundleConfiguration.SelectedOptions, &chosen) // written by us; null for no bundle
	list := []BundleChoice{}
	for _, component := range slices.Sorted(maps.Keys(chosen)) {
		choice := BundleChoice{Component: component, Options: []BundleOption{}}
		for _, id := range slices.Sorted(maps.Keys(chosen[component])) {
			choice.Options = append(choice.Options, BundleOption{ID: id, Quantity: chosen[component][id]})
		}
		list = append(list, choice)
	}
	return list
}

const (
	maxChoices  = 100       // components of a bundle, and options of each
	maxQuantity = 1_000_000 // of one option
)

// Configuration is a product with a shopper's choices; nil for none.
type Configuration struct {
	ProductID string
	Choices   []BundleChoice
}

// PricedProduct is a product with the price of a Configuration. Err says why it has none: NOT_FOUND for
// an unknown product, UNPROCESSABLE for invalid choices.
type PricedProduct struct {
	Product *Product // without the choices; nil if unknown
	Err     error    // a *store.Error or store.Errors
	quote   *price.Quote
}

// UnitPrice returns the price of one of so many units; nil for none.
func (p *PricedProduct) UnitPrice(quantity int) *price.Price {
	if p.quote == nil {
		return nil
	}
	return p.quote.UnitPrice(quantity)
}

// ConfiguredProducts prices products with choices, in order, in two reads: one of the products, one of
// the options that decide a price. A bundle with a price of its own keeps that price. Another costs the
// sum of the chosen options. It has no price if an option has none, if only some options include tax,
// or if the sum is above store.MaxAmount.
func (v *View) ConfiguredProducts(ctx context.Context, list []Configuration) ([]PricedProduct, error) {
	ids := make([]string, len(list))
	for i, c := range list {
		ids[i] = c.ProductID
	}
	found, err := v.ProductsByID(ctx, store.Unique(ids))
	if err != nil {
		return nil, err
	}
	priced, optionIDs := make([]PricedProduct, len(list)), []string(nil)
	var bundles []*Product
	for i, c := range list {
		product := found[c.ProductID]
		priced[i].Product = product
		if product == nil {
			priced[i].Err = errNoProduct()
			continue
		}
		if priced[i].quote = product.quote; c.Choices == nil {
			continue
		}
		if errs := product.checkChoices(c.Choices); len(errs) > 0 {
			priced[i].Err, priced[i].quote = errs, nil
			continue
		}
		if product.quote.Price == nil {
			priced[i].quote, bundles = nil, append(bundles, product)
			for _, choice := range c.Choices {
				for _, option := range choice.Options {
					optionIDs = append(optionIDs, option.ID)
				}
			}
		}
	}
	if len(bundles) == 0 {
		return priced, nil
	}
	options, err := v.ProductsByID(ctx, store.Unique(optionIDs), bundles...)
	for i, c := range list {
		if p := &priced[i]; p.Err == nil && p.quote == nil {
			p.quote = v.sumOf(c.Choices, options)
		}
	}
	return priced, err
}

// ConfiguredProduct returns a bundle with the shopper's choices as its configuration, and with the price
// of ConfiguredProducts.
//
// NOT_FOUND for an unknown product. UNPROCESSABLE for a product that is not a
// bundle, an unknown component or option, too few or too many options of a
// component, and a quantity out of range.
func (v *View) ConfiguredProduct(ctx context.Context, id string, choices []BundleChoice) (*Product, error) {
	if choices == nil {
		choices = []BundleChoice{}
	}
	priced, err := v.ConfiguredProducts(ctx, []Configuration{{id, choices}})
	if err != nil {
		return nil, err
	}
	if priced[0].Err != nil {
		return nil, priced[0].Err
	}
	selected := map[string]map[string]int{}
	for _, choice := range choices {
		selected[choice.Component] = map[string]int{}
		for _, option := range choice.Options {
			selected[choice.Component][option.ID] = option.Quantity
		}
	}
	return &Product{storedProduct: priced[0].Product.configured(store.Encode(selected), priced[0].quote), release: v.Release}, nil
}

// checkChoices checks choices against the bundle's components. Paths begin with choices.
func (p *storedProduct) checkChoices(choices []BundleChoice) (errs store.Errors) {
	refuse := func(path []string, format string, args ...any) {
		errs = append(errs, store.Unprocessablef(append([]string{"choices"}, path...), format, args...))
	}
	components := p.Components()
	switch {
	case len(components) == 0:
		return store.Errors{store.Unprocessablef([]string{"id"}, "must be the id of a bundle. %q has no components.", p.id)}
	case len(choices) > maxChoices:
		refuse(nil, "must name at most %d components, got %d", maxChoices, len(choices))
		return errs
	}
	chosen := map[string]int{} // the position of the choice
	for i, choice := range choices {
		at, place := slices.IndexFunc(components, func(c ProductComponent) bool { return c.Key == choice.Component }), strconv.Itoa(i)
		_, twice := chosen[choice.Component]
		chosen[choice.Component] = i
		switch {
		case at < 0:
			refuse([]string{place, "component"}, "must be a component of the bundle, which are %s, got %q", componentNames(components), store.Abbreviate(choice.Component))
		case twice:
			refuse([]string{place, "component"}, "must be another than before, got %q again; choose all its options at once", choice.Component)
		case len(choice.Options) > maxChoices:
			refuse([]string{place, "options"}, "must name at most %d options of the component %q, got %d", maxChoices, choice.Component, len(choice.Options))
		default:
			errs = append(errs, components[at].checkOptions(choice.Options, "choices", place, "options")...)
		}
	}
	for _, c := range components {
		at, n := []string(nil), 0
		if i, named := chosen[c.Key]; named {
			at, n = []string{strconv.Itoa(i), "options"}, len(choices[i].Options)
		}
		if n < c.Min || n > c.Max {
			refuse(at, "must name %d to %d options of the component %q, got %d", c.Min, c.Max, c.Key, n)
		}
	}
	return errs
}

// checkOptions checks the options that were chosen of a component, which are at a path.
func (c *ProductComponent) checkOptions(options []BundleOption, path ...string) (errs store.Errors) {
	seen := map[string]bool{}
	for i, option := range options {
		refuse := func(member, format string, args ...any) {
			errs = append(errs, store.Unprocessablef([]string{strconv.Itoa(i), member}, format, args...).At(path...))
		}
		switch {
		case !slices.ContainsFunc(c.Options, func(o catalog.ComponentOption) bool { return o.ID == option.ID }):
			refuse("id", "must be an option of the component %q, got %q", c.Key, store.Abbreviate(option.ID))
		case seen[option.ID]:
			refuse("id", "must be another than before, got the option %q of the component %q again", option.ID, c.Key)
		case option.Quantity < 1 || option.Quantity > maxQuantity:
			refuse("quantity", "must be between 1 and %d, got %d of the option %q of the component %q", maxQuantity, option.Quantity, option.ID, c.Key)
		}
		seen[option.ID] = true
	}
	return errs
}

// componentNames lists the keys of components, quoted.
func componentNames(components []ProductComponent) string {
	names := make([]string, len(components))
	for i, c := range components {
		names[i] = strconv.Quote(c.Key)
	}
	return store.ListSome(names)
}

// sumOf returns the price of the chosen options together, and how long it holds; the zero Quote if ConfiguredProducts says that
// there is none. The comparison with MaxAmount is in floating point, because the product may exceed an int64.
func (v *View) sumOf(choices []BundleChoice, options map[string]*Product) *price.Quote {
	var total, before int64
	var includesTax, priced, onSale bool
	sum := &price.Quote{}
	for _, choice := range choices {
		for _, option := range choice.Options {
			product := options[option.ID]
			if product == nil || product.quote.Price == nil || priced && product.quote.Price.IncludesTax != includesTax {
				return &price.Quote{}
			}
			q := product.quote
			base := q.Price
			if q.Original != nil {
				base, onSale = q.Original, true
			}
			if float64(max(q.Price.Minor, base.Minor))*float64(option.Quantity) > store.MaxAmount-float64(max(total, before)) {
				return &price.Quote{}
			}
			priced, includesTax = true, q.Price.IncludesTax
			total += q.Price.Minor * int64(option.Quantity)
			before += base.Minor * int64(option.Quantity)
			sum.From = max(sum.From, q.From)
			if q.Until != 0 && (sum.Until == 0 || q.Until < sum.Until) {
				sum.Until = q.Until
			}
		}
	}
	if !priced {
		return sum
	}
	sum.Price = v.formatter().Price(total, includesTax, "")
	if onSale {
		sum.Original = v.formatter().Price(before, includesTax, "")
	}
	return sum
}

// configured returns the product with another configuration and quote. Only its JSON, its price and its configuration are for
// use: it lacks the attributes, extras and files, which do not depend on the choice.
func (p *storedProduct) configured(selected []byte, quote *price.Quote) *storedProduct {
	was := store.Encode(p.read().Meta.BundleConfiguration)
	now := append(append([]byte(`{"selected_options":`), selected...), '}')
	attributes := len(p.quote.AppendAttributes([]byte{'}'})) - 1
	meta := len(p.quote.AppendMeta([]byte{'}'})) - 1 + len("}}")
	between := p.body[p.insert+attributes : len(p.body)-meta]
	// The last match: no member after it holds the merchant's own JSON.
	name := `"bundle_configuration":`
	at := strings.LastIndex(between, name+string(was)) + len(name)
	body := []byte(p.body[:p.insert])
	body = quote.AppendAttributes(body)
	body = append(append(append(body, between[:at]...), now...), between[at+len(was):]...)
	body = append(quote.AppendMeta(body), "}}"...)
	return &storedProduct{id: p.id, Ordinal: p.Ordinal, catalog: p.catalog, since: p.since, language: p.language, quote: quote, body: string(body), insert: p.insert}
}
