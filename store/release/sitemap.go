package release

import (
	"context"
	"time"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/release/segment"
)

// MaxSitemapPage is the largest number of rows of a page of the sitemap.
const MaxSitemapPage = 1000

// SitemapKind is what a path leads to.
type SitemapKind string

// The kinds.
const (
	SitemapNode    SitemapKind = "node"
	SitemapProduct SitemapKind = "product"
)

// SitemapEntry is a page of a storefront.
type SitemapEntry struct {
	Kind        SitemapKind
	ID          string
	Path        string
	PublishedAt time.Time // when the catalog first showed this version
}

// SitemapPage is a part of the sitemap. Next is the cursor of the next part; empty for the last one.
type SitemapPage struct {
	Entries []*SitemapEntry
	Next    string
}

// EndCursor is the cursor of the next part; nil for the last one.
func (p *SitemapPage) EndCursor() *string { return store.NonEmpty(p.Next) }

// stepsOfEntry are the steps of an entry of the sitemap: it joins the slugs of a path.
const stepsOfEntry = 256

// sitemapNodes identifies the nodes of the sitemap in cursors. Those of its products are of the list of products.
var sitemapNodes = store.NewListID(cachekey.New("sitemap"))

// Sitemap lists the paths of all nodes, then of the products that a node lists, each by its first node. It reads
// most rows from a cursor on; rows without a path are left out. Its cost does not depend on the position, and it charges each row to
// the allowance of the context.
func (v *View) Sitemap(ctx context.Context, most int, after *string) (*SitemapPage, error) {
	tree, err := v.Tree(ctx)
	if err != nil {
		return nil, err
	}
	page := &SitemapPage{Entries: []*SitemapEntry{}}
	place := 0
	cursors, err := v.service.db.CursorKey(ctx)
	if err != nil {
		return nil, err
	}
	if after != nil { // then place is behind the nodes, unless it is a cursor of these
		c, err := cursors.Parse(*after, store.ListID{}, "after")
		if err != nil {
			return nil, err
		}
		if place = len(tree.Nodes); c.List == sitemapNodes {
			place, after = min(c.Position, place), nil
		}
	}
	nodes := tree.Nodes[place:min(place+most, len(tree.Nodes))]
	if err := store.ChargeSteps(ctx, stepsOfEntry*len(nodes)); err != nil {
		return nil, err
	}
	for _, node := range nodes {
		if path := NodePath(node, tree.ByID); path != "" {
			page.Entries = append(page.Entries, &SitemapEntry{SitemapNode, node.ID, path, node.PublishedAt})
		}
	}
	most -= len(nodes)
	if most == 0 { // perhaps without further rows: the next part is empty then
		page.Next = cursors.Sign(store.Cursor{List: sitemapNodes, Position: place + len(nodes)})
		return page, nil
	}
	for more := true; more && most > 0; {
		first := min(most, store.MaxPageLength)
		slice, err := v.Products(ctx, ProductQuery{Sort: store.Sort{By: store.SortID}, Page: store.Page{First: &first, After: after}})
		if err == nil {
			err = store.ChargeSteps(ctx, stepsOfEntry*len(slice.Items))
		}
		if err != nil {
			return nil, err
		}
		for _, product := range slice.Items {
			if path := productPath(product, tree); path != "" {
				page.Entries = append(page.Entries, &SitemapEntry{SitemapProduct, product.ID(), path, product.PublishedAt()})
			}
		}
		if page.Next, more = "", slice.HasNext; more {
			page.Next = slice.Cursor(len(slice.Items) - 1)
			after = &page.Next
		}
		most -= len(slice.Items)
	}
	return page, nil
}

// productPath returns the path of a product by its first node; empty if that has none, or the product no slug.
func productPath(product *Product, tree *segment.Tree) string {
	nodes := product.NodeIDs()
	if len(nodes) == 0 || tree.ByID[nodes[0]] == nil {
		return ""
	}
	if path := NodePath(tree.ByID[nodes[0]], tree.ByID); path != "" && product.Slug() != "" {
		return path + "/" + product.Slug()
	}
	return ""
}
