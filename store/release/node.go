package release

import (
	"context"
	"strings"

	"portico/store"
	"portico/store/release/segment"
)

// Tree returns the nodes of the view's release, read once in an operation.
func (v *View) Tree(ctx context.Context) (*segment.Tree, error) {
	v.Reads.Add(segment.AnyNode)
	return v.unrecordedTree(ctx)
}

// unrecordedTree is Tree for a caller that records which nodes it reads.
func (v *View) unrecordedTree(ctx context.Context) (*segment.Tree, error) {
	v.tree.once.Do(func() { v.tree.tree, v.tree.err = v.ReadTree(ctx) })
	return v.tree.tree, v.tree.err
}

// Node returns a node or hierarchy of the catalog, in the view's language if it has it; NOT_FOUND for an unknown id.
func (v *View) Node(ctx context.Context, id string) (*segment.CatalogNode, error) {
	v.Reads.Add(segment.NodeKey(id))
	t, err := v.unrecordedTree(ctx)
	if err != nil {
		return nil, err
	}
	if node := t.ByID[id]; node != nil {
		return v.Localized(node), nil
	}
	return nil, noNode(id)
}

// NodeWithSlug returns the node or hierarchy with a slug; of several the one updated last. NOT_FOUND if there is none.
func (v *View) NodeWithSlug(ctx context.Context, slug string) (*segment.CatalogNode, error) {
	return v.nodeAt(ctx, slug, func(t *segment.Tree) *segment.CatalogNode { return t.WithSlug(slug) })
}

// NodeAtPath returns the node at a path: the slugs of its hierarchy, which may be left out, of the nodes above and its
// own, joined by slashes. NOT_FOUND if there is none.
func (v *View) NodeAtPath(ctx context.Context, path string) (*segment.CatalogNode, error) {
	return v.nodeAt(ctx, path, func(t *segment.Tree) *segment.CatalogNode {
		return t.AtPath(strings.Split(strings.Trim(path, "/"), "/"))
	})
}

// nodeAt returns the node that find finds at an address. NOT_FOUND if there is none.
func (v *View) nodeAt(ctx context.Context, address string, find func(*segment.Tree) *segment.CatalogNode) (*segment.CatalogNode, error) {
	v.Reads.Add(segment.AnyNode) // any node may get the address
	t, err := v.unrecordedTree(ctx)
	if err != nil {
		return nil, err
	}
	if node := find(t); node != nil {
		return v.Localized(node), nil
	}
	return nil, noNode(address)
}

// Hierarchy returns a hierarchy of the catalog; NOT_FOUND for an unknown id.
func (v *View) Hierarchy(ctx context.Context, id string) (*segment.CatalogNode, error) {
	root, err := v.Node(ctx, id)
	if err == nil && root.Kind != segment.KindHierarchy {
		err = store.NotFoundf(nil, "There is no hierarchy %q in this catalog.", store.Abbreviate(id))
	}
	return root, err
}

// NodesByID returns several nodes. It leaves out unknown ids.
func (v *View) NodesByID(ctx context.Context, ids []string) (map[string]*segment.CatalogNode, error) {
	t, err := v.unrecordedTree(ctx)
	if err != nil {
		return nil, err
	}
	found := make(map[string]*segment.CatalogNode, len(ids))
	for _, id := range ids {
		v.Reads.Add(segment.NodeKey(id))
		if node := t.ByID[id]; node != nil {
			found[id] = v.Localized(node)
		}
	}
	return found, nil
}

func noNode(id string) error {
	return store.NotFoundf(nil, "There is no node %q in this catalog.", store.Abbreviate(id))
}
