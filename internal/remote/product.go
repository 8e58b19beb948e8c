package remote

import (
	"context"
	"encoding/json"
	"slices"

	"portico/store/catalog"
)

// wireProduct is a product of the catalog, with the members that an import can store.
type wireProduct struct {
	ID         string `json:"id"`
	Attributes struct {
		productMembers
		Components map[string]wireComponent `json:"components"`
		Price      map[string]wireAmount    `json:"price"`
		Tiers      map[string]wireTier      `json:"tiers"`
	} `json:"attributes"`
	Relationships struct {
		Parent    *refLink `json:"parent"`
		MainImage *refLink `json:"main_image"`
		Files     struct {
			Data []catalog.FileLink `json:"data"`
		} `json:"files"`
		ComponentProducts *refLinks `json:"component_products"`
	} `json:"relationships"`
	Meta struct {
		Language        string                `json:"language"`
		ProductTypes    []string              `json:"product_types"`
		Variations      []variation           `json:"variations"`
		ChildVariations []variation           `json:"child_variations"`
		PriceModifiers  map[string]modifier   `json:"price_modifiers"`
		PricebookID     string                `json:"pricebook_id"`
		OriginalPrice   map[string]wireAmount `json:"original_price"`
		SaleID          string                `json:"sale_id"`
		SaleExpires     string                `json:"sale_expires"`
		BreadCrumbNodes []string              `json:"bread_crumb_nodes"`
	} `json:"meta"`
}

// productMembers are the members that the catalog and imports have alike.
type productMembers struct {
	Name string `json:"name"`
	SKU  string `json:"sku"`
	Slug string `json:"slug,omitempty"`
	catalog.ProductTexts[string]
	Tags              []string        `json:"tags,omitempty"`
	PriceModifiers    []string        `json:"price_modifiers,omitempty"`
	BaseProduct       bool            `json:"base_product"`
	BaseProductID     string          `json:"base_product_id,omitempty"`
	CreatedAt         string          `json:"created_at,omitempty"`
	UpdatedAt         string          `json:"updated_at,omitempty"`
	CustomInputs      json.RawMessage `json:"custom_inputs,omitempty"`
	Extensions        json.RawMessage `json:"extensions,omitempty"`
	ShopperAttributes json.RawMessage `json:"shopper_attributes,omitempty"`
}

// wireComponent is a part of a bundle. A server may leave min and max open.
type wireComponent struct {
	Name      string `json:"name"`
	Min       *int   `json:"min"`
	Max       *int   `json:"max"`
	SortOrder int    `json:"sort_order"`
	Options   []struct {
		ID       string `json:"id"`
		Quantity int    `json:"quantity"`
	} `json:"options"`
}

// variation is a property in which the children of a product differ. Option is that of a child.
type variation struct {
	ID        string                    `json:"id"`
	Name      string                    `json:"name"`
	SortOrder int                       `json:"sort_order"`
	Option    *catalog.VariationOption  `json:"option,omitempty"`
	Options   []catalog.VariationOption `json:"options"`
}

// The rest are the members of a product in the import format.

type productAttributes struct {
	productMembers
	Status       string                        `json:"status"`
	ProductTypes []string                      `json:"product_types,omitempty"`
	Locales      map[string]catalog.LocaleText `json:"locales,omitempty"`
	Variations   []variation                   `json:"variations,omitempty"`
	Options      []string                      `json:"options,omitempty"`
	Components   map[string]catalog.Component  `json:"components,omitempty"`
}

type productLinks struct {
	Parent            *refLink           `json:"parent,omitempty"`
	MainImage         *refLink           `json:"main_image,omitempty"`
	Files             *catalog.FileLinks `json:"files,omitempty"`
	ComponentProducts *refLinks          `json:"component_products,omitempty"`
}

const productsPath = "/catalog/products"

// productParams asks for the files of products with them.
const productParams = "include=main_image,files"

// fetchProducts writes the products of the catalog, with their prices and files.
func (f *fetcher) fetchProducts(ctx context.Context) error {
	if err := f.loadKnown(); err != nil {
		return err
	}
	s := &f.folder.state.Shop
	return f.each(ctx, "products", "products", resourceList{path: productsPath, params: productParams, language: s.Language, currency: s.Currency}, func(p *page) error {
		return f.writeProducts(ctx, p)
	})
}

// loadKnown reads which products and files were written, unless they are loaded already. Each step that needs them calls it, as
// a continued run may begin with any.
func (f *fetcher) loadKnown() (err error) {
	if f.products == nil {
		f.products, err = f.folder.ids("products")
	}
	if f.files == nil && err == nil {
		f.files, err = f.folder.ids("files")
	}
	return err
}

// writeProducts writes the products of a page that are not known yet, with their texts in other languages, their prices and
// files. It keeps what they show of price modifiers and of the order of nodes.
func (f *fetcher) writeProducts(ctx context.Context, p *page) error {
	var rows []json.RawMessage
	var products []*wireProduct
	var ids []string
	for _, raw := range p.Data {
		product := &wireProduct{}
		if err := decodeRow("product", raw, product); err != nil {
			return err
		}
		if !f.products[product.ID] {
			f.products[product.ID] = true
			rows, products, ids = append(rows, raw), append(products, product), append(ids, product.ID)
		}
	}
	if err := f.writeFiles(slices.Concat(p.Included.MainImages, p.Included.Files)); err != nil {
		return err
	}
	locales, err := f.translations(ctx, productsPath, rows)
	if err != nil {
		return err
	}
	found, err := f.pricesOf(ctx, products, ids)
	if err != nil {
		return err
	}
	for _, product := range products {
		if err := f.noteModifiers(product); err != nil {
			return err
		}
		if product.Relationships.Parent.id() == "" { // a child also shows the nodes of its parent
			if err := f.noteOrder(product.Meta.BreadCrumbNodes); err != nil {
				return err
			}
		}
		if err := f.folder.write("products", f.productLine(product, locales[product.ID])); err != nil {
			return err
		}
		if err := f.writePrices(product, found[product.ID]); err != nil {
			return err
		}
	}
	return nil
}

// productLine returns the line of a product, and counts it if it has no SKU.
func (f *fetcher) productLine(p *wireProduct, locales map[string]catalog.LocaleText) importLine[productAttributes, productLinks] {
	l := importLine[productAttributes, productLinks]{Type: "product", ID: p.ID, Attributes: productAttributes{
		productMembers: p.Attributes.productMembers, Status: "live", ProductTypes: p.Meta.ProductTypes, Locales: locales, Components: components(p.Attributes.Components),
	}}
	a := &l.Attributes
	a.SKU, a.CreatedAt, a.UpdatedAt = f.skuOf(p), utc(a.CreatedAt), utc(a.UpdatedAt)
	a.CustomInputs, a.Extensions, a.ShopperAttributes = object(a.CustomInputs), object(a.Extensions), object(a.ShopperAttributes)
	for _, v := range p.Meta.Variations {
		v.Option = nil
		a.Variations = append(a.Variations, v)
	}
	r := &p.Relationships
	parent := r.Parent.id()
	l.Relationships = productLinks{Parent: linkTo("product", parent), MainImage: linkTo("main_image", r.MainImage.id()), ComponentProducts: r.ComponentProducts.retyped("product")}
	if parent != "" {
		for _, v := range p.Meta.ChildVariations {
			if v.Option != nil {
				a.Options = append(a.Options, v.Option.ID)
			}
		}
	}
	if len(r.Files.Data) > 0 {
		l.Relationships.Files = &catalog.FileLinks{}
		for _, file := range r.Files.Data {
			l.Relationships.Files.Data = append(l.Relationships.Files.Data, catalog.FileLink{Type: "file", ID: file.ID, CreatedAt: utc(file.CreatedAt)})
		}
	}
	return l
}

// skuOf returns the product's SKU. A product without one gets its id, since an import needs it.
func (f *fetcher) skuOf(p *wireProduct) string {
	if p.Attributes.SKU != "" {
		return p.Attributes.SKU
	}
	f.folder.state.Counts["products without a SKU"]++
	return p.ID
}

// components returns the parts of a bundle. Where a server leaves the number open, it is 0 to all options.
func components(wire map[string]wireComponent) map[string]catalog.Component {
	parts := map[string]catalog.Component{}
	for key, w := range wire {
		part := catalog.Component{Name: w.Name, SortOrder: w.SortOrder, Options: []catalog.ComponentOption{}}
		if w.Min != nil {
			part.Min = *w.Min
		}
		part.Max = max(len(w.Options), part.Min)
		if w.Max != nil {
			part.Max = *w.Max
		}
		for _, o := range w.Options {
			part.Options = append(part.Options, catalog.ComponentOption{Type: "product", ID: o.ID, Quantity: max(o.Quantity, 1)})
		}
		parts[key] = part
	}
	return parts
}
