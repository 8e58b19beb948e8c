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

// liveProduct is a live product in a plan.
type liveProduct struct {
	id               string
	created, updated int64
	parent           string // live or not; empty for none
	components       string // live or not, separated by spaces
}

const liveColumns = "id, created_at, updated_at, parent_id, component_ids"

func scanLive(rows *sql.Rows) (*liveProduct, error) {
	p := &liveProduct{}
	return p, rows.Scan(&p.id, &p.created, &p.updated, &p.parent, &p.components)
}

// rankStep is the distance between the sort keys of neighbours in a whole release,
// so that deltas can insert products between them.
const rankStep = 1 << 40

// readSources reads the price modifiers by name, of several with one name the first imported; the declarations of
// attributes in the order of their first import; the synonyms and the redirects by id.
func (p *publicationPlan) readSources(ctx context.Context) error {
	type source struct {
		table string
		body  []byte
	}
	sources, err := db.Collect(ctx, p.in, func(rows *sql.Rows) (s source, err error) {
		return s, rows.Scan(&s.table, &s.body)
	}, `
		SELECT source, body FROM (
		    SELECT 'price_modifier' AS source, sequence, id, body FROM price_modifier
		    UNION ALL SELECT 'attribute', sequence, id, body FROM attribute
		    UNION ALL SELECT 'synonym', 0, id, body FROM synonym
		    UNION ALL SELECT 'redirect', 0, id, body FROM redirect) AS sources
		ORDER BY source, sequence, id`)
	p.modifiers = map[string]*catalog.ModifierSource{}
	for _, s := range sources {
		var err error
		switch s.table {
		case "price_modifier":
			m := &catalog.ModifierSource{}
			if err := json.Unmarshal(s.body, m); err == nil && p.modifiers[m.Attributes.Name] == nil {
				p.modifiers[m.Attributes.Name] = m
			}
		case "attribute":
			p.attributes, err = appendSource(p.attributes, s.body)
		case "synonym":
			p.synonyms, err = appendSource(p.synonyms, s.body)
		case "redirect":
			p.redirects, err = appendSource(p.redirects, s.body)
		}
		if err != nil {
			return err
		}
	}
	return err
}

func appendSource[T any, S ~[]*T](list S, body []byte) (S, error) {
	source := new(T)
	return append(list, source), json.Unmarshal(body, source)
}

// missingFile is the index of files that products refer to but that do not exist.
const missingFile = "missing_file"

// publicationPlan is what a release will hold. It refers to products by handles:
// their positions among the live products by id.
type publicationPlan struct {
	in            db.Session
	renew         func(context.Context) error // lets the snapshot behind in follow the database, if nothing authored changed
	source        *catalog.Source
	served        int64            // number of the served release; 0 for none
	shown         segment.Release  // the same with its revision, format and locale alone
	servedRelease *segment.Release // the same, if findParent read it; else nil
	onBase        bool             // a delta is put upon the base, whatever is between
	hold          routing.Hold
	revision      int64                     // of the authored data
	ranked        []catalog.RankedPricebook // the highest priority first
	tree          *segment.Tree

	modifiers  map[string]*catalog.ModifierSource // by name
	attributes segment.Attributes
	synonyms   []*catalog.SynonymSource
	redirects  []*catalog.RedirectSource

	files      index.StringList // ids of all files; empty for a delta
	ids        index.StringList // of the products, by handle
	related    []related
	created    []int64 // by handle
	updated    []int64
	parents    []int32 // handles, or -1
	children   index.AdjacencyList
	components index.AdjacencyList

	attached map[string][]uint32 // handles by node or hierarchy, unsorted; of a hierarchy as often as its nodes have them
	curated  map[string][]uint32 // handles by node, in order
	nodesOf  []attachment        // sorted by handle, then newest first

	collation *index.Collation // of the base language

	delta *delta // nil for a whole release. Handles of a delta are of the products that it read

	first    int      // the first ordinal of the release
	order    []uint32 // handles of the products to write, by ordinal from first
	ordinals []int32  // by handle; -1 if the product is not in the release
	kept     int      // products in the release
}

// attachment is a product in a node.
type attachment struct {
	handle   uint32
	node     int32 // in tree.nodes
	attached int64
}

// readCatalog reads the catalog. NOT_FOUND for an unknown id.
func (p *publicationPlan) readCatalog(ctx context.Context, id string) error {
	source, found, err := db.One(ctx, p.in, func(rows *sql.Rows) (*catalog.Source, error) {
		var body []byte
		var served sql.NullInt64
		p.hold = routing.Hold{CatalogID: id}
		c := &catalog.Source{}
		if err := rows.Scan(&body, &served, &p.hold.Below, &p.hold.RolledBackFrom, &p.revision, &p.shown.Revision, &p.shown.Format, &p.shown.Locale); err != nil {
			return nil, err
		}
		p.served, p.hold.ReleaseID = served.Int64, served.Int64
		return c, json.Unmarshal(body, c)
	}, `
		SELECT catalog.body, catalog.release_id, held_below, rolled_back_from, (SELECT value FROM counter WHERE name = 'revision'),
		       COALESCE(release.revision, 0), COALESCE(release.format, 0), COALESCE(release.locale, '')
		FROM catalog LEFT JOIN release ON release.id = catalog.release_id WHERE catalog.id = $1`, id)
	if err != nil {
		return err
	}
	if !found {
		return store.NotFoundf(nil, "There is no catalog %q.", id)
	}
	p.source, p.ranked = source, source.Ranked()
	return nil
}

// isCurrent reports whether in sees the authored data of the plan.
func (p *publicationPlan) isCurrent(ctx context.Context, in db.Session) (bool, error) {
	revision, _, err := db.One(ctx, in, db.Scalar[int64], `SELECT value FROM counter WHERE name = 'revision'`)
	return revision == p.revision, err
}

// catalog reads the catalog, its modifiers, attributes, synonyms, redirects and nodes.
func (p *publicationPlan) catalog(ctx context.Context, id string) error {
	if err := p.readCatalog(ctx, id); err != nil {
		return err
	}
	if err := p.readSources(ctx); err != nil {
		return err
	}
	nodes, err := p.hierarchies(ctx, store.Unique(p.source.Attributes.Hierarchies))
	if err != nil {
		return err
	}
	segment.SortNodes(nodes)
	p.tree = segment.NewTree(nodes)
	return nil
}

// hierarchies reads hierarchies and their nodes. It leaves out unknown ids.
func (p *publicationPlan) hierarchies(ctx context.Context, ids []string) (nodes []*segment.CatalogNode, err error) {
	return nodes, store.Chunked(ids, 512, func(ids []string) error {
		some, err := p.hierarchiesIn(ctx, ids)
		nodes = append(nodes, some...)
		return err
	})
}

// hierarchiesIn is hierarchies for ids that fit into one statement.
func (p *publicationPlan) hierarchiesIn(ctx context.Context, ids []string) ([]*segment.CatalogNode, error) {
	list, args := db.InList(nil, ids)
	return db.Collect(ctx, p.in, func(rows *sql.Rows) (*segment.CatalogNode, error) {
		var id string
		var body []byte
		var created, updated int64
		var source catalog.NodeSource
		if err := rows.Scan(&id, &body, &created, &updated); err != nil {
			return nil, err
		}
		if err := store.Decode(body, &source); err != nil {
			return nil, err
		}
		node := &segment.CatalogNode{ID: source.ID, Kind: segment.NodeKind(source.Type), Slug: source.Attributes.Slug,
			NodeText: source.Attributes.Text(), Texts: source.Attributes.Texts(),
			HierarchyID: id, CreatedAt: store.FromMicros(created), UpdatedAt: store.FromMicros(updated), Position: source.Attributes.Position, MainImageID: source.Relationships.MainImage.ID(), Curated: source.Attributes.CuratedProducts}
		node.Attributes = string(p.declaredValues(source.OwnAttributes(), func(*catalog.AttributeSource, catalog.AttributeValue) {}))
		if node.Kind == segment.KindNode {
			node.ParentID = cmp.Or(source.Relationships.Parent.ID(), id)
		}
		return node, nil
	}, `
		SELECT id, body, created_at, updated_at FROM hierarchy WHERE id IN (`+list+`)
		UNION ALL
		SELECT hierarchy_id, body, created_at, updated_at FROM node WHERE hierarchy_id IN (`+list+`)`, args...)
}

// sortByUpdate sorts handles in the default order of lists: by last update, the newest first, then by id.
func (p *publicationPlan) sortByUpdate(handles []uint32) {
	slices.SortFunc(handles, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(p.updated[b], p.updated[a]), cmp.Compare(a, b))
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

// own returns the handle of a product that the release holds itself.
func (p *publicationPlan) own(id string) (handle uint32, own bool) {
	handle, live := p.ids.Find(id)
	return handle, live && int(p.ordinals[handle]) >= p.first
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

// attach adds an attachment to the lists of its node and hierarchy. sortAttachments must follow the last one.
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

// curate adds the curated products of a node that are attached to it, in the merchant's order.
func (p *publicationPlan) curate(node *segment.CatalogNode, attached []uint32) {
	for _, id := range store.Unique(node.Curated) {
		if handle, live := p.ids.Find(id); live && slices.Contains(attached, handle) {
			p.curated[node.ID] = append(p.curated[node.ID], handle)
		}
	}
}

// nodes returns the nodes of a product, the newest attachment first, and then
// those of its parent.
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
