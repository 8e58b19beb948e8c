package publish

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"portico/store"
	"portico/store/catalog"
	"portico/store/release/segment"
)

// Difference is a resource in which two releases differ.
type Difference struct {
	Kind    ResourceKind         `json:"kind"` // product, node, hierarchy, file, attribute or catalog
	ID      string               `json:"id"`
	Name    string               `json:"name"`    // in the base language; empty for a file and a catalog
	Effect  PendingEffect        `json:"effect"`  // add, change or remove
	Members []store.MemberChange `json:"members"` // of a change
}

// DifferenceCount counts the resources of a kind that differ.
type DifferenceCount struct {
	Added   int `json:"added"`
	Changed int `json:"changed"`
	Removed int `json:"removed"`
}

func (c *DifferenceCount) add(effect PendingEffect) {
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
	return []ResourceKind{ResourceProduct, ResourceNode, ResourceHierarchy, ResourceFile, ResourceAttribute, ResourceCatalog}
}

// Total is the number of resources that differ.
func (d *Differences) Total() (n int) {
	for _, count := range d.Counts {
		n += count.Total()
	}
	return n
}

// releaseSide is one of two releases that are compared: stored, or planned.
type releaseSide interface {
	release() *segment.Release
	tree(context.Context) (*segment.Tree, error)
	// curated returns the ids of the products that come first in nodes, by node.
	curated(context.Context, []*segment.CatalogNode) (map[string][]string, error)
	// shown returns what the release shows of products, by id.
	shown(ctx context.Context, ids []string) (map[string]*shownProduct, error)
	// files returns the JSON of files, by id.
	files(ctx context.Context, ids []string) (map[string]string, error)
	attributes(context.Context) (segment.Attributes, error)
}

// comparison compares two sides. before is nil if there is nothing to compare with.
type comparison struct {
	before, now releaseSide
	products    map[string]PendingEffect // of those that differ
	fileIDs     []string                 // of files that may differ
}

// detailsAtOnce is the number of products whose members are compared at once.
const detailsAtOnce = 200

// differences lists what differs, the first most of it.
func (c *comparison) differences(ctx context.Context, most int) (*Differences, error) {
	now := c.now.release()
	d := &Differences{CatalogID: now.CatalogID, To: now.ID, Counts: map[ResourceKind]DifferenceCount{}, List: []*Difference{}}
	if c.before != nil {
		d.From = c.before.release().ID
	}
	var list []*Difference
	for id, effect := range c.products {
		list = append(list, &Difference{Kind: ResourceProduct, ID: id, Effect: effect})
	}
	for _, compare := range []func(context.Context) ([]*Difference, error){c.nodes, c.files, c.attributes, c.catalog} {
		some, err := compare(ctx)
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	kinds := DifferenceKinds()
	slices.SortFunc(list, func(a, b *Difference) int {
		return cmp.Or(cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)), cmp.Compare(a.ID, b.ID))
	})
	for _, difference := range list {
		count := d.Counts[difference.Kind]
		count.add(difference.Effect)
		d.Counts[difference.Kind] = count
	}
	d.List = append(d.List, list[:min(len(list), most)]...)
	return d, store.Chunked(d.List, detailsAtOnce, func(some []*Difference) error { return c.describeProducts(ctx, some) })
}

// describeProducts adds names and members to the products of a list.
func (c *comparison) describeProducts(ctx context.Context, list []*Difference) error {
	var ids []string
	for _, d := range list {
		if d.Kind == ResourceProduct {
			ids = append(ids, d.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var before map[string]*shownProduct
	var err error
	if c.before != nil {
		if before, err = c.before.shown(ctx, ids); err != nil {
			return err
		}
	}
	now, err := c.now.shown(ctx, ids)
	if err != nil {
		return err
	}
	for _, d := range list {
		was, is := before[d.ID], now[d.ID]
		switch {
		case d.Kind != ResourceProduct:
		case was != nil && is != nil:
			d.Name, d.Members = is.name, changedMembers(was, is)
		case is != nil:
			d.Name = is.name
		case was != nil:
			d.Name = was.name
		}
	}
	return nil
}

// described is the JSON of a resource and its name.
type described struct{ name, body string }

// differingIn lists the resources in which two sides differ.
func differingIn(kind func(id string) ResourceKind, before, now map[string]described) (list []*Difference) {
	for id, is := range now {
		was, known := before[id]
		switch {
		case !known:
			list = append(list, &Difference{Kind: kind(id), ID: id, Name: is.name, Effect: PendingAdd})
		case was.body != is.body:
			list = append(list, &Difference{Kind: kind(id), ID: id, Name: is.name, Effect: PendingChange, Members: store.ChangedMembers([]byte(was.body), []byte(is.body))})
		}
	}
	for id, was := range before {
		if _, known := now[id]; !known {
			list = append(list, &Difference{Kind: kind(id), ID: id, Name: was.name, Effect: PendingRemove})
		}
	}
	return list
}

func always(kind ResourceKind) func(string) ResourceKind {
	return func(string) ResourceKind { return kind }
}

// files lists the files that differ.
func (c *comparison) files(ctx context.Context) (list []*Difference, err error) {
	return list, store.Chunked(store.Unique(c.fileIDs), 512, func(ids []string) error {
		var found [2]map[string]described
		for i, side := range []releaseSide{c.before, c.now} {
			found[i] = map[string]described{}
			if side == nil {
				continue
			}
			texts, err := side.files(ctx, ids)
			if err != nil {
				return err
			}
			for id, text := range texts {
				found[i][id] = described{body: text}
			}
		}
		list = append(list, differingIn(always(ResourceFile), found[0], found[1])...)
		return nil
	})
}

// attributes lists the declarations of attributes that differ.
func (c *comparison) attributes(ctx context.Context) ([]*Difference, error) {
	var found [2]map[string]described
	for i, side := range []releaseSide{c.before, c.now} {
		found[i] = map[string]described{}
		if side == nil {
			continue
		}
		declared, err := side.attributes(ctx)
		if err != nil {
			return nil, err
		}
		for position, a := range declared {
			found[i][a.ID] = described{a.Attributes.Label, string(store.Encode(struct {
				*catalog.AttributeSource
				Position int `json:"position"`
			}{a, position}))}
		}
	}
	return differingIn(always(ResourceAttribute), found[0], found[1]), nil
}

// catalog returns what differs in the releases as a whole: the base language, and the format in which they are stored.
func (c *comparison) catalog(context.Context) ([]*Difference, error) {
	if c.before == nil {
		return nil, nil
	}
	text := func(r *segment.Release) described {
		return described{body: string(store.Encode(struct {
			Locale string `json:"locale"`
			Format int    `json:"format"`
		}{r.Locale, r.Format}))}
	}
	id := c.now.release().CatalogID
	return differingIn(always(ResourceCatalog), map[string]described{id: text(c.before.release())}, map[string]described{id: text(c.now.release())}), nil
}

// shownNode is what a release shows of a node.
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

	Translations map[string]catalog.NodeText `json:"translations,omitempty"`
}

// nodes lists the nodes and hierarchies that differ.
func (c *comparison) nodes(ctx context.Context) ([]*Difference, error) {
	var found [2]map[string]described
	kinds := map[string]ResourceKind{}
	for i, side := range []releaseSide{c.before, c.now} {
		found[i] = map[string]described{}
		if side == nil {
			continue
		}
		tree, err := side.tree(ctx)
		if err != nil {
			return nil, err
		}
		curated, err := side.curated(ctx, tree.Nodes)
		if err != nil {
			return nil, err
		}
		for _, n := range tree.Nodes {
			kinds[n.ID] = ResourceNode
			if n.Kind == segment.KindHierarchy {
				kinds[n.ID] = ResourceHierarchy
			}
			found[i][n.ID] = described{n.Name, string(store.Encode(shownNode{n.Name, n.Slug, n.Description, n.HierarchyID, n.ParentID, slices.Concat([]string{}, n.Ancestors),
				n.HasChildren(), n.SEO, store.FormatTime(n.CreatedAt), store.FormatTime(n.UpdatedAt), slices.Concat([]string{}, curated[n.ID]), n.Texts}))}
		}
	}
	return differingIn(func(id string) ResourceKind { return kinds[id] }, found[0], found[1]), nil
}

// sortedIDs returns the ids of a set in order.
func sortedIDs[T any](set map[string]T) []string { return slices.Sorted(maps.Keys(set)) }
