package catalog

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"portico/store"
	"portico/store/authoring"
)

// ProductSource is a product in an import file. Publishing turns it into documents.
type ProductSource struct {
	Type          string               `json:"type"`
	ID            string               `json:"id"`
	Attributes    ProductAttributes    `json:"attributes"`
	Relationships ProductRelationships `json:"relationships"`
}

// ProductAttributes are the members of a product. Times are RFC 3339 in UTC.
type ProductAttributes struct {
	Name   string `json:"name"`
	SKU    string `json:"sku"`
	Slug   string `json:"slug"`
	Status string `json:"status"` // live or draft; only live products are published
	ProductTexts[string]
	Tags              []string              `json:"tags,omitempty"`
	ProductTypes      []string              `json:"product_types,omitempty"`
	BaseProduct       bool                  `json:"base_product"`
	BaseProductID     string                `json:"base_product_id,omitempty"`
	CreatedAt         string                `json:"created_at"`
	UpdatedAt         string                `json:"updated_at"`
	Locales           map[string]LocaleText `json:"locales,omitempty"` // by BCP 47 tag
	Variations        []variationSource     `json:"variations,omitempty"`
	Options           []string              `json:"options,omitempty"` // of a child: its option ids
	Components        map[string]Component  `json:"components,omitempty"`
	CustomInputs      json.RawMessage       `json:"custom_inputs,omitempty"`
	Extensions        json.RawMessage       `json:"extensions,omitempty"`
	ShopperAttributes json.RawMessage       `json:"shopper_attributes,omitempty"`
	PriceModifiers    []string              `json:"price_modifiers,omitempty"`
	SEO               *SEOText              `json:"seo,omitempty"`

	CustomAttributes CustomAttributes `json:"custom_attributes,omitempty"`
}

// variationSource is a property in which the children of a product differ.
type variationSource struct {
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	SortOrder int               `json:"sort_order"`
	Options   []VariationOption `json:"options"`
}

// Component is a part of a bundle: the shopper chooses Min to Max of its options.
type Component struct {
	Name      string            `json:"name"`
	Min       int               `json:"min"`
	Max       int               `json:"max"`
	SortOrder int               `json:"sort_order"`
	Options   []ComponentOption `json:"options"`
}

// ComponentOption is a product to choose for a component.
type ComponentOption struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Quantity int    `json:"quantity"`
}

// ProductRelationships link a product to other resources.
type ProductRelationships struct {
	Parent            *authoring.LinkSource  `json:"parent,omitempty"`
	MainImage         *authoring.LinkSource  `json:"main_image,omitempty"`
	Files             *FileLinks             `json:"files,omitempty"`
	ComponentProducts *authoring.LinksSource `json:"component_products,omitempty"`
	Related           map[string][]string    `json:"related,omitempty"` // ids by kind
}

// FileIDs returns the distinct files of the product.
func (p *ProductSource) FileIDs() []string {
	var ids []string
	if image := p.Relationships.MainImage.ID(); image != "" {
		ids = append(ids, image)
	}
	for _, file := range p.Relationships.FileLinks() {
		ids = append(ids, file.ID)
	}
	return store.Unique(ids)
}

// FileLinks returns the files of the product in order, without the main image.
func (r *ProductRelationships) FileLinks() []FileLink {
	if r.Files == nil {
		return nil
	}
	return r.Files.Data
}

// FileLinks are the files of a product, in order.
type FileLinks struct {
	Data []FileLink `json:"data"`
}

// FileLink attaches a file to a product.
type FileLink struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	CreatedAt string `json:"created_at,omitempty"` // when it was attached
	Alt       string `json:"alt,omitempty"`        // alternative text
}

func (p *ProductSource) Key() string { return p.ID }

// Check implements authoring.Source. It makes a slug for a product without one, and brings ids, times and language tags into
// their stored form.
func (p *ProductSource) Check(f *authoring.Validator) {
	f.ID("id", &p.ID)
	a := &p.Attributes
	f.Required("attributes.name", a.Name, authoring.MaxName)
	f.Required("attributes.sku", a.SKU, authoring.MaxName)
	warnOfMarkup(f, "attributes.name", a.Name)
	warnOfKey(f, "attributes.sku", a.SKU)
	if a.Slug == "" {
		a.Slug = slugOf(a.Name, a.SKU)
	}
	f.Text("attributes.slug", a.Slug, authoring.MaxName)
	if a.Slug == "" && a.Name+a.SKU != "" {
		f.Rule("attributes.slug", "is required, since neither name nor sku has a letter or a digit")
	}
	warnOfSlug(f, "attributes.slug", a.Slug)
	if a.Status == "" {
		f.Rule("attributes.status", "is required")
	} else {
		f.OneOf("attributes.status", a.Status, "live", "draft")
	}
	for i, text := range a.ProductTexts.All() {
		if limit := ProductTextMembers[i].Limit; limit > 0 {
			f.Text(textPaths[i], *text, limit)
		}
	}
	warnOfBarcode(f, "attributes.upc_ean", a.UPCEAN)
	f.OptionalID("attributes.base_product_id", &a.BaseProductID)
	f.Time("attributes.created_at", &a.CreatedAt) // SetTimes sets what is absent
	f.Time("attributes.updated_at", &a.UpdatedAt)
	checkLocales(f, "attributes.locales", a.Locales)
	checkSEO(f, "attributes.seo", &a.SEO)
	for i := range a.Options {
		f.IDOf("attributes.options."+strconv.Itoa(i), "option", &a.Options[i])
	}
	checkVariations(f, "attributes.variations", a.Variations)
	f.Texts("attributes.tags", a.Tags, authoring.MaxName)
	f.Texts("attributes.product_types", a.ProductTypes, authoring.MaxName)
	for key, component := range a.Components {
		if !f.Name("attributes.components", "component", key) {
			continue
		}
		component.check(f, "attributes.components."+key, p.ID)
	}
	f.Object("attributes.custom_inputs", &a.CustomInputs)
	f.Object("attributes.extensions", &a.Extensions)
	f.Object("attributes.shopper_attributes", &a.ShopperAttributes)
	a.CustomAttributes.check(f, maxAttributes)
	r := &p.Relationships
	f.Link("relationships.parent", r.Parent, "product")
	f.Link("relationships.main_image", r.MainImage, "file", "main_image")
	f.Links("relationships.component_products", r.ComponentProducts, "product")
	p.checkComponentProducts(f)
	r.Files.check(f, "relationships.files.data")
	checkRelated(f, "relationships.related", p.ID, r.Related)
	if len(a.Options) > 0 && p.parentID() == "" {
		f.Warn("attributes.options", "have no effect without a parent; set relationships.parent too")
	}
	if a.BaseProduct && p.parentID() != "" {
		f.Warn("attributes.base_product", "is true, but the product has the parent %q, and a variant has no variants of its own; attach them to that parent", store.Abbreviate(p.parentID()))
	}
	if p.ID != "" && p.parentID() == p.ID {
		f.Add("relationships.parent.data.id", "must be another product")
	}
}

// Keys records the product, what it shows, and its family: that a parent needs a child, and that a child needs a parent with its
// options, one of each variation.
func (p *ProductSource) Keys(k authoring.KeyRecorder) {
	a, r := &p.Attributes, &p.Relationships
	k.Define(authoring.KeySKU, a.SKU, "attributes.sku")
	k.Define(authoring.KeySlug, a.Slug, "attributes.slug")
	if image := r.MainImage.ID(); image != "" {
		k.Use(authoring.KeyFile, image, "relationships.main_image.data.id", 0)
	}
	if r.Files != nil {
		for i, file := range r.Files.Data {
			k.Use(authoring.KeyFile, file.ID, "relationships.files.data.*.id", i)
		}
	}
	if r.ComponentProducts != nil {
		for i, component := range r.ComponentProducts.Data {
			k.Use(authoring.KeyProduct, component.ID, "relationships.component_products.data.*.id", i)
		}
	}
	for key, component := range a.Components {
		for i, option := range component.Options {
			k.Use(authoring.KeyProduct, option.ID, "attributes.components."+key+".options.*.id", i)
		}
	}
	for i, modifier := range a.PriceModifiers {
		k.Use(authoring.KeyModifier, modifier, "attributes.price_modifiers.*", i)
	}
	for i, v := range a.Variations {
		for _, option := range v.Options {
			k.Define(authoring.KeyOption, authoring.OptionKey(p.ID, option.ID), "attributes.variations."+strconv.Itoa(i))
		}
	}
	for kind, ids := range r.Related {
		for i, id := range ids {
			k.Use(authoring.KeyProduct, id, "relationships.related."+kind+".*", i)
		}
	}
	if a.BaseProduct {
		k.Use(authoring.KeyChild, p.ID, "attributes.base_product", 0)
		k.Define(authoring.KeyParent, p.ID, "attributes.base_product")
		k.Define(authoring.KeyOptionCount, authoring.OptionCountKey(p.ID, len(a.Variations)), "attributes.variations")
	}
	if parent := p.parentID(); parent != "" {
		k.Use(authoring.KeyProduct, parent, "relationships.parent.data.id", 0)
		k.Define(authoring.KeyChild, parent, "relationships.parent.data.id")
		if parent != p.ID {
			k.Use(authoring.KeyParent, parent, "relationships.parent.data.id", 0)
			k.Use(authoring.KeyOptionCount, authoring.OptionCountKey(parent, len(a.Options)), "attributes.options", 0)
		}
		if len(a.Options) > 0 {
			k.Define(authoring.KeyVariant, authoring.OptionKey(parent, strings.Join(slices.Sorted(slices.Values(a.Options)), " ")), "attributes.options")
		}
		for i, option := range a.Options {
			k.Use(authoring.KeyOption, authoring.OptionKey(parent, option), "attributes.options.*", i)
		}
	}
}

// checkComponentProducts warns of the bundle itself. A product may be there twice, as one of two components: it is shown
// once.
func (p *ProductSource) checkComponentProducts(f *authoring.Validator) {
	if p.Relationships.ComponentProducts == nil {
		return
	}
	for i, product := range p.Relationships.ComponentProducts.Data {
		if product.ID != "" && product.ID == p.ID {
			f.Warn("relationships.component_products.data."+strconv.Itoa(i)+".id", "is the product itself; remove it")
		}
	}
}

// The bounds of related products.
const (
	MaxRelatedKinds = 10
	MaxRelated      = 50 // of a kind
)

// checkRelated checks the related products of one by kind. They need not exist: those that are not live are left out when
// they are read.
func checkRelated(f *authoring.Validator, member, own string, related map[string][]string) {
	if len(related) > MaxRelatedKinds {
		f.Rule(member, "must have at most %d kinds, got %d", MaxRelatedKinds, len(related))
	}
	for _, kind := range slices.Sorted(maps.Keys(related)) {
		f.Required(member+"."+kind, kind, 64)
		ids := related[kind]
		if len(ids) > MaxRelated {
			f.Rule(member+"."+kind, "must have at most %d products, got %d", MaxRelated, len(ids))
		}
		for i := range ids {
			f.ID(member+"."+kind+"."+strconv.Itoa(i), &ids[i])
		}
		checkDistinct(f.Warn, member+"."+kind, "", own, ids)
	}
}

// check warns of a file that is there twice with different links.
func (l *FileLinks) check(f *authoring.Validator, member string) {
	if l == nil {
		return
	}
	seen := make(map[string]FileLink, len(l.Data))
	for i := range l.Data {
		link, at := &l.Data[i], member+"."+strconv.Itoa(i)
		f.LinkType(at+".type", link.Type, "file")
		f.IDOf(at+".id", "file", &link.ID)
		f.Time(at+".created_at", &link.CreatedAt)
		f.Text(at+".alt", link.Alt, authoring.MaxName)
		if before, twice := seen[link.ID]; twice && link.ID != "" && (before.Alt != link.Alt || before.CreatedAt != link.CreatedAt) {
			f.Warn(at+".id", "is in the list twice, with another alternative text or time: %q; remove one of them", store.Abbreviate(link.ID))
		}
		seen[link.ID] = *link
	}
}

// checkVariations requires that variations differ in id, and that an option belongs to one variation, so that options
// identify a child.
func checkVariations(f *authoring.Validator, member string, variations []variationSource) {
	seen, ids := map[string]string{}, make([]string, len(variations))
	for i := range variations {
		v := &variations[i]
		v.check(f, member+"."+strconv.Itoa(i))
		ids[i] = v.ID
		for j, option := range v.Options {
			at := member + "." + strconv.Itoa(i) + ".options." + strconv.Itoa(j) + ".id"
			if before := seen[option.ID]; before != "" && option.ID != "" {
				f.Add(at, "must belong to one variation; %q is also %s", option.ID, before)
			}
			seen[option.ID] = at
		}
	}
	checkDistinct(f.Add, member, ".id", "", ids)
}

func (v *variationSource) check(f *authoring.Validator, member string) {
	f.ID(member+".id", &v.ID)
	f.Required(member+".name", v.Name, authoring.MaxName)
	for i := range v.Options {
		f.ID(member+".options."+strconv.Itoa(i)+".id", &v.Options[i].ID)
		f.Required(member+".options."+strconv.Itoa(i)+".name", v.Options[i].Name, authoring.MaxName)
	}
}

// check requires that the options are different products, and not the bundle itself.
func (c *Component) check(f *authoring.Validator, member, bundle string) {
	f.Required(member+".name", c.Name, authoring.MaxName)
	if c.Min < 0 || c.Max < c.Min {
		f.Add(member+".max", "must be at least min, and min at least 0; got max %d, min %d", c.Max, c.Min)
	}
	ids := make([]string, len(c.Options))
	for i := range c.Options {
		f.ID(member+".options."+strconv.Itoa(i)+".id", &c.Options[i].ID)
		ids[i] = c.Options[i].ID
		if c.Options[i].Quantity < 1 {
			f.Add(member+".options."+strconv.Itoa(i)+".quantity", "must be at least 1, got %d", c.Options[i].Quantity)
		}
	}
	checkDistinct(f.Warn, member+".options", ".id", bundle, ids)
}

// OwnAttributes returns the product's values of attributes of the merchant's own.
func (p *ProductSource) OwnAttributes() CustomAttributes { return p.Attributes.CustomAttributes }

func (p *ProductSource) live() bool { return p.Attributes.Status == "live" }

func (p *ProductSource) parentID() string { return p.Relationships.Parent.ID() }

// componentIDs returns the distinct products of the bundle: the related ones, else those of
// the components in their order.
func (p *ProductSource) componentIDs() []string {
	related := p.Relationships.ComponentProducts
	if related == nil || len(related.Data) == 0 {
		return store.Unique(p.Attributes.optionIDs())
	}
	return store.Unique(RefIDs(*related))
}

// LiveComponentIDs returns the ids of the components that the document shows, in its order.
func (p *ProductSource) LiveComponentIDs(l Links) []string {
	return slices.DeleteFunc(p.componentIDs(), func(id string) bool { return !l.Components[id] })
}

// bundledIDs returns all products that the bundle refers to.
func (p *ProductSource) bundledIDs() []string {
	return store.Unique(append(p.componentIDs(), p.Attributes.optionIDs()...))
}

// optionIDs returns the products of all components, in their order, with duplicates.
func (a *ProductAttributes) optionIDs() (ids []string) {
	for _, key := range a.ComponentKeys() {
		for _, option := range a.Components[key].Options {
			ids = append(ids, option.ID)
		}
	}
	return ids
}

// ComponentKeys returns the keys of the components by sort order, then key.
func (a *ProductAttributes) ComponentKeys() []string {
	return slices.SortedFunc(maps.Keys(a.Components), func(x, y string) int {
		return cmp.Or(cmp.Compare(a.Components[x].SortOrder, a.Components[y].SortOrder), cmp.Compare(x, y))
	})
}

func (p *ProductSource) createdAt() time.Time { return store.StoredTime(p.Attributes.CreatedAt) }
func (p *ProductSource) updatedAt() time.Time { return store.StoredTime(p.Attributes.UpdatedAt) }

// RefIDs returns the ids of links.
func RefIDs(l authoring.LinksSource) []string {
	ids := make([]string, len(l.Data))
	for i, ref := range l.Data {
		ids[i] = ref.ID
	}
	return ids
}
