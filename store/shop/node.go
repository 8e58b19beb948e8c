package shop

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"sync"
	"time"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"portico/store"
	"portico/store/db"
)

// NodeKind tells a hierarchy from a node within one.
type NodeKind string

// The kinds. A hierarchy's id serves wherever a node's does.
const (
	KindHierarchy NodeKind = "hierarchy"
	KindNode      NodeKind = "node"
)

// CatalogNode is a node of a release, or a hierarchy, its root.
type CatalogNode struct {
	ID          string
	Kind        NodeKind
	Name        string
	Slug        string
	Description string
	HierarchyID string   // itself, for a hierarchy
	ParentID    string   // the node or hierarchy above; empty for a hierarchy
	Ancestors   []string // ids from the hierarchy down to the parent
	UpdatedAt   time.Time
	PublishedAt time.Time // of the release
	Language    string    // of the texts, which is the release's base language

	place    int // in the tree
	children []*CatalogNode
	curated  []string // while publishing
}

// GlobalID is the node's id over all types.
func (n *CatalogNode) GlobalID() string {
	if n.Kind == KindHierarchy {
		return store.GlobalID(store.TypeHierarchy, n.ID)
	}
	return store.GlobalID(store.TypeCatalogNode, n.ID)
}

// HasChildren tells whether there are nodes below.
func (n *CatalogNode) HasChildren() bool { return len(n.children) > 0 }

// tree is all nodes of a release, in the order in which they are listed: by
// name, in the root collation, then id.
type tree struct {
	nodes []*CatalogNode
	byID  map[string]*CatalogNode
}

func (t *tree) Size() int { return 400 * len(t.nodes) }

// newTree connects nodes that are in order; those whose parent is missing are
// left out with all below them.
func newTree(nodes []*CatalogNode) *tree {
	t := &tree{byID: make(map[string]*CatalogNode, len(nodes))}
	for _, node := range nodes {
		t.byID[node.ID] = node
	}
	for _, node := range nodes {
		ancestors, rooted := t.ancestors(node)
		if !rooted {
			delete(t.byID, node.ID)
			continue
		}
		node.Ancestors, node.place = ancestors, len(t.nodes)
		t.nodes = append(t.nodes, node)
	}
	for _, node := range t.nodes {
		if parent := t.byID[node.ParentID]; parent != nil {
			parent.children = append(parent.children, node)
		}
	}
	return t
}

func (t *tree) ancestors(node *CatalogNode) (ids []string, rooted bool) {
	for up := node; up.Kind != KindHierarchy; {
		parent := t.byID[up.ParentID]
		if parent == nil || len(ids) > len(t.byID) {
			return nil, false
		}
		ids = append(ids, parent.ID)
		up = parent
	}
	slices.Reverse(ids)
	return ids, true
}

// sortNodes puts nodes in the order in which they are listed.
func sortNodes(nodes []*CatalogNode) {
	collator, buffer := collate.New(language.Und), collate.Buffer{}
	keys := make(map[string][]byte, len(nodes))
	for _, node := range nodes {
		keys[node.ID] = slices.Clone(collator.KeyFromString(&buffer, node.Name))
		buffer.Reset()
	}
	slices.SortFunc(nodes, func(a, b *CatalogNode) int {
		return cmp.Or(slices.Compare(keys[a.ID], keys[b.ID]), cmp.Compare(a.ID, b.ID))
	})
}

// treeMemo keeps an operation's tree at hand.
type treeMemo struct {
	once sync.Once
	tree *tree
	err  error
}

// tree is the nodes of the view's release, read once in an operation.
func (v *View) tree(ctx context.Context) (*tree, error) {
	v.memo.once.Do(func() { v.memo.tree, v.memo.err = v.readTree(ctx) })
	return v.memo.tree, v.memo.err
}

func (v *View) readTree(ctx context.Context) (*tree, error) {
	key := db.CacheKey{Release: v.Release.identity(), Kind: cachedTree}
	if kept, ok := db.Cached[*tree](v.cache, key); ok {
		return kept, nil
	}
	nodes, err := db.Collect(ctx, v.store.db.Reader, func(rows *sql.Rows) (*CatalogNode, error) {
		n := &CatalogNode{PublishedAt: v.Release.PublishedAt, Language: v.Release.Locale}
		var updated int64
		err := rows.Scan(&n.ID, &n.Kind, &n.Name, &n.Slug, &n.Description, &n.HierarchyID, &n.ParentID, &updated)
		n.UpdatedAt = store.FromMicros(updated)
		return n, err
	}, `
		SELECT id, kind, name, slug, description, hierarchy_id, parent_id, updated_at
		FROM release_node WHERE release_id = $1 ORDER BY ordinal`, v.Release.ID)
	if err != nil {
		return nil, err
	}
	t := newTree(nodes)
	v.cache.Keep(key, t)
	return t, nil
}

// Node returns a node or hierarchy of the catalog; NOT_FOUND when it has none
// with that id.
func (v *View) Node(ctx context.Context, id string) (*CatalogNode, error) {
	t, err := v.tree(ctx)
	if err != nil {
		return nil, err
	}
	if node := t.byID[id]; node != nil {
		return node, nil
	}
	return nil, noNode(id)
}

// Hierarchy returns a hierarchy of the catalog; NOT_FOUND when it has none
// with that id.
func (v *View) Hierarchy(ctx context.Context, id string) (*CatalogNode, error) {
	root, err := v.Node(ctx, id)
	if err == nil && root.Kind != KindHierarchy {
		err = store.NotFoundf(nil, "There is no hierarchy %q in this catalog.", store.Short(id))
	}
	return root, err
}

// NodesByID returns several nodes; an unknown one is left out.
func (v *View) NodesByID(ctx context.Context, ids []string) (map[string]*CatalogNode, error) {
	t, err := v.tree(ctx)
	if err != nil {
		return nil, err
	}
	found := make(map[string]*CatalogNode, len(ids))
	for _, id := range ids {
		if node := t.byID[id]; node != nil {
			found[id] = node
		}
	}
	return found, nil
}

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
	return store.TermOf(NodeFilterAttributes(), attribute, operator, values)
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
		return store.Invalidf([]string{"sort"}, "must be id, name or updated_at, not %s", q.Sort.By)
	}
	return nil
}

// among are the nodes that the filter's ids and parent name: looked up one by
// one, so that the time does not grow by ids times nodes. They are in the
// order of the tree, but for those named by ids.
func (f NodeFilter) among(t *tree) []*CatalogNode {
	switch {
	case f.IDs != nil:
		nodes := make([]*CatalogNode, 0, len(f.IDs))
		for _, id := range store.Unique(f.IDs) {
			if node := t.byID[id]; node != nil && (f.ParentID == "" || node.ParentID == f.ParentID) {
				nodes = append(nodes, node)
			}
		}
		return nodes
	case f.ParentID != "":
		return slices.Clone(t.byID[f.ParentID].children)
	}
	return slices.Clone(t.nodes)
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
		slices.SortFunc(nodes, func(a, b *CatalogNode) int { return cmp.Compare(a.place, b.place) })
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
	t, err := v.tree(ctx)
	if err != nil {
		return nil, err
	}
	filter := &query.Filter
	if filter.ParentID != "" && t.byID[filter.ParentID] == nil {
		return nil, noNode(filter.ParentID)
	}
	if root := t.byID[filter.HierarchyID]; filter.HierarchyID != "" && (root == nil || root.Kind != KindHierarchy) {
		return nil, noNode(filter.HierarchyID)
	}
	if filter.Kind == "" && filter.IDs == nil {
		filter.Kind = KindNode
	}
	nodes := slices.DeleteFunc(filter.among(t), func(n *CatalogNode) bool { return !filter.keeps(n) })
	query.sort(nodes)
	return positioned(v, store.Cursor{List: query.name()}, query.Page, len(nodes), func(start, end int) ([]*CatalogNode, error) {
		return nodes[start:end], nil
	})
}

func noNode(id string) error {
	return store.NotFoundf(nil, "There is no node %q in this catalog.", store.Short(id))
}

// CuratedByNode returns the live curated products of several nodes, in the
// merchant's order, by node.
func (v *View) CuratedByNode(ctx context.Context, nodeIDs []string) (map[string][]*Product, error) {
	names := make([]string, len(nodeIDs))
	for i, id := range nodeIDs {
		names[i] = listOfNode(id)
	}
	heads, err := v.listHeads(ctx, names)
	if err != nil {
		return nil, err
	}
	var places []uint32
	for _, name := range names {
		if head := heads[name]; head != nil {
			places = append(places, head.curated...)
		}
	}
	shown, err := v.show(ctx, places, places)
	if err != nil {
		return nil, err
	}
	curated := make(map[string][]*Product, len(nodeIDs))
	for i, name := range names {
		if head := heads[name]; head != nil {
			curated[nodeIDs[i]], shown = shown[:len(head.curated)], shown[len(head.curated):]
		}
	}
	return curated, nil
}
