package release

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"portico/store"
	"portico/store/catalog"
)

// BundleChoice is what is chosen of a component of a bundle.
type BundleChoice struct {
	Component string         `json:"component"` // its key
	Options   []BundleOption `json:"options"`
}

// BundleOption is a chosen option, and how many of it.
type BundleOption struct {
	ID       string `json:"id"` // the product's
	Quantity int    `json:"quantity"`
}

// maxChoices bounds what is chosen of one bundle: components, and options of
// each.
const maxChoices = 100

// maxChosen bounds the quantity of one option.
const maxChosen = 1_000_000

// ConfiguredProduct is a bundle as the shopper chose it: its bundle
// configuration is the choice, and its price the one for it. A bundle with a
// price of its own costs that, whatever is chosen; another costs what the
// chosen options do, each as often as it is chosen, and has no price where one
// of them has none, where some include tax and others do not, and where it
// would be beyond what prices can be.
//
// NOT_FOUND for an unknown product. UNPROCESSABLE for one that is no bundle,
// for a component or an option that it does not have, for fewer or more
// options of a component than it takes, and for a quantity out of bounds.
func (v *View) ConfiguredProduct(ctx context.Context, id string, choices []BundleChoice) (*Product, error) {
	bundle, err := v.Product(ctx, ProductKey{ID: id})
	if err != nil {
		return nil, err
	}
	if faults := bundle.checkChoices(choices); len(faults) > 0 {
		return nil, faults
	}
	selected, ids := map[string]map[string]int{}, []string(nil)
	for _, choice := range choices {
		selected[choice.Component] = map[string]int{}
		for _, option := range choice.Options {
			selected[choice.Component][option.ID] = option.Quantity
			ids = append(ids, option.ID)
		}
	}
	price := bundle.pricing
	if price.price == nil {
		options, err := v.ProductsByID(ctx, ids)
		if err != nil {
			return nil, err
		}
		price = v.priceOf(choices, options)
	}
	return &Product{released: bundle.configured(store.Encode(selected), price)}, nil
}

// checkChoices holds choices against the bundle's components.
func (r *released) checkChoices(choices []BundleChoice) (faults store.Errors) {
	refuse := func(format string, args ...any) {
		faults = append(faults, store.Unprocessablef([]string{"selected_options"}, format, args...))
	}
	components := r.Components()
	switch {
	case len(components) == 0:
		return store.Errors{store.Unprocessablef([]string{"id"}, "must be a bundle's; %q has no components to choose from", r.id)}
	case len(choices) > maxChoices:
		refuse("must name at most %d components, got %d", maxChoices, len(choices))
		return faults
	}
	chosen := map[string]int{}
	for _, choice := range choices {
		at := slices.IndexFunc(components, func(c ProductComponent) bool { return c.Key == choice.Component })
		_, twice := chosen[choice.Component]
		chosen[choice.Component] = len(choice.Options)
		switch {
		case at < 0:
			refuse("must name components of the bundle, which are %s, got %q", componentNames(components), store.Abbreviate(choice.Component))
		case twice:
			refuse("must name the component %q once, with all its options", choice.Component)
		case len(choice.Options) > maxChoices:
			refuse("must name at most %d options of the component %q, got %d", maxChoices, choice.Component, len(choice.Options))
		default:
			faults = append(faults, components[at].checkOptions(choice.Options)...)
		}
	}
	for _, c := range components {
		if n := chosen[c.Key]; n < c.Min || n > c.Max {
			refuse("must name %d to %d options of the component %q, got %d", c.Min, c.Max, c.Key, n)
		}
	}
	return faults
}

func (c *ProductComponent) checkOptions(options []BundleOption) (faults store.Errors) {
	refuse := func(format string, args ...any) {
		faults = append(faults, store.Unprocessablef([]string{"selected_options"}, format, args...))
	}
	seen := map[string]bool{}
	for _, option := range options {
		switch {
		case !slices.ContainsFunc(c.Options, func(o catalog.ComponentOption) bool { return o.ID == option.ID }):
			refuse("must name options of the component %q, got %q", c.Key, store.Abbreviate(option.ID))
		case seen[option.ID]:
			refuse("must name the option %q of the component %q once, with its quantity", option.ID, c.Key)
		case option.Quantity < 1 || option.Quantity > maxChosen:
			refuse("must have 1 to %d of the option %q of the component %q, got %d", maxChosen, option.ID, c.Key, option.Quantity)
		}
		seen[option.ID] = true
	}
	return faults
}

// componentNames are the first keys of components, quoted.
func componentNames(components []ProductComponent) string {
	const most = 10
	names := ""
	for i, c := range components[:min(most, len(components))] {
		if i > 0 {
			names += ", "
		}
		names += fmt.Sprintf("%q", c.Key)
	}
	if len(components) > most {
		names += " and others"
	}
	return names
}

// priceOf adds up what the chosen options cost now.
func (v *View) priceOf(choices []BundleChoice, options map[string]*Product) *pricing {
	total, before := &Price{Currency: v.Currency}, &Price{Currency: v.Currency}
	first, onSale := true, false
	var from, until int64
	for _, choice := range choices {
		for _, option := range choice.Options {
			product := options[option.ID]
			if product == nil || product.price == nil || !first && product.price.IncludesTax != total.IncludesTax {
				return &pricing{}
			}
			base := product.price
			if product.original != nil {
				base, onSale = product.original, true
			}
			if float64(max(product.price.Minor, base.Minor))*float64(option.Quantity) > store.MaxAmount-float64(max(total.Minor, before.Minor)) {
				return &pricing{}
			}
			first = false
			total.IncludesTax, before.IncludesTax = product.price.IncludesTax, product.price.IncludesTax
			total.Minor += product.price.Minor * int64(option.Quantity)
			before.Minor += base.Minor * int64(option.Quantity)
			from = max(from, product.from)
			if product.until != 0 && (until == 0 || product.until < until) {
				until = product.until
			}
		}
	}
	p := &pricing{from: from, until: until}
	if first {
		return p
	}
	p.price, p.display = shownPrice(&catalog.Offer{}, &catalog.TieredPrice{Minor: total.Minor, IncludesTax: total.IncludesTax}, v.moneyFormat())
	if onSale {
		p.original, p.originalDisplay = shownPrice(&catalog.Offer{}, &catalog.TieredPrice{Minor: before.Minor, IncludesTax: before.IncludesTax}, v.moneyFormat())
	}
	return p
}

// configured is the product with another choice, and a price for it.
func (r *released) configured(selected []byte, price *pricing) *released {
	was := store.Encode(r.read().Meta.BundleConfiguration)
	now := append(append([]byte(`{"selected_options":`), selected...), '}')
	attributes := len(r.pricing.appendAttributes([]byte{'}'})) - 1
	meta := len(r.pricing.appendMeta([]byte{'}'})) - 1 + len("}}")
	between := r.body[r.insert+attributes : len(r.body)-meta]
	// No member behind it holds JSON of the merchant's own.
	name := []byte(`"bundle_configuration":`)
	at := bytes.LastIndex(between, append(name, was...)) + len(`"bundle_configuration":`)
	body := slices.Clone(r.body[:r.insert])
	body = price.appendAttributes(body)
	body = append(append(append(body, between[:at]...), now...), between[at+len(was):]...)
	body = append(price.appendMeta(body), "}}"...)
	return &released{id: r.id, Ordinal: r.Ordinal, release: r.release, language: r.language, pricing: price, body: body, insert: r.insert}
}
