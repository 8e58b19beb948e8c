package release

import (
	"cmp"
	"context"
	"slices"

	"portico/internal/cachekey"
	"portico/internal/dependency"
	"portico/store"
	"portico/store/release/segment"
)

// NodeFilter selects nodes that meet all conditions. The zero value selects all.
type NodeFilter struct {
	Kind        segment.NodeKind // hierarchies or nodes only
	IDs         []string         // these nodes, which are listed by last update, newest first
	ParentID    string           // children of this node or hierarchy
	HierarchyID string           // nodes of this hierarchy at any depth
	Terms       []store.Term     // on the attributes of NodeFilterAttributes but id
	Ranges      []store.Range    // on id, created_at or updated_at
}

// NodeFilterAttributes returns the attributes that nodes can be filtered by.
func NodeFilterAttributes() []string { return []string{"id", "name", "slug"} }

// NewNodeTerm is NewTerm for nodes.
func NewNodeTerm(attribute, operator string, values []string) (store.Term, error) {
	return store.NewTerm(NodeFilterAttributes(), attribute, operator, values)
}

// NodeQuery requests a page of nodes.
type NodeQuery struct {
	Filter NodeFilter
	Sort   store.Sort // by position, id, name, created_at or updated_at; the default is by position, name and id, or by last update if the filter has ids
	Page   store.Page
}

// check returns the INVALID errors of Nodes.
func (q NodeQuery) check() error {
	if n := len(q.Filter.Terms) + len(q.Filter.Ranges); n > store.MaxFilterTerms {
		return store.Invalidf([]string{"filter"}, "must have at most %d conditions, got %d", store.MaxFilterTerms, n)
	}
	for _, r := range q.Filter.Ranges {
		if err := r.Check(); err != nil {
			return err
		}
	}
	if !slices.Contains([]store.SortBy{store.SortDefault, store.SortPosition, store.SortID, store.SortName, store.SortCreatedAt, store.SortUpdatedAt}, q.Sort.By) {
		return store.Invalidf([]string{"sort"}, "must be position, id, name, created_at or updated_at, got %s", q.Sort.By)
	}
	return nil
}

// record records which nodes the filter reads.
func (f NodeFilter) record(reads *dependency.Recorder) {
	if f.ParentID != "" {
		reads.Add(segment.NodeKey(f.ParentID))
		reads.Add(segment.ChildrenKey(f.ParentID))
	}
	for _, id := range f.IDs {
		reads.Add(segment.NodeKey(id))
	}
	if f.ParentID == "" && f.IDs == nil {
		reads.Add(segment.AnyNode)
	}
	if f.HierarchyID != "" {
		reads.Add(segment.NodeKey(f.HierarchyID))
	}
}

// among returns the nodes with the filter's ids and parent. They are in the order
// of Tree.Listed, unless the filter has ids. The time is linear in the ids.
func (f NodeFilter) among(t *segment.Tree) []*segment.CatalogNode {
	switch {
	case f.IDs != nil:
		nodes := make([]*segment.CatalogNode, 0, len(f.IDs))
		for _, id := range store.Unique(f.IDs) {
			if node := t.ByID[id]; node != nil && (f.ParentID == "" || node.ParentID == f.ParentID) {
				nodes = append(nodes, node)
			}
		}
		return nodes
	case f.ParentID != "":
		return t.Children(f.ParentID)
	}
	return slices.Clone(t.Listed)
}

// keeps reports whether a node meets the other conditions, which compare the base text.
func (f NodeFilter) keeps(n *segment.CatalogNode) bool {
	if f.Kind != "" && n.Kind != f.Kind || f.HierarchyID != "" && n.HierarchyID != f.HierarchyID {
		return false
	}
	for _, term := range f.Terms {
		text := map[string]string{"name": n.Name, "slug": n.Slug}[term.Attribute]
		if !slices.Contains(term.Values, text) {
			return false
		}
	}
	return !slices.ContainsFunc(f.Ranges, func(r store.Range) bool { return !nodeWithin(n, r) })
}

// nodeWithin reports whether a node is in a range, whose operator is gt, ge, lt or le.
func nodeWithin(n *segment.CatalogNode, r store.Range) bool {
	var order int
	switch r.Attribute {
	case store.SortID:
		order = cmp.Compare(n.ID, r.ID)
	case store.SortCreatedAt:
		order = n.CreatedAt.Compare(r.Time)
	default:
		order = n.UpdatedAt.Compare(r.Time)
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

// sort sorts nodes. Those that among returned without ids are by position already, which is the default order. Place is the
// order by name.
func (q NodeQuery) sort(nodes []*segment.CatalogNode) {
	switch {
	case q.Sort.By == store.SortDefault && q.Filter.IDs != nil:
		slices.SortFunc(nodes, func(a, b *segment.CatalogNode) int {
			return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(a.ID, b.ID))
		})
	case q.Sort.By == store.SortPosition && q.Filter.IDs != nil:
		slices.SortFunc(nodes, func(a, b *segment.CatalogNode) int {
			return cmp.Or(segment.ComparePosition(a, b), cmp.Compare(a.Place, b.Place))
		})
	case q.Sort.By == store.SortName:
		slices.SortFunc(nodes, func(a, b *segment.CatalogNode) int { return cmp.Compare(a.Place, b.Place) })
	case q.Sort.By == store.SortID:
		slices.SortFunc(nodes, func(a, b *segment.CatalogNode) int { return cmp.Compare(a.ID, b.ID) })
	case q.Sort.By == store.SortCreatedAt:
		slices.SortFunc(nodes, func(a, b *segment.CatalogNode) int {
			return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
		})
	case q.Sort.By == store.SortUpdatedAt:
		slices.SortFunc(nodes, func(a, b *segment.CatalogNode) int {
			return cmp.Or(a.UpdatedAt.Compare(b.UpdatedAt), cmp.Compare(a.ID, b.ID))
		})
	}
	if q.Sort.Descending {
		slices.Reverse(nodes)
	}
}

// listID identifies the list in cursors.
func (q NodeQuery) listID() store.ListID {
	f := q.Filter
	selected := cachekey.New("all")
	if f.IDs != nil {
		selected = cachekey.Join(cachekey.New(f.IDs...))
	}
	return store.NewListID(cachekey.New("nodes"), cachekey.New(string(f.Kind), f.ParentID, f.HierarchyID), q.Sort.Key(),
		cachekey.Each(f.Ranges, store.Range.Key), cachekey.Each(f.Terms, store.Term.Key), selected)
}

// listedNodeWork is the cost of filtering and sorting one node, in bytes of an
// Allowance.
const listedNodeWork = 16

// Nodes lists the catalog's nodes, in the view's language if they have it. Filters and orders compare the base text.
// It leaves out hierarchies unless the filter
// has a kind or ids. An unknown parent or hierarchy finds nothing. INVALID for too many conditions, for a range that is
// not valid, and for another order than NodeQuery has.
func (v *View) Nodes(ctx context.Context, query NodeQuery) (*store.Slice[*segment.CatalogNode], error) {
	if err := query.check(); err != nil {
		return nil, err
	}
	v, err := v.follow(ctx, query.Page, allNodes)
	if err != nil {
		return nil, err
	}
	filter := &query.Filter
	if filter.IDs != nil {
		filter.IDs = store.CanonicalIDs(filter.IDs)
	}
	filter.record(v.Reads)
	t, err := v.unrecordedTree(ctx)
	if err != nil {
		return nil, err
	}
	if filter.Kind == "" && filter.IDs == nil {
		filter.Kind = segment.KindNode
	}
	nodes := filter.among(t)
	if err := store.Charge(ctx, listedNodeWork*len(nodes)); err != nil {
		return nil, err
	}
	nodes = slices.DeleteFunc(nodes, func(n *segment.CatalogNode) bool { return !filter.keeps(n) })
	query.sort(nodes)
	return positioned(ctx, v, store.Cursor{List: query.listID(), Release: v.Release.NodesSince}, query.Page, len(nodes), func(start, end int) ([]*segment.CatalogNode, error) {
		return v.localized(nodes[start:end]), nil
	})
}

// localized returns nodes in the view's language, if they have it.
func (v *View) localized(nodes []*segment.CatalogNode) []*segment.CatalogNode {
	own := make([]*segment.CatalogNode, len(nodes))
	for i, node := range nodes {
		own[i] = v.Localized(node)
	}
	return own
}
