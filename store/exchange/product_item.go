package exchange

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/exchange/sheet"
)

// ProductItemInput is a product in productsUpsert: what changes of it. Nil members keep their value,
// unless they are among the nulls.
type ProductItemInput struct {
	ID     *string                `json:"id,omitempty"`
	SKU    *string                `json:"sku,omitempty"`
	Name   *string                `json:"name,omitempty"`
	Slug   *string                `json:"slug,omitempty"`
	Status *catalog.ProductStatus `json:"status,omitempty"`
	catalog.ProductTexts[*string]
	Tags                []string                     `json:"tags,omitzero"`
	ProductTypes        []string                     `json:"productTypes,omitzero"`
	BaseProduct         *bool                        `json:"baseProduct,omitempty"`
	ParentID            *string                      `json:"parentId,omitempty"`
	OptionIds           []string                     `json:"optionIds,omitzero"`
	Variations          []*ProductVariationInput     `json:"variations,omitzero"`
	PriceModifiers      []string                     `json:"priceModifiers,omitzero"`
	MainImageID         *string                      `json:"mainImageId,omitempty"`
	Files               []*ProductFileInput          `json:"files,omitzero"`
	ComponentProductIds []string                     `json:"componentProductIds,omitzero"`
	Components          []*ProductComponentInput     `json:"components,omitzero"`
	Related             []*RelatedProductsInput      `json:"related,omitzero"`
	Seo                 *catalog.SEOChange           `json:"seo,omitempty"`
	Translations        []*catalog.TranslationChange `json:"translations,omitzero"`
	Attributes          []*AttributeValueInput       `json:"attributes,omitzero"`
	CustomInputs        json.RawMessage              `json:"customInputs,omitempty"`
	Extensions          json.RawMessage              `json:"extensions,omitempty"`
	ShopperAttributes   json.RawMessage              `json:"shopperAttributes,omitempty"`
	CreatedAt           *time.Time                   `json:"createdAt,omitempty"`
}

// ProductVariationInput is a property in which the children of a product differ.
type ProductVariationInput struct {
	ID        string                         `json:"id"`
	Name      string                         `json:"name"`
	SortOrder int                            `json:"sortOrder"`
	Options   []*ProductVariationOptionInput `json:"options"`
}

// ProductVariationOptionInput is a value of a variation.
type ProductVariationOptionInput struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	SortOrder   int    `json:"sortOrder"`
}

// ProductFileInput attaches a file to a product. Without AttachedAt, a file that is attached already keeps its time, unless
// that is among the nulls.
type ProductFileInput struct {
	ID         string     `json:"id"`
	Alt        string     `json:"alt"`
	AttachedAt *time.Time `json:"attachedAt,omitempty"`
}

// ProductComponentInput is a part of a bundle.
type ProductComponentInput struct {
	Key       string                         `json:"key"`
	Name      string                         `json:"name"`
	Min       int                            `json:"min"`
	Max       int                            `json:"max"`
	SortOrder int                            `json:"sortOrder"`
	Options   []*ProductComponentOptionInput `json:"options"`
}

// ProductComponentOptionInput is a product to choose for a component.
type ProductComponentOptionInput struct {
	ProductID string `json:"productId"`
	Quantity  int    `json:"quantity"`
}

// RelatedProductsInput are the related products of a kind.
type RelatedProductsInput struct {
	Kind       string   `json:"kind"`
	ProductIds []string `json:"productIds"`
}

// UpsertProducts creates products and changes members of existing ones, all or none. An item without an id
// is the product with its SKU, or a new one. nulls are the paths of members to clear, such as
// items.0.seo.title.
func (s *Service) UpsertProducts(ctx context.Context, actor store.Actor, items []*ProductItemInput, nulls store.Nulls, dryRun bool) (*ItemsWritten, error) {
	cleared := store.SetOf(nulls)
	return s.writeItems(ctx, actor, itemSet{
		kind: catalog.ProductKind, count: len(items),
		identify: func(ctx context.Context, in db.Session) ([]string, store.Errors, error) {
			return identifyProducts(ctx, in, items)
		},
		patch: func(i int, _ string, before []byte) *itemPatch {
			p := newItemPatch(i, cleared, before)
			items[i].patch(p)
			return p
		},
		place: func(places []int, path []string) []string { return inItem(places, items[places[0]].place(path)) },
	}, dryRun)
}

// identifyProducts returns the id of each item's product. An item without an id is an error if its SKU is absent, or that of
// several products.
func identifyProducts(ctx context.Context, in db.Session, items []*ProductItemInput) (ids []string, faults store.Errors, err error) {
	named := func(i int) (*string, sheet.Key) {
		if items[i].SKU == nil {
			return items[i].ID, sheet.Key{}
		}
		return items[i].ID, sheet.Key{Kind: "product", Value: *items[i].SKU}
	}
	ids, stored, err := identify(ctx, in, len(items), named)
	for i, item := range items {
		switch _, key := named(i); {
		case item.ID != nil:
		case item.SKU == nil:
			faults = append(faults, store.Unprocessablef([]string{strconv.Itoa(i)}, "needs an id or a sku, which say the product"))
		case len(stored[key]) > 1:
			faults = append(faults, store.Unprocessablef([]string{strconv.Itoa(i), "sku"}, "is the SKU of several products: %s; send the id of the one", store.ListSome(stored[key])))
		}
	}
	return ids, faults, err
}

// patch adds what the item changes.
func (item *ProductItemInput) patch(p *itemPatch) {
	put(p, "sku", "attributes.sku", item.SKU)
	put(p, "name", "attributes.name", item.Name)
	put(p, "slug", "attributes.slug", item.Slug)
	put(p, "status", "attributes.status", item.Status)
	for i, text := range item.ProductTexts.All() {
		name := catalog.ProductTextMembers[i].Name
		put(p, name, "attributes."+name, *text)
	}
	putList(p, "tags", "attributes.tags", item.Tags)
	putList(p, "product_types", "attributes.product_types", item.ProductTypes)
	put(p, "base_product", "attributes.base_product", item.BaseProduct)
	item.patchParent(p)
	putList(p, "option_ids", "attributes.options", item.OptionIds)
	putList(p, "price_modifiers", "attributes.price_modifiers", item.PriceModifiers)
	item.patchMainImage(p)
	putObject(p, "custom_inputs", "attributes.custom_inputs", item.CustomInputs)
	putObject(p, "extensions", "attributes.extensions", item.Extensions)
	putObject(p, "shopper_attributes", "attributes.shopper_attributes", item.ShopperAttributes)
	p.setCreated(item.CreatedAt)
	p.texts(item.Seo, item.Translations)
	p.attributes(item.Attributes)
	item.patchParts(p)
}

// putObject is put for JSON.
func putObject(p *itemPatch, member, path string, value json.RawMessage) {
	if len(value) > 0 && string(value) != "null" {
		put(p, member, path, &value)
	} else {
		put[any](p, member, path, nil)
	}
}

// patchParts adds lists of objects, which replace the stored ones.
func (item *ProductItemInput) patchParts(p *itemPatch) {
	var variations []any
	if item.Variations != nil {
		variations = []any{}
	}
	for _, v := range item.Variations {
		options := []any{}
		for _, o := range v.Options {
			options = append(options, map[string]any{"id": o.ID, "name": o.Name, "description": o.Description, "sort_order": o.SortOrder})
		}
		variations = append(variations, map[string]any{"id": v.ID, "name": v.Name, "sort_order": v.SortOrder, "options": options})
	}
	putList(p, "variations", "attributes.variations", variations)
	item.patchFiles(p)
	var bundled []any
	for _, id := range item.ComponentProductIds {
		bundled = append(bundled, map[string]any{"type": "product", "id": store.LocalID(id)})
	}
	putLinks(p, "component_product_ids", "relationships.component_products", item.ComponentProductIds != nil, bundled)
	refuseRepeated(p, "components", item.Components, func(c *ProductComponentInput) string { return c.Key })
	refuseRepeated(p, "related", item.Related, func(r *RelatedProductsInput) string { return r.Kind })
	components := map[string]any{}
	for _, c := range item.Components {
		options := []any{}
		for _, o := range c.Options {
			options = append(options, map[string]any{"id": store.LocalID(o.ProductID), "type": "product", "quantity": o.Quantity})
		}
		components[c.Key] = map[string]any{"name": c.Name, "min": c.Min, "max": c.Max, "sort_order": c.SortOrder, "options": options}
	}
	p.putWhole("components", item.Components != nil, components, "attributes", "components")
	related := map[string]any{}
	for _, r := range item.Related {
		ids := []string{}
		for _, id := range r.ProductIds {
			ids = append(ids, store.LocalID(id))
		}
		related[r.Kind] = ids
	}
	p.putWhole("related", item.Related != nil, related, "relationships", "related")
}

// patchParent sets the parent. base_product_id, which clients show in its place, must not stay that of another.
func (item *ProductItemInput) patchParent(p *itemPatch) {
	putLink(p, "parent_id", "relationships.parent", "product", item.ParentID)
	if given := item.ParentID != nil || p.null("parent_id"); given && p.storedProduct().Relationships.Parent.ID() != store.LocalID(deref(item.ParentID)) {
		p.Set(nil, "attributes", "base_product_id")
	}
}

// patchMainImage sets the main image. The type of a stored link stays: it is main_image or file.
func (item *ProductItemInput) patchMainImage(p *itemPatch) {
	kind := "main_image"
	if item.MainImageID != nil {
		if stored := p.storedProduct().Relationships.MainImage; stored.ID() != "" {
			kind = stored.Data.Type
		}
	}
	putLink(p, "main_image_id", "relationships.main_image", kind, item.MainImageID)
}

// patchFiles sets the files.
func (item *ProductItemInput) patchFiles(p *itemPatch) {
	attached := map[string]string{}
	if item.Files != nil {
		for _, link := range p.storedProduct().Relationships.FileLinks() {
			attached[link.ID] = link.CreatedAt
		}
	}
	var files []any
	for i, file := range item.Files {
		link := catalog.FileLink{Type: "file", ID: store.LocalID(file.ID), Alt: file.Alt}
		if file.AttachedAt != nil {
			link.CreatedAt = store.FormatTime(*file.AttachedAt)
		} else if !p.null("files." + strconv.Itoa(i) + ".attached_at") {
			link.CreatedAt = attached[link.ID]
		}
		files = append(files, link)
	}
	putLinks(p, "files", "relationships.files", item.Files != nil, files)
}

// storedProduct returns the product as it is stored, empty if it is new.
func (p *itemPatch) storedProduct() *catalog.ProductSource {
	if p.product == nil {
		p.product = &catalog.ProductSource{}
		if p.before != nil && store.Decode(p.before, p.product) != nil {
			p.product = &catalog.ProductSource{}
		}
	}
	return p.product
}

// place returns a path of the item with positions in the place of keys.
func (item *ProductItemInput) place(path []string) []string {
	switch path[0] {
	case "related":
		return elementPath(path, item.Related, func(r *RelatedProductsInput) string { return r.Kind }, "kind")
	case "components":
		return elementPath(path, item.Components, func(c *ProductComponentInput) string { return c.Key })
	}
	return contentElementPath(path, item.Translations, item.Attributes)
}
