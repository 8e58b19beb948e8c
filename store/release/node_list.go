package release

import (
	"cmp"
	"context"
	"slices"

	"portico/store"
)

// NodeFilter narrows a list of nodes; the zero value keeps all of a catalog.
// Conditions given together must all hold.
type NodeFilter struct {
	Kind        NodeKind      // hierarchies or nodes only
	IDs         []string      // these nodes, which come by last update, newest first
	ParentID    string        // the children of this node or hierarchy
	HierarchyID string        // all nodes of this hierarchy, however deep
	Terms       []store.Term  // on the attributes of NodeFilterAttributes but id
	Ranges      []store.Range // on id or updated_at
}

// NodeFilterAttributes are what nodes and hierarchies can be filtered by.
func NodeFilterAttributes() []string { return []string{"id", "name", "slug"} }

// NewNodeTerm checks a term as NewTerm does.
func NewNodeTerm(attribute, operator string, values []string) (store.Term, error) {
	return store.NewTerm(NodeFilterAttributes(), attribute, operator, values)
}

// NodeQuery asks for a page of nodes.
type NodeQuery struct {
	Filter NodeFilter
	Sort   store.Sort // by id, name or updated_at; the default is by name, or by last update where the filter names ids
	Page   store.Page
}

func (q NodeQuery) check() error {
	if n := len(q.Filter.Terms) + len(q.Filter.Ranges); n > store.MaxFilterTerms {
		return store.Invalidf([]string{"filter"}, "joins %d conditions; at most %d can be joined", n, store.MaxFilterTerms)
	}
	for _, r := range q.Filter.Ranges {
		if r.Attribute == store.SortCreatedAt {
			return store.Invalidf([]string{"filter"}, "compares created_at, which released nodes have none of; compare id or updated_at")
		}
		if err := r.Check(); err != nil {
			return err
		}
	}
	if !slices.Contains([]store.SortBy{store.SortDefault, store.SortID, store.SortName, store.SortUpdatedAt}, q.Sort.By) {
		return store.Invalidf([]string{"sort"}, "must be id, name or updated_at, got %s", q.Sort.By)
	}
	return nil
}

// among are the nodes that the filter's ids and parent name: looked up one by
// one, so that the time does not grow by ids times nodes. They are in the
// order of the tree, but for those named by ids.
func (f NodeFilter) among(t *Tree) []*CatalogNode {
	switch {
	case f.IDs != nil:
		nodes := make([]*CatalogNode, 0, len(f.IDs))
		for _, id := range store.Unique(f.IDs) {
			if node := t.ByID[id]; node != nil && (f.ParentID == "" || node.ParentID == f.ParentID) {
				nodes = append(nodes, node)
			}
		}
		return nodes
	case f.ParentID != "":
		return slices.Clone(t.ByID[f.ParentID].children)
	}
	return slices.Clone(t.Nodes)
}

// keeps tells whether one of those is in the list.
func (f NodeFilter) keeps(n *CatalogNode) bool {
	if f.Kind != "" && n.Kind != f.Kind || f.HierarchyID != "" && n.HierarchyID != f.HierarchyID {
		return false
	}
	for _, term := range f.Terms {
		text := map[string]string{"name": n.Name, "slug": n.Slug}[term.Attribute]
		if !slices.Contains(term.Values, text) {
			return false
		}
	}
	return !slices.ContainsFunc(f.Ranges, func(r store.Range) bool { return !n.within(r) })
}

func (n *CatalogNode) within(r store.Range) bool {
	order := n.UpdatedAt.Compare(r.Time)
	if r.Attribute == store.SortID {
		order = cmp.Compare(n.ID, r.ID)
	}
	switch r.Operator {
	case "gt":
		return order > 0
	case "ge":
		return order >= 0
	case "lt":
		return order < 0
	}
	return order <= 0
}

// sort puts nodes into the query's order; they are by name already, unless
// the filter names them by their ids.
func (q NodeQuery) sort(nodes []*CatalogNode) {
	switch {
	case q.Sort.By == store.SortDefault && q.Filter.IDs != nil:
		slices.SortFunc(nodes, func(a, b *CatalogNode) int {
			return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(a.ID, b.ID))
		})
	case q.Sort.By == store.SortName && q.Filter.IDs != nil:
		slices.SortFunc(nodes, func(a, b *CatalogNode) int { return cmp.Compare(a.Place, b.Place) })
	case q.Sort.By == store.SortID:
		slices.SortFunc(nodes, func(a, b *CatalogNode) int { return cmp.Compare(a.ID, b.ID) })
	case q.Sort.By == store.SortUpdatedAt:
		slices.SortFunc(nodes, func(a, b *CatalogNode) int {
			return cmp.Or(a.UpdatedAt.Compare(b.UpdatedAt), cmp.Compare(a.ID, b.ID))
		})
	}
	if q.Sort.Descending {
		slices.Reverse(nodes)
	}
}

// name tells the list apart from others.
func (q NodeQuery) name() string {
	f := q.Filter
	parts := append([]string{"nodes", string(f.Kind), f.ParentID, f.HierarchyID, q.Sort.String()}, store.RangeNames(f.Ranges)...)
	for _, term := range f.Terms {
		parts = append(parts, term.String())
	}
	return store.ListName(append(parts, f.IDs...)...)
}

// listedNodeWork is what filtering and sorting costs for each node of a list,
// in bytes of an Allowance.
const listedNodeWork = 16

// Nodes lists the catalog's nodes, without hierarchies unless the filter asks
// for them, or names them by their ids, as those who follow breadcrumbs do.
// NOT_FOUND for an unknown parent or hierarchy; INVALID to sort or bound by
// created_at, which a release does not hold of nodes.
func (v *View) Nodes(ctx context.Context, query NodeQuery) (*store.Slice[*CatalogNode], error) {
	if err := query.check(); err != nil {
		return nil, err
	}
	v, err := v.follow(ctx, query.Page)
	if err != nil {
		return nil, err
	}
	t, err := v.Tree(ctx)
	if err != nil {
		return nil, err
	}
	filter := &query.Filter
	if filter.ParentID != "" && t.ByID[filter.ParentID] == nil {
		return nil, noNode(filter.ParentID)
	}
	if root := t.ByID[filter.HierarchyID]; filter.HierarchyID != "" && (root == nil || root.Kind != KindHierarchy) {
		return nil, noNode(filter.HierarchyID)
	}
	if filter.Kind == "" && filter.IDs == nil {
		filter.Kind = KindNode
	}
	nodes := filter.among(t)
	if err := store.Charge(ctx, listedNodeWork*len(nodes)); err != nil {
		return nil, err
	}
	nodes = slices.DeleteFunc(nodes, func(n *CatalogNode) bool { return !filter.keeps(n) })
	query.sort(nodes)
	return positioned(v, store.Cursor{List: query.name()}, query.Page, len(nodes), func(start, end int) ([]*CatalogNode, error) {
		return nodes[start:end], nil
	})
}
