package catalog

import (
	"cmp"
	"strconv"

	"portico/store"
	"portico/store/authoring"
)

// hierarchySource is a hierarchy in an import file.
type hierarchySource struct {
	Type       string         `json:"type"`
	ID         string         `json:"id"`
	Attributes nodeAttributes `json:"attributes"`
}

// NodeSource is a node in an import file. Its products are in order of attachment, the
// newest last.
type NodeSource struct {
	Type          string            `json:"type"`
	ID            string            `json:"id"`
	Attributes    nodeAttributes    `json:"attributes"`
	Relationships nodeRelationships `json:"relationships"`
}

type nodeAttributes struct {
	Name            string   `json:"name"`
	Slug            string   `json:"slug,omitempty"`
	Description     string   `json:"description,omitempty"`
	Position        *int     `json:"position,omitempty"`
	CuratedProducts []string `json:"curated_products,omitempty"`
	SEO             *SEOText `json:"seo,omitempty"`

	Locales map[string]LocaleText `json:"locales,omitempty"` // by BCP 47 tag

	CustomAttributes CustomAttributes `json:"custom_attributes,omitempty"`

	CreatedAt string `json:"created_at,omitempty"` // RFC 3339, UTC; SetTimes sets what is absent
	UpdatedAt string `json:"updated_at,omitempty"` // likewise
}

type nodeRelationships struct {
	Hierarchy *authoring.LinkSource  `json:"hierarchy,omitempty"`
	Parent    *authoring.LinkSource  `json:"parent,omitempty"`
	MainImage *authoring.LinkSource  `json:"main_image,omitempty"`
	Products  *authoring.LinksSource `json:"products,omitempty"`
}

// parentID is the node above the node, or its hierarchy.
func (n *NodeSource) parentID() string {
	return cmp.Or(n.Relationships.Parent.ID(), n.Relationships.Hierarchy.ID())
}

// MaxCurated is the most curated products of a node, and MaxPosition the highest position.
const (
	MaxCurated  = 20
	MaxPosition = 1_000_000
)

// orderOf returns what a position is sorted by: nodes without one are last.
func orderOf(position *int) int {
	if position == nil {
		return MaxPosition + 1
	}
	return *position
}

func (h *hierarchySource) Key() string { return h.ID }

func (h *hierarchySource) Check(f *authoring.Validator) {
	f.ID("id", &h.ID)
	h.Attributes.check(f)
	if len(h.Attributes.CuratedProducts) > 0 {
		f.Add("attributes.curated_products", "are only allowed on nodes")
	}
	if h.Attributes.Position != nil {
		f.Add("attributes.position", "is only allowed on nodes")
	}
	if len(h.Attributes.CustomAttributes) > 0 {
		f.Add("attributes.custom_attributes", "are only allowed on nodes")
	}
}

// Keys records that a redirect may lead to the hierarchy.
func (h *hierarchySource) Keys(k authoring.KeyRecorder) { k.Define(authoring.KeyTarget, h.ID, "id") }

func (n *NodeSource) Key() string { return n.ID }

func (n *NodeSource) Check(f *authoring.Validator) {
	f.ID("id", &n.ID)
	n.Attributes.check(f)
	if position := n.Attributes.Position; position != nil {
		f.Between("attributes.position", *position, 0, MaxPosition)
	}
	n.Attributes.CustomAttributes.check(f, maxNodeAttributes)
	r := &n.Relationships
	if r.Hierarchy == nil || r.Hierarchy.Data == nil {
		f.Rule("relationships.hierarchy", "is required")
	} else {
		f.LinkType("relationships.hierarchy.data.type", r.Hierarchy.Data.Type, "hierarchy")
		f.Refers("relationships.hierarchy.data.id", "hierarchy", &r.Hierarchy.Data.ID)
	}
	if r.Parent != nil && r.Parent.Data != nil {
		f.LinkType("relationships.parent.data.type", r.Parent.Data.Type, "node")
		f.Refers("relationships.parent.data.id", "node", &r.Parent.Data.ID)
	}
	f.Link("relationships.main_image", r.MainImage, "file")
	f.Links("relationships.products", r.Products, "product")
	attached := make(map[string]bool, len(n.productIDs()))
	if r.Products != nil {
		for i, product := range r.Products.Data {
			if attached[product.ID] && product.ID != "" {
				f.Warn("relationships.products.data."+strconv.Itoa(i)+".id", "is in the list twice: %q", store.Abbreviate(product.ID))
			}
			attached[product.ID] = true
		}
	}
	for i, id := range n.Attributes.CuratedProducts {
		if !attached[id] {
			f.Warn("attributes.curated_products."+strconv.Itoa(i), "is not among relationships.products, so the node does not show it: %q", store.Abbreviate(id))
		}
	}
}

// Keys records the products and the main image of the node, and its slug, which no other node of the hierarchy has.
func (n *NodeSource) Keys(k authoring.KeyRecorder) {
	k.Define(authoring.KeyTarget, n.ID, "id")
	if n.Attributes.Slug != "" {
		k.Define(authoring.KeyNodeSlug, n.Relationships.Hierarchy.ID()+" "+n.Attributes.Slug, "attributes.slug")
	}
	if image := n.Relationships.MainImage.ID(); image != "" {
		k.Use(authoring.KeyFile, image, "relationships.main_image.data.id", 0)
	}
	if n.Relationships.Products != nil {
		for i, product := range n.Relationships.Products.Data {
			k.Use(authoring.KeyProduct, product.ID, "relationships.products.data.*.id", i)
		}
	}
}

func (a *nodeAttributes) check(f *authoring.Validator) {
	f.Time("attributes.created_at", &a.CreatedAt)
	f.Time("attributes.updated_at", &a.UpdatedAt)
	f.Required("attributes.name", a.Name, authoring.MaxName)
	warnOfMarkup(f, "attributes.name", a.Name)
	f.Text("attributes.slug", a.Slug, authoring.MaxName)
	warnOfSlug(f, "attributes.slug", a.Slug)
	f.Text("attributes.description", a.Description, authoring.MaxDescription)
	checkSEO(f, "attributes.seo", &a.SEO)
	checkLocales(f, "attributes.locales", a.Locales)
	f.IDs("attributes.curated_products", a.CuratedProducts)
	if len(a.CuratedProducts) > MaxCurated {
		f.Rule("attributes.curated_products", "must have at most %d products, got %d", MaxCurated, len(a.CuratedProducts))
	}
}

// FileIDs returns the files of the node.
func (n *NodeSource) FileIDs() []string {
	if image := n.Relationships.MainImage.ID(); image != "" {
		return []string{image}
	}
	return nil
}

// OwnAttributes returns the node's values of attributes of the merchant's own.
func (n *NodeSource) OwnAttributes() CustomAttributes { return n.Attributes.CustomAttributes }

func (n *NodeSource) productIDs() []string {
	if n.Relationships.Products == nil {
		return nil
	}
	ids := make([]string, len(n.Relationships.Products.Data))
	for i, ref := range n.Relationships.Products.Data {
		ids[i] = ref.ID
	}
	return store.Unique(ids)
}

// NodeText is what a node shows in one language.
type NodeText struct {
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	SEO         SEOText `json:"seo,omitzero"`
}

// Text returns what the node shows in the base language.
func (a *nodeAttributes) Text() NodeText {
	return NodeText{Name: a.Name, Description: a.Description, SEO: a.SEO.orEmpty()}
}

// Texts returns what the node shows in other languages, by BCP 47 tag; nil for none.
func (a *nodeAttributes) Texts() map[string]NodeText {
	if len(a.Locales) == 0 {
		return nil
	}
	base, texts := a.Text(), make(map[string]NodeText, len(a.Locales))
	for tag, text := range a.Locales {
		texts[tag] = NodeText{cmp.Or(text.Name, base.Name), cmp.Or(text.Description, base.Description), text.seo(base.SEO)}
	}
	return texts
}
