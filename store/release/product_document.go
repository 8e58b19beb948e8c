package release

import (
	"encoding/json"

	"portico/store/catalog"
	"portico/store/release/price"
)

// productDocument is a decoded body. Times have no zone.
type productDocument struct {
	ID         string `json:"id"`
	Attributes struct {
		Name   string `json:"name"`
		SKU    string `json:"sku"`
		Slug   string `json:"slug"`
		Status string `json:"status"`
		catalog.ProductTexts[string]
		Tags              []string                     `json:"tags"`
		PriceModifiers    []string                     `json:"price_modifiers"`
		BaseProduct       bool                         `json:"base_product"`
		CreatedAt         catalog.BareTimestamp        `json:"created_at"`
		UpdatedAt         catalog.BareTimestamp        `json:"updated_at"`
		Components        map[string]catalog.Component `json:"components"`
		CustomInputs      json.RawMessage              `json:"custom_inputs"`
		Extensions        json.RawMessage              `json:"extensions"`
		ShopperAttributes json.RawMessage              `json:"shopper_attributes"`
	} `json:"attributes"`
	components []ProductComponent // storedProduct.Components; storedProduct.read sets them
	Meta       struct {
		Language            string                      `json:"language"`
		ProductTypes        []string                    `json:"product_types"`
		BreadCrumbNodes     []string                    `json:"bread_crumb_nodes"`
		BundleConfiguration bundleConfiguration         `json:"bundle_configuration"`
		Variations          []catalog.Variation         `json:"variations"`
		ChildVariations     []catalog.Variation         `json:"child_variations"`
		VariationMatrix     json.RawMessage             `json:"variation_matrix"`
		PriceModifiers      map[string]modifierDocument `json:"price_modifiers"`
		ChildOptionIDs      [][]string                  `json:"child_option_ids"`
	} `json:"meta"`
}

// bundleConfiguration is the choice of a bundle's options.
type bundleConfiguration struct {
	SelectedOptions json.RawMessage `json:"selected_options"`
}

// modifierDocument is a price modifier in a document.
type modifierDocument struct {
	ModifierType catalog.PriceModifierType      `json:"modifier_type"`
	Currencies   map[string]catalog.AmountPrice `json:"currencies"`
}

// PriceModifier is a modifier of a child's price.
type PriceModifier struct {
	Name         string
	ModifierType catalog.PriceModifierType
	Amounts      []*price.Price // by currency
}

// scan reads a body in the exact form in which it was written, without its
// relationships, which begin at relations. It returns false for any other form.
func (d *productDocument) scan(body string, relations int) bool {
	s := catalog.DocumentScanner{Input: body[:relations]}
	d.ID = s.Member(`{"id":`)
	s.Skip(`,"type":"product","attributes":`)
	d.scanAttributes(&s)
	s.Input = body[relations:]
	s.Raw(`,"relationships":`)
	d.scanMeta(&s)
	return !s.Failed
}

func (d *productDocument) scanAttributes(s *catalog.DocumentScanner) {
	a := &d.Attributes
	a.Name = s.Member(`{"name":`)
	a.Description = s.Member(`,"description":`)
	a.SKU = s.Member(`,"sku":`)
	a.Slug = s.Member(`,"slug":`)
	a.Status = s.Member(`,"status":`)
	s.ProductTexts(&a.ProductTexts)
	a.Tags = s.Texts(`,"tags":`)
	a.PriceModifiers = s.Texts(`,"price_modifiers":`)
	s.Skip(`,"base_product":`)
	a.BaseProduct = s.Boolean()
	if s.TrySkip(`,"base_product_id":"`) {
		s.Text()
	}
	a.CreatedAt = s.Time(`,"created_at":`)
	a.UpdatedAt = s.Time(`,"updated_at":`)
	if s.TrySkip(`,"components"`) {
		s.Unmarshal(`:`, `{}`, &a.Components)
	}
	a.CustomInputs = json.RawMessage(s.Raw(`,"custom_inputs":`))
	a.Extensions = json.RawMessage(s.Raw(`,"extensions":`))
	a.ShopperAttributes = json.RawMessage(s.Raw(`,"shopper_attributes":`))
}

func (d *productDocument) scanMeta(s *catalog.DocumentScanner) {
	m := &d.Meta
	m.Language = s.Member(`,"meta":{"language":`)
	s.Member(`,"catalog_source":`)
	m.ProductTypes = s.Texts(`,"product_types":`)
	s.Raw(`,"component_products":`)
	m.BundleConfiguration.SelectedOptions = json.RawMessage(s.Raw(`,"bundle_configuration":{"selected_options":`))
	s.Skip(`}`)
	m.Variations = s.Variations(`,"variations":`)
	m.ChildVariations = s.Variations(`,"child_variations":`)
	m.VariationMatrix = json.RawMessage(s.Raw(`,"variation_matrix":`))
	m.ChildOptionIDs, m.PriceModifiers = [][]string{}, map[string]modifierDocument{}
	s.Unmarshal(`,"child_option_ids":`, `[]`, &m.ChildOptionIDs)
	s.Unmarshal(`,"price_modifiers":`, `{}`, &m.PriceModifiers)
	s.Raw(`,"bread_crumbs":`)
	m.BreadCrumbNodes = s.Texts(`,"bread_crumb_nodes":`)
}
