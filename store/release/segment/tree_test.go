package segment_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/release/segment"
)

func TestTreeAtPath(t *testing.T) {
	t.Parallel()
	var nodes []*segment.CatalogNode
	add := func(id, parent, slug string, day int) {
		node := &segment.CatalogNode{ID: id, ParentID: parent, Slug: slug, Kind: segment.KindNode, UpdatedAt: time.Date(2024, 1, day, 0, 0, 0, 0, time.UTC)}
		if parent == "" {
			node.Kind = segment.KindHierarchy
		}
		nodes = append(nodes, node)
	}
	add("shop", "", "shop", 1)
	add("men", "shop", "men", 1)
	add("men-shoes", "men", "shoes", 1)
	add("women", "shop", "women", 1)
	add("women-shoes", "women", "shoes", 3)
	add("outlet", "", "outlet", 1)
	add("outlet-men", "outlet", "men", 2)
	add("outlet-shoes", "outlet-men", "shoes", 2)
	add("no-slug", "men", "", 1)
	add("below", "no-slug", "boots", 1)
	tree := segment.NewTree(nodes)
	for path, want := range map[string]string{
		"shop": "shop", "shop/men": "men", "men": "outlet-men", "shop/men/shoes": "men-shoes", "women/shoes": "women-shoes",
		"men/shoes": "outlet-shoes", "outlet/men/shoes": "outlet-shoes", "shop/men//boots": "below",
		"shoes": "", "shop/shoes": "", "shop/shop/men": "", "men/boots": "", "": "", "shop/": "", "SHOP": "", "men/shoes/shoes": "",
	} {
		found := ""
		if node := tree.AtPath(strings.Split(path, "/")); node != nil {
			found = node.ID
		}
		require.Equal(t, want, found, path)
	}
	require.Equal(t, "women-shoes", tree.WithSlug("shoes").ID, "the one updated last")
	require.Nil(t, tree.WithSlug(""))
}

func TestTreeListsByPosition(t *testing.T) {
	t.Parallel()
	node := func(id, parent string, position *int) *segment.CatalogNode {
		return &segment.CatalogNode{ID: id, ParentID: parent, Kind: segment.KindNode, Position: position}
	}
	root := node("root", "", nil)
	root.Kind = segment.KindHierarchy
	tree := segment.NewTree([]*segment.CatalogNode{node("a", "root", nil), node("b", "root", new(20)), node("c", "d", new(3)), node("d", "root", new(0)), root, node("e", "root", new(20)), node("f", "d", nil)})
	ids := func(nodes []*segment.CatalogNode) (ids []string) {
		for _, n := range nodes {
			ids = append(ids, n.ID)
		}
		return ids
	}
	require.Equal(t, []string{"a", "b", "c", "d", "root", "e", "f"}, ids(tree.Nodes))
	require.Equal(t, []string{"d", "c", "b", "e", "a", "root", "f"}, ids(tree.Listed))
	require.Equal(t, []string{"d", "b", "e", "a"}, ids(tree.Children("root")))
	require.Equal(t, []string{"c", "f"}, ids(tree.Children("d")))
	moved := *tree.ByID["d"]
	require.True(t, moved.SameContent(tree.ByID["d"]))
	moved.Position = nil
	require.False(t, moved.SameContent(tree.ByID["d"]))
}
