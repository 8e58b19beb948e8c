package release

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

	Place    int `json:"-"` // in the tree
	children []*CatalogNode
	Curated  []string `json:"-"` // while publishing
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

// Tree is all nodes of a release, in the order in which they are listed: by
// name, in the root collation, then id.
type Tree struct {
	Nodes []*CatalogNode
	ByID  map[string]*CatalogNode
}

func (t *Tree) Size() int { return 400 * len(t.Nodes) }

// NewTree connects nodes that are in order; those whose parent is missing are
// left out with all below them.
func NewTree(nodes []*CatalogNode) *Tree {
	t := &Tree{ByID: make(map[string]*CatalogNode, len(nodes))}
	for _, node := range nodes {
		t.ByID[node.ID] = node
	}
	for _, node := range nodes {
		ancestors, rooted := t.ancestors(node)
		if !rooted {
			delete(t.ByID, node.ID)
			continue
		}
		node.Ancestors, node.Place = ancestors, len(t.Nodes)
		t.Nodes = append(t.Nodes, node)
	}
	for _, node := range t.Nodes {
		if parent := t.ByID[node.ParentID]; parent != nil {
			parent.children = append(parent.children, node)
		}
	}
	return t
}

func (t *Tree) ancestors(node *CatalogNode) (ids []string, rooted bool) {
	for up := node; up.Kind != KindHierarchy; {
		parent := t.ByID[up.ParentID]
		if parent == nil || len(ids) > len(t.ByID) {
			return nil, false
		}
		ids = append(ids, parent.ID)
		up = parent
	}
	slices.Reverse(ids)
	return ids, true
}

// SortNodes puts nodes in the order in which they are listed.
func SortNodes(nodes []*CatalogNode) {
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
	tree *Tree
	err  error
}

// Tree is the nodes of the view's release, read once in an operation.
func (v *View) Tree(ctx context.Context) (*Tree, error) {
	v.memo.once.Do(func() { v.memo.tree, v.memo.err = v.readTree(ctx) })
	return v.memo.tree, v.memo.err
}

func (v *View) readTree(ctx context.Context) (*Tree, error) {
	key := db.CacheKey{Release: v.Release.identity(), Kind: cachedTree}
	if kept, ok := db.Cached[*Tree](v.Cache, key); ok {
		return kept, nil
	}
	nodes, err := db.Collect(ctx, v.service.db.Reader, func(rows *sql.Rows) (*CatalogNode, error) {
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
	t := NewTree(nodes)
	v.Cache.Set(key, t)
	return t, nil
}

// Node returns a node or hierarchy of the catalog; NOT_FOUND when it has none
// with that id.
func (v *View) Node(ctx context.Context, id string) (*CatalogNode, error) {
	t, err := v.Tree(ctx)
	if err != nil {
		return nil, err
	}
	if node := t.ByID[id]; node != nil {
		return node, nil
	}
	return nil, noNode(id)
}

// Hierarchy returns a hierarchy of the catalog; NOT_FOUND when it has none
// with that id.
func (v *View) Hierarchy(ctx context.Context, id string) (*CatalogNode, error) {
	root, err := v.Node(ctx, id)
	if err == nil && root.Kind != KindHierarchy {
		err = store.NotFoundf(nil, "There is no hierarchy %q in this catalog.", store.Abbreviate(id))
	}
	return root, err
}

// NodesByID returns several nodes; an unknown one is left out.
func (v *View) NodesByID(ctx context.Context, ids []string) (map[string]*CatalogNode, error) {
	t, err := v.Tree(ctx)
	if err != nil {
		return nil, err
	}
	found := make(map[string]*CatalogNode, len(ids))
	for _, id := range ids {
		if node := t.ByID[id]; node != nil {
			found[id] = node
		}
	}
	return found, nil
}

func noNode(id string) error {
	return store.NotFoundf(nil, "There is no node %q in this catalog.", store.Abbreviate(id))
}

// CuratedByNode returns the live curated products of several nodes, in the
// merchant's order, by node.
func (v *View) CuratedByNode(ctx context.Context, nodeIDs []string) (map[string][]*Product, error) {
	names := make([]string, len(nodeIDs))
	for i, id := range nodeIDs {
		names[i] = ListOfNode(id)
	}
	heads, err := v.ListHeads(ctx, names)
	if err != nil {
		return nil, err
	}
	var places []uint32
	for _, name := range names {
		if head := heads[name]; head != nil {
			places = append(places, head.Curated...)
		}
	}
	shown, err := v.show(ctx, places, places)
	if err != nil {
		return nil, err
	}
	curated := make(map[string][]*Product, len(nodeIDs))
	for i, name := range names {
		if head := heads[name]; head != nil {
			curated[nodeIDs[i]], shown = shown[:len(head.Curated)], shown[len(head.Curated):]
		}
	}
	return curated, nil
}
