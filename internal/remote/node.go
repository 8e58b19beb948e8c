package remote

import (
	"context"
	"net/url"
	"slices"

	"portico/store"
	"portico/store/catalog"
)

// nodeAttributes are the attributes of a node or hierarchy, as the server sends them and as the import format has them.
type nodeAttributes struct {
	Name            string   `json:"name"`
	Slug            string   `json:"slug,omitempty"`
	Description     string   `json:"description,omitempty"`
	CuratedProducts []string `json:"curated_products,omitempty"`

	Locales map[string]catalog.LocaleText `json:"locales,omitempty"`

	CreatedAt string `json:"created_at,omitempty"`
	UpdatedAt string `json:"updated_at,omitempty"`
}

type nodeLinks struct {
	Hierarchy *refLink  `json:"hierarchy,omitempty"`
	Parent    *refLink  `json:"parent,omitempty"`
	Products  *refLinks `json:"products,omitempty"`
}

// maxCurated is how many curated products a node can have here.
const maxCurated = 20

// fetchNodes writes the nodes of all hierarchies, each with its products.
func (f *fetcher) fetchNodes(ctx context.Context) error {
	if err := f.loadKnown(); err != nil {
		return err
	}
	known, err := f.folder.ids("nodes")
	if err != nil {
		return err
	}
	s := &f.folder.state.Shop
	for _, hierarchy := range s.Hierarchies {
		if !store.IsID(hierarchy) {
			continue // the import says so
		}
		l := resourceList{path: "/catalog/hierarchies/" + url.PathEscape(hierarchy) + "/nodes", language: s.Language}
		err := f.each(ctx, "nodes of "+hierarchy, "nodes", l, func(p *page) error {
			locales, err := f.translations(ctx, "/catalog/nodes", p.Data)
			if err != nil {
				return err
			}
			for _, raw := range p.Data {
				var node importLine[nodeAttributes, nodeLinks]
				if err := decodeRow("node", raw, &node); err != nil {
					return err
				}
				if known[node.ID] {
					continue
				}
				known[node.ID], node.Attributes.Locales = true, locales[node.ID]
				if err := f.writeNode(ctx, hierarchy, &node); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// writeNode changes a node to the import format and writes it with its products. It leaves out curated products beyond
// maxCurated, and counts them.
func (f *fetcher) writeNode(ctx context.Context, hierarchy string, node *importLine[nodeAttributes, nodeLinks]) error {
	node.Type, node.Attributes.CreatedAt, node.Attributes.UpdatedAt = "node", utc(node.Attributes.CreatedAt), utc(node.Attributes.UpdatedAt)
	r := &node.Relationships
	r.Parent = linkTo("node", r.Parent.id())
	if r.Parent.id() == hierarchy { // storefronts read the hierarchy as a node
		r.Parent = nil
	}
	r.Hierarchy, r.Products = linkTo("hierarchy", hierarchy), nil
	if curated := &node.Attributes.CuratedProducts; len(*curated) > maxCurated {
		f.folder.state.Counts["curated products"] += len(*curated) - maxCurated
		*curated = (*curated)[:maxCurated]
	}
	if store.IsID(node.ID) {
		attached, err := f.nodeProducts(ctx, node.ID)
		if err != nil {
			return err
		}
		if len(attached) > 0 {
			r.Products = &refLinks{attached}
		}
	}
	return f.folder.write("nodes", node)
}

// nodeProducts returns the products that are attached to a node, the oldest attachment first. If the list of all products was
// too long, it also writes those of them that the list left out.
func (f *fetcher) nodeProducts(ctx context.Context, id string) (attached []ref, err error) {
	s := &f.folder.state.Shop
	l := resourceList{path: "/catalog/nodes/" + url.PathEscape(id) + "/relationships/products", language: s.Language, currency: s.Currency}
	incomplete := f.folder.state.Counts["cut.products"] > 0
	if incomplete {
		l.params = productParams
	}
	seen := map[string]bool{}
	err = f.walk(ctx, l, l.first(), func(p *page) error {
		for _, raw := range p.Data {
			if product := idOf(raw); !seen[product] {
				seen[product], attached = true, append(attached, ref{"product", product})
			}
		}
		f.folder.state.Counts["cut.products of nodes"] += p.left
		if incomplete {
			return f.writeFound(ctx, p)
		}
		return nil
	})
	slices.Reverse(attached) // the server sends the newest first
	return attached, err
}

// writeFound writes the products of a page that are not known yet, and their children. It takes them off the count of products
// that are left out.
func (f *fetcher) writeFound(ctx context.Context, p *page) error {
	var parents []string
	for _, raw := range p.Data {
		var product wireProduct
		if err := decodeRow("product", raw, &product); err != nil {
			return err
		}
		if product.Attributes.BaseProduct && !f.products[product.ID] && store.IsID(product.ID) {
			parents = append(parents, product.ID)
		}
	}
	before := len(f.products)
	if err := f.writeProducts(ctx, p); err != nil {
		return err
	}
	s := &f.folder.state.Shop
	for _, id := range parents {
		l := resourceList{path: "/catalog/products/" + url.PathEscape(id) + "/relationships/children", params: productParams, language: s.Language, currency: s.Currency}
		if err := f.walk(ctx, l, l.first(), func(children *page) error { return f.writeProducts(ctx, children) }); err != nil {
			return err
		}
	}
	f.folder.state.Counts["cut.products"] = max(0, f.folder.state.Counts["cut.products"]-(len(f.products)-before))
	return nil
}
