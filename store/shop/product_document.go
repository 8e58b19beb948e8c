package shop

import (
	"encoding/json"
	"strings"
)

// productDocument is what a document says, for typed readers. Times are as
// the contract writes them, without a zone.
type productDocument struct {
	ID         string `json:"id"`
	Attributes struct {
		Name                string               `json:"name"`
		Description         string               `json:"description"`
		SKU                 string               `json:"sku"`
		Slug                string               `json:"slug"`
		Status              string               `json:"status"`
		CommodityType       string               `json:"commodity_type"`
		UPCEAN              string               `json:"upc_ean"`
		ManufacturerPartNum string               `json:"manufacturer_part_num"`
		ExternalRef         string               `json:"external_ref"`
		Tags                []string             `json:"tags"`
		PriceModifiers      []string             `json:"price_modifiers"`
		BaseProduct         bool                 `json:"base_product"`
		BaseProductID       string               `json:"base_product_id"`
		CreatedAt           bareTimestamp        `json:"created_at"`
		UpdatedAt           bareTimestamp        `json:"updated_at"`
		Components          map[string]Component `json:"components"`
		CustomInputs        json.RawMessage      `json:"custom_inputs"`
		Extensions          json.RawMessage      `json:"extensions"`
		ShopperAttributes   json.RawMessage      `json:"shopper_attributes"`
	} `json:"attributes"`
	Meta struct {
		Language            string                      `json:"language"`
		ProductTypes        []string                    `json:"product_types"`
		BreadCrumbNodes     []string                    `json:"bread_crumb_nodes"`
		BundleConfiguration BundleConfiguration         `json:"bundle_configuration"`
		Variations          []Variation                 `json:"variations"`
		ChildVariations     []Variation                 `json:"child_variations"`
		VariationMatrix     json.RawMessage             `json:"variation_matrix"`
		PriceModifiers      map[string]modifierDocument `json:"price_modifiers"`
		ChildOptionIDs      [][]string                  `json:"child_option_ids"`
	} `json:"meta"`
}

// BundleConfiguration is what is chosen of a bundle.
type BundleConfiguration struct {
	SelectedOptions json.RawMessage `json:"selected_options"`
}

// scan reads a body as documents are written and assembled, its relationships
// left out, which begin at relations.
func (d *productDocument) scan(body []byte, relations int) bool {
	s := scan{left: body[:relations]}
	d.ID = s.member(`{"id":`)
	s.skip(`,"type":"product","attributes":`)
	d.scanAttributes(&s)
	meta, ok := (&refs{}).scan(body[relations:])
	s.left, s.failed = meta, s.failed || !ok
	d.scanMeta(&s)
	return !s.failed
}

func (d *productDocument) scanAttributes(s *scan) {
	a := &d.Attributes
	a.Name = s.member(`{"name":`)
	a.Description = s.member(`,"description":`)
	a.SKU = s.member(`,"sku":`)
	a.Slug = s.member(`,"slug":`)
	a.Status = s.member(`,"status":`)
	a.CommodityType = s.member(`,"commodity_type":`)
	a.UPCEAN = s.member(`,"upc_ean":`)
	a.ManufacturerPartNum = s.member(`,"manufacturer_part_num":`)
	a.ExternalRef = s.member(`,"external_ref":`)
	a.Tags = s.texts(`,"tags":`)
	a.PriceModifiers = s.texts(`,"price_modifiers":`)
	s.skip(`,"base_product":`)
	a.BaseProduct = s.boolean()
	if s.has(`,"base_product_id":"`) {
		a.BaseProductID = s.text()
	}
	a.CreatedAt = s.time(`,"created_at":`)
	a.UpdatedAt = s.time(`,"updated_at":`)
	if s.has(`,"components"`) {
		s.rest(`:`, `{}`, &a.Components)
	}
	a.CustomInputs = s.raw(`,"custom_inputs":`)
	a.Extensions = s.raw(`,"extensions":`)
	a.ShopperAttributes = s.raw(`,"shopper_attributes":`)
}

func (d *productDocument) scanMeta(s *scan) {
	m := &d.Meta
	m.Language = s.member(`,"meta":{"language":`)
	s.member(`,"catalog_source":`)
	m.ProductTypes = s.texts(`,"product_types":`)
	s.raw(`,"component_products":`)
	m.BundleConfiguration.SelectedOptions = s.raw(`,"bundle_configuration":{"selected_options":`)
	s.skip(`}`)
	m.Variations, m.ChildVariations, m.ChildOptionIDs, m.PriceModifiers = []Variation{}, []Variation{}, [][]string{}, map[string]modifierDocument{}
	s.rest(`,"variations":`, `[]`, &m.Variations)
	s.rest(`,"child_variations":`, `[]`, &m.ChildVariations)
	m.VariationMatrix = s.raw(`,"variation_matrix":`)
	s.rest(`,"child_option_ids":`, `[]`, &m.ChildOptionIDs)
	s.rest(`,"price_modifiers":`, `{}`, &m.PriceModifiers)
	s.raw(`,"bread_crumbs":`)
	m.BreadCrumbNodes = s.texts(`,"bread_crumb_nodes":`)
}

// withoutEmpty is a document of the releases of earlier formats, which had components,
// base_product_id and relationships.parent where they say nothing, too, without
// those. custom_inputs is the first member that is the merchant's own JSON.
func withoutEmpty(attributes, rest string) (string, string) {
	own, open, _ := strings.Cut(attributes, `,"custom_inputs":`)
	own = strings.TrimSuffix(strings.Replace(own, `,"base_product_id":"",`, ",", 1), `,"components":{}`)
	if after, without := strings.CutPrefix(rest, `,"relationships":{"parent":{"data":null},`); without {
		rest = `,"relationships":{` + after
	}
	return own + `,"custom_inputs":` + open, rest
}
