package shop

import "portico/store"

// hierarchySource is a tree of nodes, as authored.
type hierarchySource struct {
	Type       string         `json:"type"`
	ID         string         `json:"id"`
	Attributes nodeAttributes `json:"attributes"`
}

// nodeSource is a node of a hierarchy, as authored: attached products are in
// order of attachment, the newest last.
type nodeSource struct {
	Type          string            `json:"type"`
	ID            string            `json:"id"`
	Attributes    nodeAttributes    `json:"attributes"`
	Relationships nodeRelationships `json:"relationships"`
}

type nodeAttributes struct {
	Name            string   `json:"name"`
	Slug            string   `json:"slug,omitempty"`
	Description     string   `json:"description,omitempty"`
	CuratedProducts []string `json:"curated_products,omitempty"`
}

type nodeRelationships struct {
	Hierarchy *linkSource  `json:"hierarchy,omitempty"`
	Parent    *linkSource  `json:"parent,omitempty"`
	Products  *linksSource `json:"products,omitempty"`
}

// MaxCurated bounds the curated products of a node.
const MaxCurated = 20

func (h *hierarchySource) key() string { return h.ID }

func (h *hierarchySource) check(f *faults) {
	f.id("id", &h.ID)
	h.Attributes.check(f)
	if len(h.Attributes.CuratedProducts) > 0 {
		f.add("attributes.curated_products", "belong to nodes, not to a hierarchy")
	}
}

func (n *nodeSource) key() string { return n.ID }

func (n *nodeSource) check(f *faults) {
	f.id("id", &n.ID)
	n.Attributes.check(f)
	r := &n.Relationships
	if r.Hierarchy == nil || r.Hierarchy.Data == nil {
		f.add("relationships.hierarchy", "is required")
	} else {
		f.refers("relationships.hierarchy.data.id", "hierarchy", &r.Hierarchy.Data.ID)
	}
	if r.Parent != nil && r.Parent.Data != nil {
		f.refers("relationships.parent.data.id", "node", &r.Parent.Data.ID)
	}
	f.links("relationships.products", r.Products)
}

func (a *nodeAttributes) check(f *faults) {
	f.required("attributes.name", a.Name, maxName)
	f.text("attributes.slug", a.Slug, maxName)
	f.text("attributes.description", a.Description, maxDescription)
	f.ids("attributes.curated_products", a.CuratedProducts)
	if len(a.CuratedProducts) > MaxCurated {
		f.add("attributes.curated_products", "must be at most %d products, not %d", MaxCurated, len(a.CuratedProducts))
	}
}

func (n *nodeSource) productIDs() []string {
	if n.Relationships.Products == nil {
		return nil
	}
	ids := make([]string, len(n.Relationships.Products.Data))
	for i, ref := range n.Relationships.Products.Data {
		ids[i] = ref.ID
	}
	return store.Unique(ids)
}
