package publish

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/index"
	"portico/store/release/routing"
	"portico/store/release/segment"
)

// publicationPlan is what a release will hold, worked out in memory: products are
// handles, which are their places among the live products by id.
type publicationPlan struct {
	in       db.Session
	source   *catalog.CatalogSource
	served   int64 // the release that is served now, 0 for none
	hold     routing.Hold
	revision int64
	ranked   []catalog.RankedPricebook // the highest priority first
	tree     *segment.Tree

	modifiers map[string]*catalog.ModifierSource // by name

	files      index.StringList // ids
	ids        index.StringList // of the products, by handle
	related    []related
	created    []int64 // by handle
	updated    []int64
	parents    []int32 // handles, or -1
	children   index.AdjacencyList
	components index.AdjacencyList

	attached map[string][]uint32 // handles by node or hierarchy, unsorted, each once
	curated  map[string][]uint32 // handles by node, in order
	nodesOf  []attachment        // sorted by handle, then newest first

	collation *index.Collation // of the base language

	delta *delta // nil for a whole release; of a delta, handles are the products it read

	first    int      // ordinal that the release begins with
	order    []uint32 // handles of the products to write, by ordinal from there
	ordinals []int32  // by handle, -1 where the product is not in the release
	kept     int      // how many are
}

// attachment puts a product into a node.
type attachment struct {
	handle   uint32
	node     int32 // in tree.nodes
	attached int64
}

// readCatalog reads what the catalog publishes. NOT_FOUND when there is none.
func (p *publicationPlan) readCatalog(ctx context.Context, id string) error {
	source, found, err := db.One(ctx, p.in, func(rows *sql.Rows) (*catalog.CatalogSource, error) {
		var body []byte
		var served sql.NullInt64
		p.hold = routing.Hold{CatalogID: id}
		c := &catalog.CatalogSource{}
		if err := rows.Scan(&body, &served, &p.hold.Below, &p.hold.RolledBackFrom, &p.revision); err != nil {
			return nil, err
		}
		p.served, p.hold.ReleaseID = served.Int64, served.Int64
		return c, json.Unmarshal(body, c)
	}, `SELECT body, release_id, held_below, rolled_back_from, (SELECT value FROM counter WHERE name = 'revision') FROM catalog WHERE id = $1`, id)
	if err != nil {
		return err
	}
	if !found {
		return store.NotFoundf(nil, "There is no catalog %q.", id)
	}
	p.source, p.ranked = source, source.Ranked()
	return nil
}

// catalog reads the catalog, its modifiers and its nodes.
func (p *publicationPlan) catalog(ctx context.Context, id string) error {
	if err := p.readCatalog(ctx, id); err != nil {
		return err
	}
	if err := p.readModifiers(ctx); err != nil {
		return err
	}
	var nodes []*segment.CatalogNode
	for _, hierarchyID := range store.Unique(p.source.Attributes.Hierarchies) {
		list, err := p.hierarchy(ctx, hierarchyID)
		if err != nil {
			return err
		}
		nodes = append(nodes, list...)
	}
	segment.SortNodes(nodes)
	p.tree = segment.NewTree(nodes)
	return nil
}

// hierarchy reads a hierarchy and its nodes; none when there is no such one.
func (p *publicationPlan) hierarchy(ctx context.Context, id string) ([]*segment.CatalogNode, error) {
	return db.Collect(ctx, p.in, func(rows *sql.Rows) (*segment.CatalogNode, error) {
		var body []byte
		var updated int64
		var source catalog.NodeSource
		if err := rows.Scan(&body, &updated); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(body, &source); err != nil {
			return nil, err
		}
		node := &segment.CatalogNode{ID: source.ID, Kind: segment.NodeKind(source.Type), Name: source.Attributes.Name, Slug: source.Attributes.Slug,
			Description: source.Attributes.Description, HierarchyID: id, UpdatedAt: store.FromMicros(updated),
			Curated: source.Attributes.CuratedProducts}
		if node.Kind == segment.KindNode {
			node.ParentID = cmp.Or(source.Relationships.Parent.ID(), id)
		}
		return node, nil
	}, `
		SELECT body, updated_at FROM hierarchy WHERE id = $1
		UNION ALL
		SELECT body, updated_at FROM node WHERE hierarchy_id = $1`, id)
}

// arrange decides which products are in the release, and where they stand.
func (p *publicationPlan) arrange(ctx context.Context) error {
	if p.delta != nil {
		if small, err := p.arrangeDelta(ctx); err != nil || small {
			return err
		}
		p.delta = nil
	}
	if err := p.products(ctx); err != nil {
		return err
	}
	if err := p.attachments(ctx); err != nil {
		return err
	}
	p.relations()
	p.placeAll(p.included())
	return nil
}

// placeAll gives the products of a whole release their ordinals: the last
// updated first, then by id.
func (p *publicationPlan) placeAll(included []uint32) {
	p.order, p.kept = included, len(included)
	p.sortByUpdate(p.order)
	p.ordinals = slices.Repeat([]int32{-1}, p.ids.Len())
	for ordinal, handle := range p.order {
		p.ordinals[handle] = int32(ordinal)
	}
}

// sortByUpdate puts handles in the default order of lists.
func (p *publicationPlan) sortByUpdate(handles []uint32) {
	slices.SortFunc(handles, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(p.updated[b], p.updated[a]), cmp.Compare(a, b))
	})
}

// products gives every live product its handle, and notes what it refers to.
func (p *publicationPlan) products(ctx context.Context) error {
	scan := func(rows *sql.Rows) ([]any, *liveProduct, error) {
		live, err := scanLive(rows)
		return []any{live.id}, live, err
	}
	return db.EachPage(ctx, p.in, liveProducts, liveColumns, []string{"id"}, scan, func(products []*liveProduct) error {
		for _, live := range products {
			p.add(live)
		}
		return nil
	})
}

// add gives a live product the next handle; they come by id.
func (p *publicationPlan) add(live *liveProduct) {
	if live.parent != "" || live.components != "" {
		p.related = append(p.related, related{uint32(p.ids.Len()), live.parent, live.components})
	}
	p.ids.Add(live.id)
	p.created, p.updated = append(p.created, live.created), append(p.updated, live.updated)
}

// related is the products that a product refers to, live or not.
type related struct {
	handle     uint32
	parent     string // empty for none
	components string // separated by spaces
}

// liveProducts stands where a table's name does.
const liveProducts = `(SELECT id, parent_id, component_ids, created_at, updated_at FROM product WHERE live) AS live_product`

// relations connects live products: bundles with components, parents with
// children.
func (p *publicationPlan) relations() {
	p.parents = slices.Repeat([]int32{-1}, p.ids.Len())
	for _, r := range p.related {
		if parent, live := p.ids.Find(r.parent); live {
			p.parents[r.handle] = int32(parent)
		}
		for p.components.Len() < int(r.handle) {
			p.components.End()
		}
		for _, id := range strings.Fields(r.components) {
			if component, live := p.ids.Find(id); live {
				p.components.Add(component)
			}
		}
		p.components.End()
	}
	p.children = index.Reverse(p.parents)
}

// attachments reads which live products hang from which node, of all nodes at
// once: one by one they would take a statement each.
func (p *publicationPlan) attachments(ctx context.Context) error {
	p.attached, p.curated = map[string][]uint32{}, map[string][]uint32{}
	scan := func(rows *sql.Rows) ([]any, attachment, error) {
		a := attachment{node: -1}
		var nodeID, id string
		err := rows.Scan(&nodeID, &a.attached, &id)
		if node := p.tree.ByID[nodeID]; node != nil && node.Kind == segment.KindNode {
			if handle, live := p.ids.Find(id); live {
				a.handle, a.node = handle, int32(node.Place)
			}
		}
		return []any{nodeID, a.attached, id}, a, err
	}
	if err := db.EachPage(ctx, p.in, "node_product", "node_id, attached, product_id", []string{"node_id", "attached", "product_id"}, scan, func(list []attachment) error {
		for _, a := range list {
			if a.node >= 0 {
				p.attach(a)
			}
		}
		return nil
	}); err != nil {
		return err
	}
	for _, node := range p.tree.Nodes {
		p.curate(node, p.attached[node.ID])
	}
	p.sortAttachments()
	return nil
}

func (p *publicationPlan) attach(a attachment) {
	node := p.tree.Nodes[a.node]
	p.nodesOf = append(p.nodesOf, a)
	p.attached[node.ID] = append(p.attached[node.ID], a.handle)
	p.attached[node.HierarchyID] = append(p.attached[node.HierarchyID], a.handle)
}

func (p *publicationPlan) sortAttachments() {
	slices.SortFunc(p.nodesOf, func(a, b attachment) int {
		return cmp.Or(cmp.Compare(a.handle, b.handle), cmp.Compare(b.attached, a.attached), cmp.Compare(a.node, b.node))
	})
}

// curate keeps the curated products that the node lists.
func (p *publicationPlan) curate(node *segment.CatalogNode, attached []uint32) {
	for _, id := range store.Unique(node.Curated) {
		if handle, live := p.ids.Find(id); live && slices.Contains(attached, handle) {
			p.curated[node.ID] = append(p.curated[node.ID], handle)
		}
	}
}

// included are the attached products and all they are related to.
func (p *publicationPlan) included() (handles []uint32) {
	included := make([]bool, p.ids.Len())
	var waiting []uint32
	add := func(handle uint32) {
		if !included[handle] {
			included[handle] = true
			waiting = append(waiting, handle)
		}
	}
	for _, a := range p.nodesOf {
		add(a.handle)
	}
	for len(waiting) > 0 {
		handle := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		handles = append(handles, handle)
		if parent := p.parents[handle]; parent >= 0 {
			add(uint32(parent))
		}
		for _, child := range p.children.Of(handle) {
			add(child)
		}
		for _, component := range p.components.Of(handle) {
			add(component)
		}
	}
	return handles
}

// nodes are the nodes of a product, the newest attachment first, and its
// parent's after them.
func (p *publicationPlan) nodes(handle uint32) (nodes []*segment.CatalogNode) {
	for _, of := range []int32{int32(handle), p.parents[handle]} {
		if of < 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(p.nodesOf, uint32(of), func(a attachment, h uint32) int { return cmp.Compare(a.handle, h) })
		for ; at < len(p.nodesOf) && p.nodesOf[at].handle == uint32(of); at++ {
			nodes = append(nodes, p.tree.Nodes[p.nodesOf[at].node])
		}
	}
	return store.Unique(nodes)
}
