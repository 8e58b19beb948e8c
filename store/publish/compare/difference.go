package compare

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"portico/store"
	"portico/store/catalog"
	"portico/store/release/segment"
)

// Difference is a resource in which two releases differ.
type Difference struct {
	Kind    ResourceKind         `json:"kind"` // one of DifferenceKinds
	ID      string               `json:"id"`
	Name    string               `json:"name"`    // in the base language, the terms of a synonym, the path of a redirect; empty for a file and a catalog
	Effect  PendingEffect        `json:"effect"`  // add, change or remove
	Members []store.MemberChange `json:"members"` // of a change
}

// DifferenceCount counts the resources of a kind that differ.
type DifferenceCount struct {
	Added   int `json:"added"`
	Changed int `json:"changed"`
	Removed int `json:"removed"`
}

// Add counts one resource.
func (c *DifferenceCount) Add(effect PendingEffect) {
	switch effect {
	case PendingAdd:
		c.Added++
	case PendingChange:
		c.Changed++
	case PendingRemove:
		c.Removed++
	}
}

// Total is the sum of the counts.
func (c DifferenceCount) Total() int { return c.Added + c.Changed + c.Removed }

// Differences is what differs between two releases of a catalog, or between the served release and what the next
// publication makes.
type Differences struct {
	CatalogID string
	From      int64 // number of the earlier release; 0 if the catalog serves none
	To        int64 // number of the later one; 0 for the next publication
	Counts    map[ResourceKind]DifferenceCount
	List      []*Difference // by kind in the order of DifferenceKinds, then id; at most as many as asked for
}

// DifferenceKinds lists the kinds of a Difference in the order of lists.
func DifferenceKinds() []ResourceKind {
	return []ResourceKind{ResourceProduct, ResourceNode, ResourceHierarchy, ResourceFile, ResourceAttribute, ResourceSynonym, ResourceRedirect, ResourceCatalog}
}

// Total is the number of resources that differ.
func (d *Differences) Total() (n int) {
	for _, count := range d.Counts {
		n += count.Total()
	}
	return n
}

// detailsAtOnce is the number of products whose members are compared at once.
const detailsAtOnce = 200

// Differences lists what differs, the first most of it.
func (c *Comparison) Differences(ctx context.Context, most int) (*Differences, error) {
	now := c.Now.Release()
	d := &Differences{CatalogID: now.CatalogID, To: now.ID, Counts: map[ResourceKind]DifferenceCount{}, List: []*Difference{}}
	if c.Before != nil {
		d.From = c.Before.Release().ID
	}
	var list []*Difference
	for _, product := range c.Products {
		list = append(list, &Difference{Kind: ResourceProduct, ID: product.ID, Effect: product.Effect})
	}
	for _, find := range []func(context.Context) ([]resourceChange[described], error){c.describedNodes, c.ChangedFiles, c.ChangedAttributes, c.ChangedSynonyms, c.ChangedRedirects, c.changedCatalog} {
		changes, err := find(ctx)
		if err != nil {
			return nil, err
		}
		for _, change := range changes {
			list = append(list, differenceOf(change))
		}
	}
	kinds := DifferenceKinds()
	slices.SortFunc(list, func(a, b *Difference) int {
		return cmp.Or(cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)), cmp.Compare(a.ID, b.ID))
	})
	for _, difference := range list {
		count := d.Counts[difference.Kind]
		count.Add(difference.Effect)
		d.Counts[difference.Kind] = count
	}
	d.List = append(d.List, list[:min(len(list), most)]...)
	return d, store.Chunked(d.List, detailsAtOnce, func(some []*Difference) error { return c.describeProducts(ctx, some) })
}

// describeProducts adds names and members to the products of a list.
func (c *Comparison) describeProducts(ctx context.Context, list []*Difference) error {
	products := map[string]*Difference{}
	for _, d := range list {
		if d.Kind == ResourceProduct {
			products[d.ID] = d
		}
	}
	if len(products) == 0 {
		return nil
	}
	ids := SortedIDs(products)
	changes, err := ChangesOf(c, func(side Side) (map[string]*ShownProduct, error) { return side.Shown(ctx, ids) }, nil)
	for _, change := range changes {
		d := products[change.ID]
		switch change.Effect {
		case PendingAdd:
			d.Name = change.Is.name
		case PendingChange:
			d.Name, d.Members = change.Is.name, changedMembers(change.Was, change.Is)
		case PendingRemove:
			d.Name = change.Was.name
		}
	}
	return err
}

// differenceOf describes a change.
func differenceOf(c resourceChange[described]) *Difference {
	shown := c.Is
	if c.Effect == PendingRemove {
		shown = c.Was
	}
	d := &Difference{Kind: shown.kind, ID: c.ID, Name: shown.name, Effect: c.Effect}
	if c.Effect == PendingChange {
		d.Members = store.ChangedMembers([]byte(c.Was.body), []byte(c.Is.body))
		if d.Kind == ResourceNode || d.Kind == ResourceHierarchy {
			for i := range d.Members {
				d.Members[i].Path, _ = nodeMembers.Apply(d.Members[i].Path)
			}
		}
	}
	return d
}

// changedCatalog returns what differs in the releases as a whole: the base language, and the format in which they are stored.
func (c *Comparison) changedCatalog(context.Context) ([]resourceChange[described], error) {
	if c.Before == nil {
		return nil, nil
	}
	return ChangesOf(c, func(side Side) (map[string]described, error) {
		r := side.Release()
		return map[string]described{r.CatalogID: {ResourceCatalog, "", string(store.Encode(struct {
			Locale string `json:"locale"`
			Format int    `json:"format"`
		}{r.Locale, r.Format}))}}, nil
	}, sameBody)
}

// shownNode is what a release shows of a node, as JSON whose members are compared.
type shownNode struct {
	Name        string          `json:"name"`
	Slug        string          `json:"slug"`
	Description string          `json:"description"`
	HierarchyID string          `json:"hierarchy_id"`
	ParentID    string          `json:"parent_id"`
	Ancestors   []string        `json:"ancestors"`
	HasChildren bool            `json:"has_children"`
	SEO         catalog.SEOText `json:"seo"`
	CreatedAt   string          `json:"created_at"`
	UpdatedAt   string          `json:"updated_at"`
	Curated     []string        `json:"curated_products"`
	Position    *int            `json:"position,omitempty"`
	MainImageID string          `json:"main_image_id,omitempty"`
	Custom      json.RawMessage `json:"custom_attributes,omitempty"`

	Translations map[string]catalog.NodeText `json:"translations,omitempty"`
}

// nodeMembers are the members of a shownNode as a line of an import has them.
var nodeMembers = store.PathRenames{
	{"hierarchy_id", "relationships.hierarchy.data.id"}, {"parent_id", "relationships.parent.data.id"}, {"main_image_id", "relationships.main_image.data.id"},
	{"ancestors", "ancestors"}, {"has_children", "has_children"}, {"translations", "attributes.locales"}, {"*", "attributes.*"},
}

// describedNodes returns the nodes and hierarchies of which a member differs.
func (c *Comparison) describedNodes(ctx context.Context) ([]resourceChange[described], error) {
	return ChangesOf(c, func(side Side) (map[string]described, error) {
		tree, err := side.Tree(ctx)
		if err != nil {
			return nil, err
		}
		curated, err := side.Curated(ctx, tree.Nodes)
		found := make(map[string]described, len(tree.Nodes))
		for _, n := range tree.Nodes {
			kind := ResourceNode
			if n.Kind == segment.KindHierarchy {
				kind = ResourceHierarchy
			}
			found[n.ID] = described{kind, n.Name, string(store.Encode(shownNode{n.Name, n.Slug, n.Description, n.HierarchyID, n.ParentID, slices.Concat([]string{}, n.Ancestors),
				n.HasChildren(), n.SEO, store.FormatTime(n.CreatedAt), store.FormatTime(n.UpdatedAt), slices.Concat([]string{}, curated[n.ID]), n.Position, n.MainImageID, json.RawMessage(n.Attributes), n.Texts}))}
		}
		return found, err
	}, sameBody)
}
