package release_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store"
	"portico/store/release"
	"portico/store/release/segment"
	"portico/store/storetest"
)

// movingNode and movingProduct are what a movingShop has authored.
type movingNode struct {
	parent, slug string // parent is a hierarchy or a node; empty for a node that does not exist
	products     []string
}

type movingProduct struct {
	slug string
	live bool
}

var productSlugs = []string{"s", "t", "u", "v"}

// movingShop is a shop whose nodes and products move, and what each path showed when it was served.
type movingShop struct {
	*storetest.SharedStore
	nodes       map[string]*movingNode
	products    map[string]*movingProduct
	hierarchies map[string]string // slugs
	listed      []string          // hierarchies of the catalog
	written     map[string]string // lines by type and id
	turn        int
	shown       map[string]map[string]int // by path, then "kind id": the last turn
}

// write imports what changed since the last call.
func (m *movingShop) write(t require.TestingT) {
	lines := map[string]string{}
	for id, slug := range m.hierarchies {
		lines["a"+id] = fmt.Sprintf(`{"type":"hierarchy","id":%q,"attributes":{"name":"H","slug":%q}}`, id, slug)
	}
	for id, p := range m.products {
		status := map[bool]string{true: "live", false: "draft"}[p.live]
		lines["b"+id] = fmt.Sprintf(`{"type":"product","id":%q,"attributes":{"name":%[1]q,"sku":%[1]q,"slug":%q,"status":%q},"relationships":{}}`, id, p.slug, status)
	}
	for id, n := range m.nodes {
		if n.parent == "" {
			if m.written["c"+id] != "" {
				storetest.Import(t, m.Store, `{"type":"node","id":"`+id+`","deleted":true}`)
			}
			continue
		}
		parent := ""
		if strings.HasPrefix(n.parent, "n") {
			parent = fmt.Sprintf(`,"parent":{"data":{"type":"node","id":%q}}`, n.parent)
		}
		var refs []string
		for _, product := range n.products {
			refs = append(refs, fmt.Sprintf(`{"type":"product","id":%q}`, product))
		}
		lines["c"+id] = fmt.Sprintf(`{"type":"node","id":%q,"attributes":{"name":%[1]q,"slug":%q},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":%q}}%s,"products":{"data":[%s]}}}`,
			id, n.slug, m.hierarchyOf(id), parent, strings.Join(refs, ","))
	}
	lines["d"] = fmt.Sprintf(`{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["%s"]}}`, strings.Join(m.listed, `","`))
	var changed []string
	for _, key := range slices.Sorted(maps.Keys(lines)) {
		if m.written[key] != lines[key] {
			changed = append(changed, lines[key])
		}
	}
	m.written = lines
	if len(changed) > 0 {
		storetest.Import(t, m.Store, storetest.JoinLines(changed...))
	}
}

func (m *movingShop) hierarchyOf(id string) string {
	for strings.HasPrefix(id, "n") {
		id = m.nodes[id].parent
	}
	return id
}

// below reports whether a node is at or below another.
func (m *movingShop) below(id, above string) bool {
	for ; strings.HasPrefix(id, "n"); id = m.nodes[id].parent {
		if id == above {
			return true
		}
	}
	return false
}

// free reports whether no other node has a slug at a place. Nodes of all hierarchies share the paths without a hierarchy.
func (m *movingShop) free(id, parent, slug string) bool {
	for other, n := range m.nodes {
		top := strings.HasPrefix(n.parent, "h") && strings.HasPrefix(parent, "h")
		if other != id && n.slug == slug && (n.parent == parent || top) {
			return false
		}
	}
	return true
}

// change draws one change of what is authored.
func (m *movingShop) change(t *rapid.T) {
	node := rapid.SampledFrom([]string{"n1", "n2", "n3", "n4"}).Draw(t, "node")
	n, product := m.nodes[node], rapid.SampledFrom([]string{"p1", "p2", "p3"}).Draw(t, "product")
	p := m.products[product]
	switch rapid.SampledFrom([]string{"move", "move", "node", "slug", "slug", "live", "list", "list", "hierarchy", "catalog"}).Draw(t, "change") {
	case "move":
		parent := rapid.SampledFrom([]string{"h1", "h2", "n1", "n2", "n3", "n4"}).Draw(t, "parent")
		slug := rapid.SampledFrom([]string{"a", "b", "c", "s"}).Draw(t, "slug")
		if above := m.nodes[parent]; !m.below(parent, node) && (above == nil || above.parent != "") && m.free(node, parent, slug) {
			n.parent, n.slug = parent, slug
		}
	case "node":
		for other := range m.nodes {
			if other != node && m.nodes[other].parent == node {
				return
			}
		}
		n.parent = ""
	case "slug":
		slug := rapid.SampledFrom(productSlugs).Draw(t, "slug")
		for _, other := range m.products {
			if other.slug == slug {
				other.slug = p.slug // they change places
			}
		}
		p.slug = slug
	case "live":
		p.live = !p.live
	case "list":
		if at := slices.Index(n.products, product); at >= 0 {
			n.products = slices.Delete(n.products, at, at+1)
		} else {
			n.products = append(n.products, product)
		}
	case "hierarchy":
		id := rapid.SampledFrom([]string{"h1", "h2"}).Draw(t, "hierarchy")
		m.hierarchies[id] = rapid.SampledFrom([]string{"", "shop", "store"}).Draw(t, "slug") + map[string]string{"h1": "", "h2": "2"}[id]
	case "catalog":
		m.listed = rapid.SampledFrom([][]string{{"h1"}, {"h2"}, {"h1", "h2"}}).Draw(t, "listed")
	}
}

// paths returns the paths of the nodes and of the products of a view, with the "kind id" of each. A node hides the product that has
// the same path.
func (m *movingShop) paths(t require.TestingT, v *release.View) (nodes, products map[string]string) {
	nodes, products = map[string]string{}, map[string]string{}
	tree, err := v.Tree(context.Background())
	require.NoError(t, err)
	for _, n := range tree.Nodes {
		path := release.NodePath(n, tree.ByID)
		if path == "" {
			continue
		}
		paths := []string{path}
		if root := tree.ByID[n.HierarchyID]; n != root && root.Slug != "" {
			paths = append(paths, strings.TrimPrefix(path, root.Slug+"/"))
		}
		for _, path := range paths {
			node, err := v.NodeAtPath(context.Background(), path)
			require.NoError(t, err)
			nodes[path] = "node " + node.ID
			for _, slug := range productSlugs {
				if product, err := v.Product(context.Background(), release.ProductKey{Path: path + "/" + slug}); err == nil {
					products[path+"/"+slug] = "product " + product.ID()
				}
			}
		}
	}
	return nodes, products
}

// follow checks where all paths lead that were ever served, and takes those that are.
func (m *movingShop) follow(t require.TestingT) {
	v := storetest.View(t, m.Store, release.ShopperContext{})
	now, products := m.paths(t, v)
	m.turn += 2
	show := func(path, target string, turn int) {
		if m.shown[path] == nil {
			m.shown[path] = map[string]int{}
		}
		m.shown[path][target] = turn
	}
	for path, target := range now {
		show(path, target, m.turn)
	}
	for path, target := range products {
		if now[path] == "" {
			show(path, target, m.turn)
			now[path] = target
		} else { // hidden
			show(path, target, m.turn-1)
		}
	}
	for path, targets := range m.shown {
		want, last := "", 0
		for target, turn := range targets {
			if to := m.leads(t, v, target); to != "" && turn > last {
				want, last = to+" "+target, turn
			}
		}
		if now[path] != "" {
			want = ""
		}
		got, err := v.Redirect(context.Background(), path)
		require.NoError(t, err)
		shown := ""
		switch {
		case got == nil:
		case got.Product != nil:
			shown = got.Path + " product " + got.Product.ID()
		case got.Node != nil:
			shown = got.Path + " node " + got.Node.ID
		}
		if now[path] == "" && last == 0 && !strings.Contains(path, "/") {
			continue // nobody is left whom it showed; as a slug it may lead on
		}
		require.Equal(t, want, shown, "%s showed %v; now there are %v", path, targets, now)
	}
}

// leads returns the path, or the slug, of a "kind id"; empty if the view has neither.
func (m *movingShop) leads(t require.TestingT, v *release.View, target string) string {
	kind, id, _ := strings.Cut(target, " ")
	if kind == "node" {
		node, err := v.Node(context.Background(), id)
		if err != nil {
			storetest.RequireError(t, err, store.NotFound, "")
			return ""
		}
		paths, err := v.NodePaths(context.Background(), []*segment.CatalogNode{node})
		require.NoError(t, err)
		return max(paths[id], map[bool]string{true: node.Slug}[paths[id] == ""])
	}
	product, err := v.Product(context.Background(), release.ProductKey{ID: id})
	if err != nil {
		storetest.RequireError(t, err, store.NotFound, "")
		return ""
	}
	paths, err := v.ProductPaths(context.Background(), []*release.Product{product})
	require.NoError(t, err)
	return max(paths[id], map[bool]string{true: product.Slug()}[paths[id] == ""])
}

// TestPathsOfThePast moves, renames, deletes, detaches and rolls back, and requires that each path that was ever served leads to
// the product or node that it showed last of those that are still there.
func TestPathsOfThePast(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		shared := storetest.NewSharedStore(t, backend)
		rapid.Check(t, func(t *rapid.T) {
			storetest.DeleteAllRows(t, shared.DB)
			m := &movingShop{SharedStore: shared, hierarchies: map[string]string{"h1": "shop", "h2": ""}, listed: []string{"h1"}, shown: map[string]map[string]int{},
				nodes: map[string]*movingNode{"n1": {parent: "h1", slug: "a", products: []string{"p1", "p2"}}, "n2": {parent: "n1", slug: "b", products: []string{"p2", "p3"}},
					"n3": {parent: "h1", slug: "b"}, "n4": {parent: "h2", slug: "c", products: []string{"p1"}}},
				products: map[string]*movingProduct{"p1": {"s", true}, "p2": {"t", true}, "p3": {"u", true}}}
			m.write(t)
			storetest.Publish(t, m.Store, "main")
			m.follow(t)
			for range rapid.IntRange(1, 12).Draw(t, "turns") {
				switch rapid.SampledFrom([]string{"publish", "publish", "publish", "roll back", "roll back", "preview"}).Draw(t, "turn") {
				case "publish":
					for range rapid.IntRange(1, 3).Draw(t, "changes") {
						m.change(t)
						m.write(t)
					}
					storetest.Publish(t, m.Store, "main")
				case "preview":
					m.change(t)
					m.write(t)
					_, err := m.Publisher.Preview(context.Background(), storetest.Actor, "main", nil)
					require.NoError(t, err)
				case "roll back": // or serve a preview, or a release that was rolled back
					kept, err := m.Releases.List(context.Background(), "main")
					require.NoError(t, err)
					_, err = m.Releases.Serve(context.Background(), storetest.Actor, rapid.SampledFrom(kept).Draw(t, "release").UUID())
					require.NoError(t, err)
				}
				m.follow(t)
			}
		})
	})
}
