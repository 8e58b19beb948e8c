package release

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"portico/store"
	"portico/store/catalog"
	"portico/store/release/price"
)

// The typed members of a product; times are UTC.

// Modifiers returns the price modifiers of a child that exist, in the order in
// which they change its price, as the shopper of a view reads them.
func (p *storedProduct) Modifiers(v *View) []*PriceModifier {
	var list []*PriceModifier
	for _, name := range store.Unique(p.PriceModifiers()) {
		m, exists := p.read().Meta.PriceModifiers[name]
		if !exists {
			continue
		}
		modifier := &PriceModifier{Name: name, ModifierType: m.ModifierType}
		for _, code := range slices.Sorted(maps.Keys(m.Currencies)) {
			amount := m.Currencies[code]
			modifier.Amounts = append(modifier.Amounts, v.formatterOf(code).Price(amount.Amount, amount.IncludesTax, ""))
		}
		list = append(list, modifier)
	}
	return list
}

func (p *storedProduct) ID() string                    { return p.id }
func (p *storedProduct) Name() string                  { return p.read().Attributes.Name }
func (p *storedProduct) Description() string           { return p.read().Attributes.Description }
func (p *storedProduct) SKU() string                   { return p.read().Attributes.SKU }
func (p *storedProduct) Slug() string                  { return p.read().Attributes.Slug }
func (p *storedProduct) Tags() []string                { return p.read().Attributes.Tags }
func (p *storedProduct) PriceModifiers() []string      { return p.read().Attributes.PriceModifiers }
func (p *storedProduct) BaseProduct() bool             { return p.read().Attributes.BaseProduct }
func (p *storedProduct) CreatedAt() time.Time          { return time.Time(p.read().Attributes.CreatedAt) }
func (p *storedProduct) UpdatedAt() time.Time          { return time.Time(p.read().Attributes.UpdatedAt) }
func (p *storedProduct) PublishedAt() time.Time        { return store.FromMicros(p.since) }
func (p *storedProduct) CustomInputs() json.RawMessage { return p.read().Attributes.CustomInputs }
func (p *storedProduct) Extensions() json.RawMessage   { return p.read().Attributes.Extensions }

func (p *storedProduct) ShopperAttributes() json.RawMessage {
	return p.read().Attributes.ShopperAttributes
}

// SlugText and the following are texts that a product may lack; nil for none. Slug and Description are empty then.
func (p *storedProduct) SlugText() *string { return store.NonEmptyAt(&p.read().Attributes.Slug) }
func (p *storedProduct) DescriptionText() *string {
	return store.NonEmptyAt(&p.read().Attributes.Description)
}
func (p *storedProduct) CommodityType() *string {
	return store.NonEmptyAt(&p.read().Attributes.CommodityType)
}
func (p *storedProduct) UPCEAN() *string { return store.NonEmptyAt(&p.read().Attributes.UPCEAN) }
func (p *storedProduct) ExternalRef() *string {
	return store.NonEmptyAt(&p.read().Attributes.ExternalRef)
}

func (p *storedProduct) ManufacturerPartNum() *string {
	return store.NonEmptyAt(&p.read().Attributes.ManufacturerPartNum)
}

func (p *storedProduct) ProductTypes() []string { return p.read().Meta.ProductTypes }
func (p *storedProduct) Locale() string         { return p.language }
func (p *storedProduct) CatalogID() string      { return p.catalog }
func (p *storedProduct) Price() *price.Price    { return p.quote.Price }

func (p *storedProduct) PricebookID() *string {
	if p.quote.Price == nil {
		return nil
	}
	return &p.quote.Price.PricebookID
}

func (p *storedProduct) OriginalPrice() *price.Price { return p.quote.Original }
func (p *storedProduct) SaleID() *string             { return store.NonEmpty(p.quote.SaleID) }
func (p *storedProduct) SaleExpires() *time.Time     { return p.quote.SaleExpires() }
func (p *storedProduct) Tiers() []price.PriceTier    { return p.quote.Tiers }

func (p *storedProduct) Variations() []catalog.Variation      { return p.read().Meta.Variations }
func (p *storedProduct) ChildVariations() []catalog.Variation { return p.read().Meta.ChildVariations }

// Components returns the parts of a bundle by sort order, then key. Do not change them.
func (p *storedProduct) Components() []ProductComponent { return p.read().components }

// sortComponents returns components by sort order, then key.
func sortComponents(components map[string]catalog.Component) []ProductComponent {
	list := make([]ProductComponent, 0, len(components))
	for _, key := range (&catalog.ProductAttributes{Components: components}).ComponentKeys() {
		list = append(list, ProductComponent{key, components[key]})
	}
	return list
}

func (p *storedProduct) ParentID() string              { return p.refs().parent }
func (p *storedProduct) MainImageID() string           { return p.refs().image }
func (p *storedProduct) ChildIDs() []string            { return p.refs().children }
func (p *storedProduct) FileLinks() []catalog.FileLink { return p.refs().files }
func (p *storedProduct) ComponentProductIDs() []string { return p.refs().components }

// NodeIDs returns the nodes that the product is attached to, the newest
// attachment first.
func (p *storedProduct) NodeIDs() []string { return p.read().Meta.BreadCrumbNodes }

// childAt returns the child with all options of a list; empty if there is none. matrix has the ids of children by
// option ids, nested by variation.
func childAt(matrix any, optionIDs []string) string {
	for _, id := range optionIDs {
		options, _ := matrix.(map[string]any)
		matrix = options[id]
	}
	child, _ := matrix.(string)
	return child
}

// VariantOptions are the options of a child.
type VariantOptions struct {
	UUID        string // the child
	OptionUUIDs []string
}

// VariantOptions returns the children that have an option of each variation, in the order of their options.
func (p *storedProduct) VariantOptions() []VariantOptions {
	list, children, at := []VariantOptions{}, p.ChildIDs(), 0
	var matrix any
	_ = json.Unmarshal(p.read().Meta.VariationMatrix, &matrix) // nil if it is none, which has no child
	optionIDs := p.read().Meta.ChildOptionIDs
	for i, options := range optionIDs {
		if at++; i == 0 || !slices.Equal(options, optionIDs[i-1]) { // children with the same options follow each other
			at = slices.Index(children, childAt(matrix, options))
		}
		list = append(list, VariantOptions{children[at], options})
	}
	return list
}

// ProductComponent is a component with its key.
type ProductComponent struct {
	Key string
	catalog.Component
}
