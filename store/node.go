package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"sync"
	"time"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
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

	children []*CatalogNode
	curated  []string // while publishing
}

// GlobalID is the node's id over all types.
func (n *CatalogNode) GlobalID() string {
	if n.Kind == KindHierarchy {
		return GlobalID(TypeHierarchy, n.ID)
	}
	return GlobalID(TypeCatalogNode, n.ID)
}

// HasChildren tells whether there are nodes below.
func (n *CatalogNode) HasChildren() bool { return len(n.children) > 0 }

// tree is all nodes of a release, in the order in which they are listed: by
// name, in the root collation, then id.
type tree struct {
	nodes []*CatalogNode
	byID  map[string]*CatalogNode
}

func (t *tree) size() int { return 400 * len(t.nodes) }

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
		node.Ancestors = ancestors
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
	key := cacheKey{release: v.Release.ID, kind: cachedTree}
	if kept, ok := cached[*tree](v.cache, key); ok {
		return kept, nil
	}
	nodes, err := collect(ctx, v.store.reader, func(rows *sql.Rows) (*CatalogNode, error) {
		n := &CatalogNode{}
		var updated int64
		err := rows.Scan(&n.ID, &n.Kind, &n.Name, &n.Slug, &n.Description, &n.HierarchyID, &n.ParentID, &updated)
		n.UpdatedAt = fromMicros(updated)
		return n, err
	}, `
		SELECT id, kind, name, slug, description, hierarchy_id, parent_id, updated_at
		FROM release_node WHERE release_id = $1 ORDER BY ordinal`, v.Release.ID)
	if err != nil {
		return nil, err
	}
	t := newTree(nodes)
	v.cache.keep(key, t)
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
	return nil, notFound(nil, "There is no node %q in this catalog.", id)
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
type NodeFilter struct {
	Kind     NodeKind // hierarchies or nodes only
	IDs      []string // these nodes, which come by last update, newest first
	ParentID string   // the children of this node or hierarchy
}

// Nodes lists the catalog's nodes, without hierarchies unless the filter asks
// for them, or names them by their ids, as those who follow breadcrumbs do: by
// name, then id, or by last update where the filter names ids.
func (v *View) Nodes(ctx context.Context, filter NodeFilter, page Page) (*Slice[*CatalogNode], error) {
	v, err := v.follow(ctx, page)
	if err != nil {
		return nil, err
	}
	t, err := v.tree(ctx)
	if err != nil {
		return nil, err
	}
	nodes := t.nodes
	if filter.ParentID != "" {
		parent := t.byID[filter.ParentID]
		if parent == nil {
			return nil, notFound(nil, "There is no node %q in this catalog.", filter.ParentID)
		}
		nodes = parent.children
	}
	if filter.Kind == "" && filter.IDs == nil {
		filter.Kind = KindNode
	}
	nodes = slices.DeleteFunc(slices.Clone(nodes), func(n *CatalogNode) bool {
		return filter.Kind != "" && n.Kind != filter.Kind || filter.IDs != nil && !slices.Contains(filter.IDs, n.ID)
	})
	if filter.IDs != nil {
		slices.SortStableFunc(nodes, func(a, b *CatalogNode) int {
			return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(a.ID, b.ID))
		})
	}
	name := listName(append([]string{"nodes", string(filter.Kind), filter.ParentID}, filter.IDs...)...)
	return positioned(v, cursor{List: name}, page, len(nodes), func(start, end int) ([]*CatalogNode, error) {
		return nodes[start:end], nil
	})
}
