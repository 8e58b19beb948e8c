package segment

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
)

// NodeKind is whether a node is a hierarchy or within one.
type NodeKind string

// The kinds. The id of a hierarchy is valid wherever that of a node is.
const (
	KindHierarchy NodeKind = "hierarchy"
	KindNode      NodeKind = "node"
)

// CatalogNode is a node of a release, or a hierarchy, its root.
type CatalogNode struct {
	catalog.NodeText
	ID          string
	Kind        NodeKind
	Slug        string
	HierarchyID string   // its own id for a hierarchy
	ParentID    string   // the node or hierarchy above; empty for a hierarchy
	Ancestors   []string // ids from the hierarchy down to the parent
	CreatedAt   time.Time
	UpdatedAt   time.Time
	PublishedAt time.Time // of this version of the node, in this catalog
	Position    *int      // among nodes; nil comes last
	MainImageID string    // a file, which the release may not have; empty for none
	Attributes  string    // values of its own attributes by key, as JSON; empty for none
	Locale      string    // of NodeText: the release's base language, unless Localized chose another

	Texts    map[string]catalog.NodeText `json:"-"` // in other languages
	Place    int                         `json:"-"` // in Tree.Nodes
	children []*CatalogNode
	Curated  []string `json:"-"` // while publishing
}

// GlobalID returns the node's id, which is unique over all types.
func (n *CatalogNode) GlobalID() string {
	if n.Kind == KindHierarchy {
		return store.GlobalID(store.TypeHierarchy, n.ID)
	}
	return store.GlobalID(store.TypeCatalogNode, n.ID)
}

// PathKind returns PathFirst or PathNode.
func (n *CatalogNode) PathKind() string {
	if n.Kind == KindHierarchy || n.ParentID == n.HierarchyID {
		return PathFirst
	}
	return PathNode
}

// HasChildren reports whether there are nodes below.
func (n *CatalogNode) HasChildren() bool { return len(n.children) > 0 }

// SameContent reports whether nodes of two releases with one base language show
// the same but published_at.
func (n *CatalogNode) SameContent(other *CatalogNode) bool {
	return n.ID == other.ID && n.Kind == other.Kind && n.NodeText == other.NodeText && maps.Equal(n.Texts, other.Texts) && n.Slug == other.Slug &&
		n.HierarchyID == other.HierarchyID && n.ParentID == other.ParentID && slices.Equal(n.Ancestors, other.Ancestors) &&
		ComparePosition(n, other) == 0 && n.MainImageID == other.MainImageID && n.Attributes == other.Attributes && n.CreatedAt.Equal(other.CreatedAt) && n.UpdatedAt.Equal(other.UpdatedAt) && n.HasChildren() == other.HasChildren()
}

// ComparePosition compares nodes by position; those without one come last. Place decides next.
func ComparePosition(a, b *CatalogNode) int {
	position := func(n *CatalogNode) int {
		if n.Position == nil {
			return catalog.MaxPosition + 1
		}
		return *n.Position
	}
	return cmp.Compare(position(a), position(b))
}

// Tree is all nodes of a release. It never changes.
type Tree struct {
	Nodes  []*CatalogNode // by name, in the root collation, then id
	Listed []*CatalogNode // by position, then as Nodes
	ByID   map[string]*CatalogNode

	bySlug map[string][]*CatalogNode // last updated first, then by id
	images map[string]bool           // ids of the main images
	custom int                       // bytes of all Attributes
}

func (t *Tree) Size() int { return 450*len(t.Nodes) + 64*len(t.images) + t.custom }

// NewTree connects nodes, which are sorted as by SortNodes and read with their parents' ids. It sets Ancestors, Place and the
// children of each. It leaves out nodes whose parent is missing, with all below them.
func NewTree(nodes []*CatalogNode) *Tree {
	t := &Tree{ByID: make(map[string]*CatalogNode, len(nodes)), bySlug: make(map[string][]*CatalogNode, len(nodes)), images: map[string]bool{}}
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
		t.custom += len(node.Attributes)
		t.Nodes = append(t.Nodes, node)
	}
	t.Listed = t.Nodes
	if !slices.IsSortedFunc(t.Nodes, ComparePosition) {
		t.Listed = slices.Clone(t.Nodes)
		slices.SortStableFunc(t.Listed, ComparePosition)
	}
	for _, node := range t.Listed {
		if parent := t.ByID[node.ParentID]; parent != nil {
			parent.children = append(parent.children, node)
		}
		if node.MainImageID != "" {
			t.images[node.MainImageID] = true
		}
		if node.Slug != "" {
			t.bySlug[node.Slug] = append(t.bySlug[node.Slug], node)
		}
	}
	for _, alike := range t.bySlug {
		slices.SortFunc(alike, func(a, b *CatalogNode) int {
			return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(a.ID, b.ID))
		})
	}
	return t
}

// AtPath returns the node that slugs lead to, one for each node from its hierarchy, which may be left out, down to the node;
// nil if there is none. Of several it is the one updated last.
func (t *Tree) AtPath(slugs []string) *CatalogNode {
	for _, node := range t.bySlug[slugs[len(slugs)-1]] {
		above := node.Ancestors
		if len(slugs) == len(above) {
			above = above[1:] // the hierarchy is left out
		}
		if len(slugs) == len(above)+1 && slices.EqualFunc(above, slugs[:len(above)], func(id, slug string) bool { return t.ByID[id].Slug == slug }) {
			return node
		}
	}
	return nil
}

// WithSlug returns the node with a slug; nil if there is none. Of several it is the one updated last.
func (t *Tree) WithSlug(slug string) *CatalogNode {
	if alike := t.bySlug[slug]; len(alike) > 0 {
		return alike[0]
	}
	return nil
}

// AllWithSlug returns the nodes with a slug, the one updated last first. The caller must not change the list.
func (t *Tree) AllWithSlug(slug string) []*CatalogNode { return t.bySlug[slug] }

// ancestors returns the ids of the nodes above a node, the hierarchy first. rooted is false if there is no hierarchy at the
// top: a parent is missing, or the parents form a circle, in which more ids are found than there are nodes.
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

// Children returns the nodes directly below a node, in the order of Listed.
func (t *Tree) Children(id string) []*CatalogNode {
	if node := t.ByID[id]; node != nil {
		return slices.Clone(node.children)
	}
	return nil
}

// ProductLists returns the names of all lists of products of a release with these nodes.
func (t *Tree) ProductLists() []string {
	names := []string{ListAll, ListEvery}
	for _, node := range t.Nodes {
		if names = append(names, ListOfNode(node.ID)); node.ListOfSubtree() != ListOfNode(node.ID) {
			names = append(names, node.ListOfSubtree())
		}
	}
	return names
}

// SortNodes sorts nodes in the order of Tree.Nodes.
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

// ReadTree reads the nodes of the release.
func (r *Reader) ReadTree(ctx context.Context) (*Tree, error) {
	key := db.CacheKey{Release: r.Release.nodesIdentity(), Kind: cachedTree}
	if kept, ok := db.Cached[*Tree](r.Cache, key); ok {
		return kept, nil
	}
	holder := cmp.Or(r.Release.NodesBy, r.Release.ID)
	nodes, err := db.Collect(ctx, r.session(), func(rows *sql.Rows) (*CatalogNode, error) {
		n := &CatalogNode{PublishedAt: store.FromMicros(r.Release.identityOf(holder).Published), Locale: r.Release.Locale}
		var created, updated, published int64
		var texts string
		err := rows.Scan(&n.ID, &n.Kind, &n.Name, &n.Slug, &n.Description, &n.HierarchyID, &n.ParentID, &created, &updated, &published, &n.SEO.Title, &n.SEO.Description, &texts, &n.Position, &n.MainImageID, &n.Attributes)
		if err == nil && texts != "" {
			err = json.Unmarshal([]byte(texts), &n.Texts)
		}
		n.CreatedAt = store.FromMicros(created)
		if n.UpdatedAt = store.FromMicros(updated); published != 0 {
			n.PublishedAt = store.FromMicros(published)
		}
		return n, err
	}, `
		SELECT id, kind, name, slug, description, hierarchy_id, parent_id, created_at, updated_at, published_at, seo_title, seo_description, texts, position, main_image_id, attributes
		FROM release_node WHERE release_id = $1 ORDER BY ordinal`, holder)
	if err != nil {
		return nil, err
	}
	t := NewTree(nodes)
	r.Cache.Set(key, t)
	return t, nil
}

// Localized returns a node in the best of the reader's languages that it has, else as it is.
func (r *Reader) Localized(n *CatalogNode) *CatalogNode {
	text, shown := r.textOf(n)
	if shown == n.Locale {
		return n
	}
	own := *n
	own.NodeText, own.Locale = text, shown
	return &own
}

// NodeName returns the name that Localized shows.
func (r *Reader) NodeName(n *CatalogNode) string {
	text, _ := r.textOf(n)
	return text.Name
}

// textOf returns the texts of a node in the best of the reader's languages that it has, and that language.
func (r *Reader) textOf(n *CatalogNode) (text catalog.NodeText, shown string) {
	if n.Texts != nil {
		for _, preferred := range r.languages {
			if text, ok := n.Texts[preferred]; ok {
				return text, preferred
			}
		}
	}
	return n.NodeText, n.Locale
}

// Breadcrumbs returns the members bread_crumbs and bread_crumb_nodes of a
// product's meta: the nodes that it is attached to, the newest attachment first,
// each with its ancestors, the hierarchy first.
func Breadcrumbs(nodes []*CatalogNode) []byte {
	dst := []byte(`"bread_crumbs":{`)
	for _, node := range nodes {
		dst = store.AppendStrings(dst, node.ID, node.Ancestors)
	}
	dst = append(dst, '}')
	ids := make([]string, len(nodes))
	for i, node := range nodes {
		ids[i] = node.ID
	}
	return store.AppendStrings(dst, "bread_crumb_nodes", ids)
}

// Below returns the nodes of some ids and all below them, each once. It leaves out unknown ids. Of a hierarchy it returns
// the hierarchy alone, whose list has the products of all its nodes.
func (t *Tree) Below(ids []string) (found []*CatalogNode) {
	seen := map[*CatalogNode]bool{}
	var add func(*CatalogNode)
	add = func(node *CatalogNode) {
		if node == nil || seen[node] {
			return
		}
		seen[node] = true
		if found = append(found, node); node.Kind == KindNode {
			for _, child := range node.children {
				add(child)
			}
		}
	}
	for _, id := range ids {
		add(t.ByID[id])
	}
	return found
}
