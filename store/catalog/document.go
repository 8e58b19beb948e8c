package catalog

import (
	"cmp"
	"slices"
	"strings"

	"portico/store"
	"portico/store/index"
)

// A document is the JSON of a product in one language, without the members that depend on
// the release, node, currency or time. Those are inserted at the line break (attributes)
// and at the end (meta) when a release is read. Members that tell bundles and children
// apart are present only when set: components, base_product_id and relationships.parent.
//
// The order of the members is part of the format: DocumentScanner and package release read
// them in it, and fall back to encoding/json for any other. Change these together, and
// raise segment.ReleaseFormat.

// Links are the products and files that a document refers to and that exist.
type Links struct {
	Parent     string            // empty if the product has none, or it is not live
	Children   []string          // the live ones
	Components map[string]bool   // live products of a bundle
	Files      *index.StringList // existing files
	Variants   Variants          // of the product and its family
}

// HasFile reports whether a file exists.
func (l Links) HasFile(id string) bool {
	_, found := l.Files.Find(id)
	return found
}

// DocumentLanguages returns the sorted tags of languages besides the base language.
func (p *ProductSource) DocumentLanguages() []string {
	tags := make([]string, 0, len(p.Attributes.Locales))
	for tag := range p.Attributes.Locales {
		tags = append(tags, tag)
	}
	slices.Sort(tags)
	return tags
}

// Document builds the document in a language. The empty tag means the base text, whose
// language is base.
func (p *ProductSource) Document(tag, base string, l Links) []byte {
	name, description, language := p.Attributes.Name, p.Attributes.Description, base
	if text, ok := p.Attributes.Locales[tag]; ok {
		language = tag
		name, description = cmp.Or(text.Name, name), cmp.Or(text.Description, description)
	}
	dst := make([]byte, 0, 2048)
	dst = append(dst, '{')
	dst = store.AppendMember(dst, "id", p.ID)
	dst = store.AppendMember(dst, "type", "product")
	dst = append(store.AppendName(dst, "attributes"), '{')
	dst = p.appendAttributes(dst, name, description, l)
	dst = append(dst, '\n')
	dst = append(store.AppendName(dst, "relationships"), '{')
	dst = p.AppendRelationships(dst, l)
	dst = append(dst, '}')
	dst = append(store.AppendName(dst, "meta"), '{')
	return p.appendMeta(dst, language, l)
}

// appendAttributes appends the members of attributes in the order of REST, without the objects' ends: a release inserts more.
func (p *ProductSource) appendAttributes(dst []byte, name, description string, l Links) []byte {
	a := &p.Attributes
	dst = store.AppendMember(dst, "name", name)
	dst = store.AppendMember(dst, "description", description)
	dst = store.AppendMember(dst, "sku", a.SKU)
	dst = store.AppendMember(dst, "slug", a.Slug)
	dst = store.AppendMember(dst, "status", a.Status)
	dst = appendTexts(dst, &a.ProductTexts)
	dst = store.AppendStrings(dst, "tags", a.Tags)
	dst = store.AppendStrings(dst, "price_modifiers", a.PriceModifiers)
	dst = append(store.AppendName(dst, "base_product"), FormatBool(a.BaseProduct)...)
	if l.Parent != "" {
		dst = store.AppendMember(dst, "base_product_id", cmp.Or(a.BaseProductID, l.Parent))
	}
	dst = store.AppendMember(dst, "created_at", store.FormatTimeBare(p.createdAt()))
	dst = store.AppendMember(dst, "updated_at", store.FormatTimeBare(p.updatedAt()))
	if components := a.liveComponents(l.Components); len(components) > 0 {
		dst = append(store.AppendName(dst, "components"), store.Encode(components)...)
	}
	dst = store.AppendObject(dst, "custom_inputs", a.CustomInputs)
	dst = store.AppendObject(dst, "extensions", a.Extensions)
	return store.AppendObject(dst, "shopper_attributes", a.ShopperAttributes)
}

// liveComponents drops options that are not live, and components without options.
func (a *ProductAttributes) liveComponents(live map[string]bool) map[string]Component {
	if len(a.Components) == 0 {
		return nil
	}
	left := map[string]Component{}
	for key, component := range a.Components {
		options := make([]ComponentOption, 0, len(component.Options))
		for _, option := range component.Options {
			if live[option.ID] {
				options = append(options, option)
			}
		}
		if len(options) > 0 {
			component.Options = options
			left[key] = component
		}
	}
	return left
}

// AppendRelationships appends the members of relationships, without the object around them.
func (p *ProductSource) AppendRelationships(dst []byte, l Links) []byte {
	if l.Parent != "" {
		dst = append(store.AppendName(dst, "parent"), `{"data":`...)
		dst = append(appendReference(dst, "product", l.Parent), '}')
	}
	dst = append(store.AppendName(dst, "children"), `{"data":`...)
	dst = appendReferences(dst, l.Children)
	dst = append(appendSelf(dst, p.ID, "children"), '}')
	dst = append(store.AppendName(dst, "files"), `{"data":[`...)
	if files := p.Relationships.Files; files != nil {
		first := true
		for _, file := range files.Data {
			if !l.HasFile(file.ID) {
				continue
			}
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(dst, '{')
			dst = store.AppendMember(dst, "type", "file")
			dst = store.AppendMember(dst, "id", file.ID)
			dst = append(store.AppendName(dst, "created_at"), bareTime(file.CreatedAt)...)
			dst = append(dst, '}')
		}
	}
	dst = append(dst, "]}"...)
	dst = append(store.AppendName(dst, "main_image"), `{"data":`...)
	image := p.Relationships.MainImage.ID()
	if !l.HasFile(image) {
		image = ""
	}
	dst = append(appendReference(dst, "main_image", image), '}')
	dst = append(store.AppendName(dst, "component_products"), `{"data":`...)
	dst = appendReferences(dst, p.LiveComponentIDs(l))
	return append(appendSelf(dst, p.ID, "component_products"), '}')
}

// bareTime returns a canonical time as JSON without its zone, as catalog REST shows times, or null.
func bareTime(text string) string {
	if text == "" {
		return "null"
	}
	return `"` + strings.TrimSuffix(text, "Z") + `"`
}

// appendReference appends a link to a resource; null without an id.
func appendReference(dst []byte, kind, id string) []byte {
	if id == "" {
		return append(dst, "null"...)
	}
	dst = append(dst, `{"id":`...)
	dst = store.AppendString(dst, id)
	dst = store.AppendMember(dst, "type", kind)
	return append(dst, '}')
}

// appendReferences appends a list of links to products.
func appendReferences(dst []byte, ids []string) []byte {
	dst = append(dst, '[')
	for i, id := range ids {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendReference(dst, "product", id)
	}
	return append(dst, ']')
}

// appendSelf appends the links of an edge, and ends its object.
func appendSelf(dst []byte, productID, edge string) []byte {
	dst = append(dst, `,"links":{"self":`...)
	return append(store.AppendString(dst, "/catalog/products/"+productID+"/relationships/"+edge), '}')
}

// appendMeta appends the members of meta. REST has catalog_source and component_products, which never vary here.
func (p *ProductSource) appendMeta(dst []byte, language string, l Links) []byte {
	dst = store.AppendMember(dst, "language", language)
	dst = store.AppendMember(dst, "catalog_source", "pim")
	dst = store.AppendStrings(dst, "product_types", p.Attributes.ProductTypes)
	dst = append(store.AppendName(dst, "component_products"), "{}"...)
	dst = append(store.AppendName(dst, "bundle_configuration"), `{"selected_options":`...)
	dst = append(appendObjectOf(dst, p.Attributes.selectedOptions(l.Components)), '}')
	return l.Variants.appendJSON(dst)
}

// selectedOptions is the default selection of a bundle: the first live options of each
// component, as many as its minimum, with their quantities.
func (a *ProductAttributes) selectedOptions(live map[string]bool) map[string]map[string]int {
	selected := map[string]map[string]int{}
	for key, component := range a.liveComponents(live) {
		if component.Min == 0 {
			continue
		}
		selected[key] = map[string]int{}
		for _, option := range component.Options[:min(component.Min, len(component.Options))] {
			selected[key][option.ID] = option.Quantity
		}
	}
	return selected
}

// appendObjectOf appends a map as an object. Most documents have only empty ones.
func appendObjectOf[V any](dst []byte, members map[string]V) []byte {
	if len(members) == 0 {
		return append(dst, "{}"...)
	}
	return append(dst, store.Encode(members)...)
}

// appendArrayOf appends a list as an array.
func appendArrayOf[V any](dst []byte, items []V) []byte {
	if len(items) == 0 {
		return append(dst, "[]"...)
	}
	return append(dst, store.Encode(items)...)
}

// FormatBool returns a boolean as JSON.
func FormatBool(b bool) string {
	if b {
		return "true"
	}
	return "false"
}
